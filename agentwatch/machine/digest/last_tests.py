"""The newest verdict of tests in the lines that a digest is made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.events import Event, Outcome, ToolEnded, ToolKind
from agentwatch.machine.digest.bounds import MOST_LINE, MOST_PATH
from agentwatch.machine.digest.parts import LastTests
from agentwatch.wire import Decoder

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict
    from agentwatch.machine.digest.digest import Digest

_MOST_COMMANDS = 6
"""The newest commands of one reading whose output may be read: 0.1 ms each. The older ones are left out."""
_MOST_BYTES = 1 << 20
"""Longer lines are not read: that takes 4 ms per MiB."""
_CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_DONE = (Outcome.SUCCEEDED, Outcome.RETURNED)


class _Command(NamedTuple):
    """A command that has ended."""

    line: bytes
    event: ToolEnded
    words: str
    at: int
    """The number of changes of files before its end."""


class LastTestsReader:
    """Collects the commands of one reading; the newest that ran tests decides what the digest shows."""

    def __init__(self, digest: Digest, decoder: Decoder) -> None:
        """Create a reader without commands.

        Args:
            digest: The digest that the lines are applied to.
            decoder: The decoder of the lines.
        """
        self._digest = digest
        self._decoder = decoder
        self._commands: deque[_Command] = deque(maxlen=_MOST_COMMANDS)
        self._changes = 0

    def collect(self, line: bytes, events: Sequence[Event]) -> None:
        """Note the commands and the changes of files that end in a line; call it before they are applied."""
        for event in events:
            if type(event) is not ToolEnded:
                continue
            known = self._digest.open_calls.get(event.call_id[:MOST_LINE])
            kind = known.kind if known is not None and event.kind is ToolKind.OTHER else event.kind
            if kind is ToolKind.EXECUTE and event.outcome is not Outcome.REJECTED:
                words = event.target or (known.target if known is not None else "")
                if len(line) <= _MOST_BYTES and words and not _only_reads(words[:MOST_PATH]):
                    self._commands.append(_Command(line, event, words[:MOST_PATH], self._changes))
            elif kind in _CHANGES and event.outcome in _DONE:
                self._changes += 1

    def finish(self) -> None:
        """Read the newest commands until one of them ran tests, and update the digest."""
        digest = self._digest
        if not self._commands:
            if self._changes and digest.tests is not None:
                digest.tests = digest.tests._replace(is_stale=True)
            return
        from agentwatch.analysis.verdict_history import command_key

        silent: set[int] = set()
        for command in reversed(self._commands):
            found = self._verdict(command)
            key = hash(command_key(command.words, digest.cwd or None))
            if found is None:
                silent.add(key)
            elif found.is_of_tests:
                digest.course.tests_key = key
                is_known = key not in silent and (found.is_red or found.is_green)
                digest.tests = _shown(found, self._changes > command.at) if is_known else None
                return
        if digest.course.tests_key in silent:
            digest.tests = None
        elif self._changes and digest.tests is not None:
            digest.tests = digest.tests._replace(is_stale=True)

    def _verdict(self, command: _Command) -> Verdict | None:
        from agentwatch.analysis.verdicts import verdict
        from agentwatch.blocks import ContentBlock, OutputBlock

        event = command.event
        blocks = self._decoder.blocks(command.line.rstrip(b"\r\n"), event.call_id)
        printed = [block.text for block in blocks if isinstance(block, OutputBlock | ContentBlock)]
        found = verdict(command.words, printed, event.exit_code)
        has_result = event.outcome in _DONE
        return found if found is not None and (has_result or found.is_red) else None


def _only_reads(words: str) -> bool:
    from agentwatch.analysis.verdicts.programs import only_reads, parts_of

    return only_reads(parts_of(words))


def _shown(found: Verdict, is_stale: bool) -> LastTests:
    counts = found.counts
    return LastTests(found.is_red, counts.passed, counts.failed + counts.errors, is_stale)
