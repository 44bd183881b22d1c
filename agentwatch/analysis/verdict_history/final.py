"""The state of the tests, linters and builds of a session: the last verdict of each command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from agentwatch.analysis.verdict_history.calls import call_verdict
from agentwatch.analysis.verdict_history.changes import may_have_changed
from agentwatch.analysis.verdict_history.commands import command_key
from agentwatch.analysis.verdicts import Verdict
from agentwatch.analysis.verdicts.programs import only_reads, parts_of
from agentwatch.events import Outcome, ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call, Session

MOST_READ = 300
"""The newest calls whose output is read: 0.1 ms each, 4 ms for a line of 1 MiB."""
_MOST_EARLIER = 2
"""The earlier calls of a command that are read if the last one has no verdict."""
_MOST_KEYS = 512
"""Commands whose keys are cached. Making a key takes 20 µs, and agents repeat their commands."""
_MOST_KEYED = 5_000
"""The newest commands whose keys are made: 20 µs each, 3 ms for a hostile one of 2,000 characters."""
_CALLS_AT_ONCE = 500


class State(StrEnum):
    """The state of the tests, linters and builds of a session."""

    GREEN = "green"
    """The last verdict of each command is green, and no file changed after it."""
    RED = "red"
    """The last verdict of a command is red."""
    CHANGED = "changed since"
    """All are green, but a file changed after one of them."""
    UNKNOWN = "unknown"
    """No command has a verdict, or the last call of a command has no verdict or ran nothing."""


class CommandVerdict(NamedTuple):
    """The last call of a command that runs tests, a linter or a build."""

    command: str
    """The key of the command, by `command_key`; at most 4,000 characters of foreign text."""
    call: Call
    verdict: Verdict | None
    """None if the last call has no verdict: it is open, was killed, or printed no closing line."""
    tool: str
    """The tool of this verdict, or of the verdict on an earlier call."""
    is_of_tests: bool
    """Whether the tool runs tests; the others are linters, compilers and make."""
    changed_by: int | None
    """The number of the first call that changed a file after this call; None without one."""

    @property
    def colour(self) -> str:
        """The verdict in one word: `red`, `green`, or `none` without a verdict or if nothing ran."""
        return "none" if self.verdict is None else self.verdict.colour

    @property
    def state(self) -> State:
        """The state of this command alone."""
        if self.colour == "green":
            return State.GREEN if self.changed_by is None else State.CHANGED
        return State.RED if self.colour == "red" else State.UNKNOWN


class FinalVerdicts(NamedTuple):
    """The last verdict of each command of a session."""

    commands: list[CommandVerdict]
    """The command that ran last is first."""
    is_complete: bool
    """Whether all commands were read. If not, these are the newest."""

    @property
    def state(self) -> State:
        """The state of all commands: red before unknown, and unknown before changed."""
        states = {command.state for command in self.commands}
        for state in (State.RED, State.UNKNOWN, State.CHANGED, State.GREEN):
            if state in states:
                return state
        return State.UNKNOWN


class _Sought(NamedTuple):
    """A command whose last call has no verdict. Earlier calls may have one."""

    call: Call
    changed_by: int | None
    place: int
    """The place among the commands; the command that ran last is first."""
    left: int
    """The number of calls that may be read, including this one."""


def final_verdicts(feed: Feed, verdict_of: Callable[[Call], Verdict | None] | None = None) -> FinalVerdicts:
    """Return the last verdict of each command at the moment of a feed.

    A file counts as changed if a call edited, created, deleted or moved it, wherever the file is. What a
    shell command does to files is unknown. The order is that in which calls ended. A call that was rejected
    did not run, so the call of that command before it counts.

    If the last call of a command has no verdict, the two calls before it are read: if one of them has a
    verdict, the command runs tests whose last result is unknown.

    Args:
        feed: The feed.
        verdict_of: Returns the verdict on a call, if it was read before; None to read it.
    """
    key_of = lru_cache(_MOST_KEYS)(_key)
    found: dict[int, CommandVerdict] = {}
    commands: dict[str, _Sought | None] = {}
    changed_by: int | None = None
    reads = 0
    for call in _newest_first(feed.session):
        if may_have_changed(call):
            changed_by = call.number
        if call.kind is not ToolKind.EXECUTE or call.outcome is Outcome.REJECTED:
            continue
        key = key_of(call.target or "", feed.session.runs[call.run - 1].cwd)
        sought = commands.get(key)
        if not key or (key in commands and sought is None):
            continue
        if reads >= MOST_READ or key_of.cache_info().misses > _MOST_KEYED:
            return FinalVerdicts(_in_order(found), is_complete=False)
        reads += 1
        verdict = call_verdict(feed, call) if verdict_of is None else verdict_of(call)
        last = sought or _Sought(call, changed_by, len(commands), _MOST_EARLIER + 1)
        if verdict is None and last.left > 1:
            commands[key] = last._replace(left=last.left - 1)
            continue
        commands[key] = None
        if verdict is not None:
            own = verdict if sought is None else None
            found[last.place] = CommandVerdict(
                key, last.call, own, verdict.tool, verdict.is_of_tests, last.changed_by
            )
    return FinalVerdicts(_in_order(found), is_complete=True)


def _key(command: str, cwd: str | None) -> str:
    """Return the key of a command; empty for a command that only prints existing text."""
    return "" if only_reads(parts_of(command)) else command_key(command, cwd)


def _in_order(found: dict[int, CommandVerdict]) -> list[CommandVerdict]:
    return [found[place] for place in sorted(found)]


def _newest_first(session: Session) -> Iterator[Call]:
    """Yield the calls, those that have not ended first."""
    yield from reversed(session.open_calls.values())
    ended = session.ended_calls
    for end in range(len(ended), 0, -_CALLS_AT_ONCE):
        yield from reversed(ended[max(end - _CALLS_AT_ONCE, 0) : end])
