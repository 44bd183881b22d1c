"""Finds the calls that touched a file, in the index of all sessions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.analysis.files import named
from agentwatch.catalog.contents import (
    NOTHING_FOUND,
    Found,
    Hit,
    Searched,
    find,
    searched_entry,
    text_around,
    with_addresses,
)
from agentwatch.catalog.index_rows import path_of, value_of
from agentwatch.rules.language.matchers import path_matcher
from agentwatch.text.paths import last_name

_TOUCHED = """
SELECT stored_path.path, stored_session.path, agent, session_id, cwd, repository, coalesce(title, prompt),
    changed_ns, number, tool, kind, stored_call.outcome, target, coalesce(started_ms, ended_ms), EXISTS (
        SELECT 1 FROM stored_session AS child
        WHERE child.agent = stored_session.agent AND child.parent = stored_session.session_id
    )
FROM stored_path JOIN stored_session ON stored_session.id = stored_path.session
JOIN stored_call USING (session, number)
WHERE NOT is_duplicate AND NOT is_copy
"""


def glob_of(file: str) -> str:
    """The glob of a file as it is typed, in which only `*` stands for other characters. Without a folder it
    is the name of a file anywhere; `./` and `../` begin at the current folder."""
    path = os.path.abspath(file) if file.startswith(("./", "../")) else file
    return path.replace("[", "[[]").replace("?", "[?]")


def touched(
    connection: sqlite3.Connection,
    file: str,
    words: str,
    entries: Iterable[SessionEntry],
    most: int = 100,
    skip: int = 0,
) -> Found:
    """Return the calls that touched a file, from an index that is up to date, as `find` returns them. A
    session is read only for `words`, and if it has subagents, whose calls it counts too."""
    glob, name = glob_of(file), last_name(file).lower()
    matches, values, query = path_matcher(glob), list[str](), _TOUCHED
    if "*" not in name:
        query, values = f"{_TOUCHED} AND name = ?", [value_of(name)]
    by_path = {path_of(each): searched_entry(each) for each in entries}
    hits: dict[tuple[str, int], Hit] = {}
    to_read: dict[str, Searched] = {}
    for row in connection.execute(query, values):
        file, path, agent, session_id, cwd, repo, title, changed_ns, number, *of_call = row
        tool, kind, outcome, target, at_ms, has_subagents = of_call
        one = by_path.get(path)
        if one is None or not any(map(matches, named(file, cwd)[:2])):
            continue
        if has_subagents or words.strip():
            to_read[path] = one
            continue
        text = text_around(target or file, 0)
        about = (title or "", repo or "", one.path, changed_ns // 10**6)
        hits[path, number] = Hit(
            *(one.key, one.key[1], session_id, agent, kind, text, at_ms, number, tool, outcome, *about)
        )
    more = find(words, list(to_read.values()), skip + most, path=glob) if to_read else NOTHING_FOUND
    found = sorted((*hits.values(), *more.hits), key=lambda hit: -hit.shown_ms)
    is_more = more.is_more or len(found) > skip + most
    return Found(
        with_addresses(found[skip : skip + most], list(by_path.values())), more.not_searched, is_more
    )
