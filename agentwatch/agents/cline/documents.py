"""Reads a session of Cline: its document, and those of its subagents beside it, as lines."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import orjson

from agentwatch.agents.cline.program import MESSAGES
from agentwatch.agents.fields import SUBAGENT, mapping, number
from agentwatch.agents.gemini.json_chat import GeminiJson
from agentwatch.agents.subagents import MOST_SUBAGENTS
from agentwatch.sources.stores.lines import parsed

_SILENT = ("updated_at", "system_prompt", "version")
_EMPTY = b"{}\n"


class Documents:
    """The documents of a session. The lines of a subagent get the member `SUBAGENT`."""

    def __init__(self, path: Path) -> None:
        self._main = GeminiJson(path, _SILENT)
        self._folder = path.absolute().parent
        self._has_subagents = path.name == self._folder.name + MESSAGES
        self._below: dict[str, GeminiJson] = {}

    def leave_out_subagents(self) -> None:
        self._has_subagents = False

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, in the order of their times. Raise `OSError` if
        the document of the session cannot be read."""
        lines = self._main.new_lines()
        if not self._has_subagents:
            return lines
        for path in sorted(self._folder.glob(f"agent_*{MESSAGES}"))[:MOST_SUBAGENTS]:
            name = path.name.removesuffix(MESSAGES)
            store = self._below.setdefault(name, GeminiJson(path, _SILENT, is_named=False))
            begin = orjson.dumps({SUBAGENT: name})[:-1] + b","
            with suppress(OSError):
                lines += [begin + line[1:] for line in store.new_lines() if len(line) > len(_EMPTY)]
        return sorted(lines, key=_time)

    def close(self) -> None:
        """Do nothing: no file is kept open."""


def _time(line: bytes) -> int:
    """Return the time of a message; 0 for the facts of the session, which come first."""
    return number(mapping(parsed(line)), "ts") or 0
