"""The calls of a rollout: their starts, their outputs, and the processes that outlive an output."""

from __future__ import annotations

from typing import TypeVar

from agentwatch.events import Event, Outcome, ToolKind, ToolProgress
from agentwatch.wire.codex.calls import End, Use, ended, started
from agentwatch.wire.codex_rollout.outputs import end_of, read_output
from agentwatch.wire.codex_rollout.tools import asked_process
from agentwatch.wire.fields import Fields
from agentwatch.wire.tool import Phrase

_Value = TypeVar("_Value")

_MOST_OPEN = 4096
_MOST_PROCESSES = 256
_MOST_PROGRESS = 4096
_UNKNOWN = Use("unknown", ToolKind.OTHER, Phrase.USED)
"""The use of a tool whose call is not in the recording."""
_IN_BACKGROUND = "in the background"


class Calls:
    """The calls that have no output yet.

    A call ends with the first line that says how: an item such as `CommandExecution`, or its output. A
    command or script whose output says that it is still running ends with its process, which a later item or
    the output of `write_stdin` or `wait` reports.
    """

    def __init__(self) -> None:
        self.cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self._open: dict[str, Use] = {}
        self._ended: dict[str, None] = {}
        """The calls that an item has ended, before their output came."""
        self._cut: dict[str, int | None] = {}
        """The open calls of a turn that the user interrupted, and the time of that."""
        self._processes: dict[str, tuple[str, Use]] = {}
        """By the id of a running process: the call that started it."""
        self._inputs: dict[str, str] = {}
        """The open calls of `write_stdin` and `wait`, and the process of each."""

    def start(self, call_id: str, use: Use, arguments: Fields, at_ms: int | None) -> list[Event]:
        """Return the events of a call that starts."""
        _keep(self._open, call_id, use, _MOST_OPEN)
        process = asked_process(use.tool, arguments)
        if process is not None:
            _keep(self._inputs, call_id, process, _MOST_PROCESSES)
        return [started(call_id, use, self.cwd, at_ms)]

    def output(self, call_id: str, value: object, at_ms: int | None) -> list[Event]:
        """Return the events of a call's output."""
        if call_id in self._ended:
            del self._ended[call_id]
            return []
        use = self._open.pop(call_id, _UNKNOWN)
        output = read_output(value)
        asked = self._inputs.pop(call_id, None)
        if output.process is not None and asked is None:
            _keep(self._processes, output.process, (call_id, use), _MOST_PROCESSES)
            return [ToolProgress(call_id, None, output.text[-_MOST_PROGRESS:])]
        end = end_of(use, output)._replace(at_ms=at_ms)
        events: list[Event] = [ended(call_id, use, end, self.cwd)]
        is_over = output.exit_code is not None or output.ends_script
        if asked is None or not is_over or asked not in self._processes:
            return events
        of_process = self._processes.pop(asked)
        return [ended(*of_process, end._replace(duration_ms=None), self.cwd), *events]

    def finish(self, call_id: str, use: Use, end: End | None) -> list[Event]:
        """Return the events of an item or an event that reports a call, and its end if it has one.

        Args:
            call_id: The id of the call.
            use: What the item reports about the call. Only used if no earlier line started it.
            end: How it ended; None if it is still running.
        """
        known = self._open.get(call_id)
        self._forget_process_of(call_id)
        if end is None:
            return [] if known else [started(call_id, use, self.cwd)]
        if known is not None:
            _keep(self._ended, call_id, None, _MOST_OPEN)
            del self._open[call_id]
            # An item gives a process that ended at once the same start and end; the call began before it.
            return [ended(call_id, known, end._replace(started_ms=None), self.cwd)]
        return [
            started(call_id, use, self.cwd, end.started_ms),
            ended(call_id, use, end, self.cwd),
        ]

    def abort(self, at_ms: int | None) -> None:
        """Note that the user interrupted the turn: calls whose output does not follow were cancelled."""
        self._cut.update(dict.fromkeys(self._open, at_ms))

    def begin_turn(self) -> list[Event]:
        """Return the ends of the calls that the user interrupted in the turn before."""
        cut, self._cut = self._cut, {}
        uses = [(call_id, self._open.pop(call_id, None), at_ms) for call_id, at_ms in cut.items()]
        return [
            ended(call_id, use, End(Outcome.CANCELLED, at_ms=at_ms), self.cwd)
            for call_id, use, at_ms in uses
            if use is not None
        ]

    def end(self) -> list[Event]:
        """Return the ends of the calls that were interrupted, or whose processes were still running."""
        end = End(Outcome.RETURNED, note=_IN_BACKGROUND)
        running, self._processes = list(self._processes.values()), {}
        return [*self.begin_turn(), *(ended(call_id, use, end, self.cwd) for call_id, use in running)]

    def _forget_process_of(self, call_id: str) -> None:
        if self._processes:
            self._processes = {key: each for key, each in self._processes.items() if each[0] != call_id}


def _keep(kept: dict[str, _Value], key: str, value: _Value, most: int) -> None:
    """Keep a value, and drop the oldest if there are too many."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
