"""What is found in sessions, and the calls that touched a file, from the index, without reading a session."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.session_entry import LEAST_CHARACTERS, OWN, Key, Reach, SessionEntry
from agentwatch.catalog.index_schema import real_path, value_of
from agentwatch.rules.language.matchers import path_matcher
from agentwatch.text.paths import last_name, named

if TYPE_CHECKING:
    import sqlite3

    from agentwatch.catalog.row import Row

_SNIPPET = 240
_BEFORE = 40
"""The longest part of a snippet before the words."""
_BLANKS = 500
"""The length of the text on each side from which a snippet is made: a run of blanks becomes one blank."""


def text_around(text: str, at: int) -> str:
    """Return the text around a place in one line. `…` marks an end that is cut."""
    before, after = text[max(at - _BLANKS, 0) : at], " ".join(text[at : at + _BLANKS].split())
    blank = " " if before[-1:].isspace() else ""
    head = " ".join(before.split())
    if len(head) > _BEFORE or (at > _BLANKS and head):
        head = f"…{head[-_BEFORE:]}"
    shown = f"{head}{blank if head else ''}{after}"
    is_cut = len(shown) > _SNIPPET or text[at + _BLANKS :].strip()
    return f"{shown[: _SNIPPET - 1]}…" if is_cut else shown


class Hit(NamedTuple):
    """A call or a text that was found. Its texts are foreign: they are made safe where they are shown."""

    key: Key
    id: str
    """The id by which `show` opens the session."""
    session_id: str
    """The agent's own id of the session."""
    agent: str
    kind: str
    """`prompt`, `answer`, `reasoning` or `result` for a text; for a call the kind of its tool."""
    text: str
    """At most 240 characters around the words, without line ends, with `…` where it is cut."""
    at_ms: int | None
    """By the agent's clock, or else when its line arrived."""
    call: int | None = None
    tool: str = ""
    outcome: str = ""
    title: str = ""
    repo: str = ""
    path: Path = Path()
    changed_ms: int = 0
    into_ms: int | None = None
    """The time of a text since the beginning of the session."""
    entry: int | None = None
    """The number of the entry of the transcript, if it was read."""

    @property
    def shown_ms(self) -> int:
        """When it was, or else when its session changed last."""
        return self.changed_ms if self.at_ms is None else self.at_ms

    @property
    def address(self) -> str:
        """`ID#12` for a call, `ID@+95000ms` for a text."""
        if self.call is not None:
            return f"{self.id}#{self.call}"
        return self.id if self.into_ms is None else f"{self.id}@+{self.into_ms}ms"


class Searched(NamedTuple):
    key: Key
    path: Path
    changed_ms: int
    title: str = ""
    reason: str = ""
    """Why it cannot be searched; empty if it can."""
    session_id: str = ""


ELSEWHERE = "on another machine"
_ONLY_LISTED = "with metadata only"


def searched_row(row: Row) -> Searched:
    reason = ELSEWHERE if row.address else "" if row.can_open else _ONLY_LISTED
    return Searched(row.key, row.path, row.last_ms, row.title, reason, row.id)


def searched_entry(found: SessionEntry) -> Searched:
    changed_ms = max(found.changed_ns // 10**6, found.metadata.changed_ms or 0)
    reason = _ONLY_LISTED if found.reach is Reach.LISTED else ""
    return Searched(found.key, found.path, changed_ms, found.metadata.title, reason, found.id)


class Found(NamedTuple):
    hits: list[Hit]
    """The newest first."""
    not_searched: Mapping[str, int]
    """The number of sessions by the reason."""
    is_more: bool
    """Whether there may be older hits."""
    ids: Sequence[str]
    """The ids of all sessions."""


def not_searched_words(not_searched: Mapping[str, int]) -> str:
    """`3 not searched: 2 deleted, 1 no permission`."""
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in not_searched.items())
    return f"{sum(not_searched.values()):,} not searched: {reasons}"


def with_addresses(hits: list[Hit], every: Sequence[str], own: Iterable[Path]) -> list[Hit]:
    """Name the file of a session whose id alone does not open it: a short one, one that sessions of several
    agents have, or that of a session of which we have a recording too. `every` has the ids of all sessions,
    `own` the paths of our recordings."""
    ids = Counter(every)
    if own and any(hit.key[0] != OWN for hit in hits):
        from agentwatch.catalog.session_ids import id_in

        ids.update(map(id_in, own))
    return [
        hit
        if ids[hit.id] == 1 and len(hit.id) >= LEAST_CHARACTERS and os.sep not in hit.id
        else hit._replace(id=os.fspath(hit.path))
        for hit in hits
    ]


_TOUCHED = """
SELECT stored_path.path, stored_session.path, is_recording, agent, session_id, cwd, repository,
    coalesce(title, prompt, ''), max(changed_ns / 1000000, seen_ms),
    number, tool, kind, stored_call.outcome, target, coalesce(started_ms, ended_ms), EXISTS (
        SELECT 1 FROM stored_session AS child
        WHERE child.agent = stored_session.agent AND child.parent = stored_session.session_id
    )
FROM stored_path JOIN stored_session ON stored_session.id = stored_path.session
JOIN stored_call USING (session, number)
WHERE NOT is_duplicate AND NOT is_copy
"""


def touched(connection: sqlite3.Connection, file: str, words: str, most: int, skip: int) -> Found:
    """Return the calls that touched a file, from an index that is up to date, as `find` does. Only `*`
    in `file` is a wildcard; without a folder it is a file of this name anywhere. A session is read only for
    `words`, and if it has subagents, whose calls it counts too."""
    name = last_name(file).lower()
    whole = os.path.abspath(file) if file.startswith(("./", "../")) else file
    glob = whole.replace("[", "[[]").replace("?", "[?]")
    matches, values, query = path_matcher(glob), list[str](), _TOUCHED
    if "*" not in name:
        query, values = f"{_TOUCHED} AND name = ?", [value_of(name)]
    hits: dict[tuple[str, int], Hit] = {}
    to_read: dict[str, Searched] = {}
    for row in connection.execute(query, values):
        file, stored, is_recording, agent, session_id, cwd, repo, title, changed_ms, number, *of_call = row
        tool, kind, outcome, target, at_ms, has_subagents = of_call
        if not any(map(matches, named(file, cwd)[:2])):
            continue
        path = real_path(stored)
        key = (OWN, path.stem) if is_recording else (agent, session_id)
        if has_subagents or words.strip():
            to_read[stored] = Searched(key, path, changed_ms, title, session_id=session_id)
            continue
        about = (title, repo or "", path, changed_ms)
        text = text_around(target or file, 0)
        hits[stored, number] = Hit(
            *(key, key[1], session_id, agent, kind, text, at_ms, number, tool, outcome, *about)
        )
    more = Found([], {}, False, ())
    if to_read or words.strip():
        from agentwatch.catalog.contents import find  # imports all that decodes: 30 ms

        more = find(words, list(to_read.values()), skip + most, path=glob)
    found = sorted((*hits.values(), *more.hits), key=lambda hit: -hit.shown_ms)
    every = connection.execute("SELECT session_id, is_recording, path FROM stored_session").fetchall()
    own = [real_path(stored) for _, is_recording, stored in every if is_recording]
    ids = [*(each.stem for each in own), *(name for name, is_recording, _ in every if not is_recording)]
    is_more = more.is_more or len(found) > skip + most
    return Found(with_addresses(found[skip : skip + most], ids, own), more.not_searched, is_more, ids)
