"""Keeps the terminals that an agent asks its client for: their commands and exit codes."""

from __future__ import annotations

from itertools import islice

from agentwatch.wire.acp.requests import short
from agentwatch.wire.fields import Fields, items, mapping, number, text

_MOST_TERMINALS = 256
_MOST_WORDS = 100
_MOST_CHARACTERS = 4096


class Terminals:
    """The last 256 terminals, by their ids."""

    def __init__(self) -> None:
        self._commands: dict[str, str] = {}
        self._exit_codes: dict[str, int] = {}

    def created(self, terminal: str | None, command: str | None) -> None:
        """Keep the command of a new terminal."""
        if short(terminal) and terminal is not None and command is not None:
            self._commands[terminal] = command
            _bound(self._commands)

    def exited(self, terminal: str | None, status: Fields) -> None:
        """Keep the exit code of a terminal, if the status contains one."""
        code = number(status, "exitCode")
        if short(terminal) and terminal is not None and code is not None:
            self._exit_codes[terminal] = code
            _bound(self._exit_codes)

    def command(self, terminals: tuple[str, ...]) -> str | None:
        """Return the command of the first of these terminals that is known."""
        return next((self._commands[each] for each in terminals if each in self._commands), None)

    def exit_code(self, terminals: tuple[str, ...]) -> int | None:
        """Return the exit code of the last of these terminals that has ended."""
        codes = [self._exit_codes[each] for each in terminals if each in self._exit_codes]
        return codes[-1] if codes else None

    def update(self, update: Fields) -> None:
        """Read a `terminal_update` of version 2 of the protocol."""
        terminal = text(update, "terminalId")
        self.created(terminal, command_line(update))
        self.exited(terminal, mapping(update.get("exitStatus")))


def command_line(params: Fields) -> str | None:
    """Return the command of a new terminal with its arguments."""
    command = text(params, "command")
    if command is None:
        return None
    words = (word for word in islice(items(params.get("args")), _MOST_WORDS) if isinstance(word, str))
    return " ".join((command, *words))[:_MOST_CHARACTERS]


def _bound(found: dict[str, str] | dict[str, int]) -> None:
    if len(found) > _MOST_TERMINALS:
        del found[next(iter(found))]
