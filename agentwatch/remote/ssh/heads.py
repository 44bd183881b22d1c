"""The beginnings of files on a host without agentwatch: the first prompt, the folder, the model.

The host is asked for each of them once, and again when the list shows another size of a short one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agentwatch.engine.engine import EngineError
from agentwatch.machine.digest.decoding import apply_lines, decoder_for, digest_of, format_of
from agentwatch.machine.row import Row
from agentwatch.recording.lines import split_lines
from agentwatch.remote.ssh.lines import ChannelLines
from agentwatch.remote.ssh.row_json import TEXTS
from agentwatch.remote.ssh.script import HEAD_BYTES
from agentwatch.wire.found import OWN, Found, Key

_AT_ONCE = 20
"""How many are asked for after a list: a host looks for a file in 10 to 20 ms."""
_MOST_KEPT = 1000
_ANSWER_SECONDS = 10.0
_ANSWER = re.compile(rb"head ([0-9]{1,6})")


class Head(NamedTuple):
    """What the first lines of a session show."""

    size: int
    """The size of the file in the list for which it was read: of a file that was removed nothing arrives."""
    title: str = ""
    cwd: str = ""
    model: str = ""
    branch: str = ""
    began_ms: int | None = None


class Heads:
    """The beginnings that were read, of the files of one host."""

    def __init__(self) -> None:
        self._known: dict[Key, Head] = {}

    def filled(self, rows: Iterable[Row]) -> dict[Key, Row]:
        """Return rows with what is known of their beginnings."""
        return {row.key: self._filled(row) for row in rows}

    def read(self, lines: ChannelLines, rows: Iterable[Row]) -> bool:
        """Ask for some beginnings that are not known yet, and return whether one was read.

        Args:
            lines: The output of the script, which waits for a word.
            rows: The rows of the host, newest first.

        Raises:
            EngineError: The host does not answer as it should.
        """
        wanted = [row for row in rows if self._is_wanted(row)][:_AT_ONCE]
        for row in wanted:
            agent = OWN if row.is_own else row.agent
            lines.channel.write(f"head {agent} {row.id}\n".encode())
            data = _answer(lines)
            if len(self._known) >= _MOST_KEPT:
                del self._known[next(iter(self._known))]
            self._known[row.key] = _head_of(agent, row, data)
        return bool(wanted)

    def _is_wanted(self, row: Row) -> bool:
        known = self._known.get(row.key)
        return known is None or (known.size < HEAD_BYTES and not known.title and known.size != row.size)

    def _filled(self, row: Row) -> Row:
        head = self._known.get(row.key)
        if head is None:
            return row
        return replace(
            row,
            title=head.title or row.title,
            prompts=head.title,
            cwd=head.cwd,
            repo=head.cwd.rstrip("/").rpartition("/")[2][: TEXTS["repo"]],
            model=head.model,
            branch=head.branch,
            began_ms=head.began_ms,
        )


def _answer(lines: ChannelLines) -> bytes:
    """Return the bytes with which the host answers."""
    until = time.monotonic() + _ANSWER_SECONDS
    while (line := lines.next(max(0.0, until - time.monotonic()))) is None:
        if time.monotonic() >= until:
            raise EngineError("the host does not answer")
    match = _ANSWER.fullmatch(line)
    if match is None or int(match[1]) > HEAD_BYTES:
        raise EngineError("the host sends what is no beginning of a file")
    return lines.take(int(match[1]), _ANSWER_SECONDS)


def _head_of(agent: str, row: Row, data: bytes) -> Head:
    found = Found(agent, row.id, Path(), len(data), 0)
    digest = digest_of(found, format_of(found))
    apply_lines(digest, decoder_for(digest), split_lines(data)[0] if data else [])
    title = digest.title or digest.first_prompt
    return Head(
        row.size,
        title[: TEXTS["title"]],
        digest.cwd[: TEXTS["cwd"]],
        digest.model[: TEXTS["model"]],
        digest.branch[: TEXTS["branch"]],
        digest.began_ms,
    )
