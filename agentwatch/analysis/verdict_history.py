"""The verdicts of a session: of one call, the last of each command, and the ribbon of all test runs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from time import perf_counter
from typing import NamedTuple

from agentwatch.analysis.files import CHANGES, FileAction, TouchedFile, file_action_of
from agentwatch.analysis.shell import MOST_READ_CHARACTERS, READERS, only_reads, parts_of, segments_of
from agentwatch.analysis.verdicts import Verdict, verdict
from agentwatch.feed.feed import Feed, output_tail
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.paths import named
from agentwatch.text.safe import SafeText, columns


class CallVerdict(NamedTuple):
    """The verdict on a test run, which is red or green, and the call that ran it."""

    moment: int
    """The moment at which the call had ended: a number of bytes of the recording."""
    number: int
    ended_index: int
    """The index of the call among those that have ended."""
    verdict: Verdict
    is_stale: bool = False
    """Whether it is the newest of the session, green, and a file changed after it."""

    @property
    def is_red(self) -> bool:
        return self.verdict.is_red

    @property
    def failed(self) -> int:
        """The number of tests that failed; 0 if the tool does not say."""
        return self.verdict.counts.failed + self.verdict.counts.errors


def call_verdict(feed: Feed, call: Call) -> Verdict | None:
    """Return the verdict on a call. Its output is read in 0.1 ms, a line of 1 MiB in 4 ms. A call that failed
    for another reason than its exit code can only have a red verdict."""
    if call.kind is not ToolKind.EXECUTE or call.ended is None or only_reads(parts_of(call.target or "")):
        return None
    found = verdict(call.target or "", output_tail(feed, call.ended, call.call_id), call.exit_code)
    is_hidden = call.outcome not in (Outcome.SUCCEEDED, Outcome.RETURNED) and not (found and found.is_red)
    return None if is_hidden else found


# The files that changed between two test runs.

_MOST_CALLS = 5000
"""Calls that are read, from the newest: 25 ms."""
_DONE = (Outcome.SUCCEEDED, Outcome.RETURNED, Outcome.UNFINISHED)
"""The outcomes of calls that changed nothing more; a call that never completed may have changed the file."""


class ChangedFiles(NamedTuple):
    """The files that changed in a part of a session."""

    files: list[TouchedFile]
    is_complete: bool
    """Whether all calls of the part were read."""


def changed_files(session: Session, start: int, end: int) -> ChangedFiles:
    """Return the files that ended calls from `start` up to `end` changed, without those of shell commands."""
    first = max(start, end - _MOST_CALLS)
    files: dict[str, TouchedFile] = {}
    for index in range(first, end):
        call = session.ended_calls[index]
        if call.kind not in CHANGES or file_action_of(call) is FileAction.TRIED:
            continue
        for path in dict.fromkeys((call.path, *call.more_paths)):
            if path:
                key, shown, is_outside = named(path, session.runs[call.run - 1].cwd)
                file = files.pop(key, None) or TouchedFile(shown, is_outside)
                file.add(call)
                files[key] = file
    return ChangedFiles([*reversed(files.values())], first == start)


def _may_have_changed(call: Call) -> bool:
    """Return whether an ended call has changed a file, or may have; what shell commands change is unknown."""
    return call.kind in CHANGES and call.outcome in _DONE


# Makes equal keys for calls that run the same command in different words.

_LIMIT = re.compile(r"^(?:timeout (?:-[ks] \S{1,20} |-\S{1,20} ){0,4}[0-9.]{1,9}[smhd]?|time|nice) ")
"""Words before a command that only limit or measure its time."""
_NO_OUTPUT = re.compile(r" ?(?:[0-9]?>&[0-9]|[0-9] ?> ?/dev/null)")


def command_key(command: str, cwd: str | None) -> str:
    """Return the key of a command, which is equal for two calls of the same command.

    Extra spaces, `cd` to the cwd, time limits, `2>&1`, and parts that only print or ignore the result are
    left out: `| tail -3`, `|| true`. A `cd` to another folder stays: `npm test` in two folders are two
    commands. Only the first 2,000 characters of the command are read.

    Example:
        >>> command_key("cd /home/me/app && timeout 60 pytest  -q 2>&1 | tail -3", "/home/me/app")
        'pytest -q'
        >>> command_key("cd web && npm test || true", "/home/me/app")
        'cd web && npm test'
    """
    segments = [*segments_of(command)]
    while len(segments) > 1 and segments[-1].program in READERS:
        segments.pop()
    folder = ""
    while len(segments) > 1 and segments[0].program == "cd" and segments[0].after in ("&&", ";", "\n"):
        entered = segments.pop(0).words.removeprefix("cd").strip(" '\"")
        folder = entered if entered.startswith(("/", "~", "$")) or not folder else f"{folder}/{entered}"
    words = [f"cd {shown}", "&&"] if (shown := _elsewhere(folder, cwd)) else []
    for segment in segments:
        words += [_NO_OUTPUT.sub("", _LIMIT.sub("", segment.words)), segment.after.replace("\n", ";")]
    return " ".join(words[:-1])


def _elsewhere(folder: str, cwd: str | None) -> str:
    """Return a folder as it is shown, relative to the cwd; empty for the cwd itself."""
    if not folder or folder.startswith(("~", "$")):
        return folder
    shown = named(folder, cwd)[1]
    return "" if shown == "." else shown


# The state of the tests, linters and builds of a session: the last verdict of each command.

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
    command: str
    """The key of the command, by `command_key`; at most 4,000 characters of foreign text."""
    call: Call
    verdict: Verdict | None
    """The verdict on the last call; None if it is open, was killed, or printed no closing line."""
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
        if self.colour == "green":
            return State.GREEN if self.changed_by is None else State.CHANGED
        return State.RED if self.colour == "red" else State.UNKNOWN


class FinalVerdicts(NamedTuple):
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
    call: Call
    changed_by: int | None
    place: int
    """The place among the commands; the command that ran last is first."""
    left: int
    """The number of calls that may be read, including this one."""


def final_verdicts(feed: Feed, verdict_of: Callable[[Call], Verdict | None] | None = None) -> FinalVerdicts:
    """Return the last verdict of each command at the moment of a feed. A file counts as changed if a call
    edited, created, deleted or moved it, wherever the file is. What a shell command does to files is unknown.
    The order is that in which calls ended. A call that was rejected did not run, so the call of that command
    before it counts. If the last call of a command has no verdict, the two calls before it are read: if one
    of them has a verdict, the command runs tests whose last result is unknown. `verdict_of` returns the
    verdict on a call, if it was read before; None to read it."""
    misses = _key.cache_info().misses
    found: dict[int, CommandVerdict] = {}
    commands: dict[str, _Sought | None] = {}
    changed_by: int | None = None
    reads = 0
    execute, rejected = ToolKind.EXECUTE, Outcome.REJECTED
    for call in _newest_first(feed.session):
        if call.kind is not execute:
            if _may_have_changed(call):
                changed_by = call.number
            continue
        if call.outcome is rejected:
            continue
        key = _key((call.target or "")[:MOST_READ_CHARACTERS], feed.session.runs[call.run - 1].cwd)
        sought = commands.get(key)
        if not key or (key in commands and sought is None):
            continue
        if reads >= MOST_READ or _key.cache_info().misses - misses > _MOST_KEYED:
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


@lru_cache(_MOST_KEYS)
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


# The verdicts of the test runs of a session, the newest of them read first.

_MOST_KEPT = 500
"""Verdicts that are kept: 0.3 MB. Older ones are forgotten."""


class VerdictHistory:
    """The verdicts of the test runs, in the order in which they ended. Each call is read once: new calls
    first, then old ones from the newest on. `feed` must be at the live end."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._kept: deque[CallVerdict] = deque()
        self._verdicts: Sequence[CallVerdict] = ()
        self._first = self._end = len(feed.session.ended_calls)
        """The ended calls that were read."""
        self._is_changed = False
        """Whether a file changed after the newest verdict, or in a call that was read while none is known."""

    @property
    def verdicts(self) -> Sequence[CallVerdict]:
        return self._verdicts

    def update(self, seconds: float) -> bool:
        """Read calls for about this time; return whether more are left."""
        until = perf_counter() + seconds
        has_news = False
        while (index := self._next()) is not None:
            has_news |= self._read(index)
            if perf_counter() >= until:
                break
        if has_news:
            self._verdicts = tuple(self._kept)
        return self._next() is not None

    def _next(self) -> int | None:
        if self._end < len(self._feed.session.ended_calls):
            return self._end
        return self._first - 1 if self._first and len(self._kept) < _MOST_KEPT else None

    def _read(self, index: int) -> bool:
        """Read a call; return whether it is a test run with a verdict, or makes the newest verdict stale."""
        is_newest = index == self._end
        if is_newest:
            self._end += 1
        else:
            self._first = index
        call = self._feed.session.ended_calls[index]
        if (is_newest or not self._kept) and _may_have_changed(call):
            self._is_changed = True
            return bool(self._kept) and not self._kept[-1].is_red and self._mark_newest(is_stale=True)
        found = call_verdict(self._feed, call)
        if (
            found is None
            or call.ended is None
            or not (found.is_of_tests and (found.is_red or found.is_green))
        ):
            return False
        read = CallVerdict(call.ended.offset + call.ended.length + 1, call.number, index, found)
        if is_newest:
            self._mark_newest(is_stale=False)
            self._kept.append(read)
            self._is_changed = False
        else:
            is_stale = self._is_changed and not self._kept and not read.is_red
            self._kept.appendleft(read._replace(is_stale=is_stale))
        if len(self._kept) > _MOST_KEPT:
            self._kept.popleft()
        return True

    def _mark_newest(self, *, is_stale: bool) -> bool:
        """Mark the newest verdict, if there is one; return whether that changes it."""
        if not self._kept or self._kept[-1].is_stale == is_stale:
            return False
        self._kept.append(self._kept.pop()._replace(is_stale=is_stale))
        return True


# The ribbon of test runs: `✗12 ✗9 ✗1 ✓`, the newest at the right.

_MORE = SafeText("…")


class RibbonPiece(NamedTuple):
    """A word of the ribbon."""

    words: SafeText
    at: int | None
    """The index of the verdict; None for the `…` in place of others."""


def ribbon_pieces(
    verdicts: Sequence[CallVerdict], width: int, chosen: int | None = None
) -> list[RibbonPiece]:
    """Return the words of the ribbon, which are drawn with a blank between two. The newest verdict is the
    last; `…` replaces those that do not fit. A red verdict has the number of tests that failed, if it is
    known; `✓?` means that a file changed since. `chosen` is the index of a verdict that must be among them;
    None for the newest. If they do not all fit, half of the ribbon is for the newer ones."""
    pieces = _pieces_before(verdicts, len(verdicts), width)
    if chosen is None or any(piece.at is not None and piece.at <= chosen for piece in pieces):
        return pieces
    end, room = chosen, width // 2
    while end < len(verdicts) and (room := room - len(_ribbon_word(verdicts[end])) - 1) >= 0:
        end += 1
    return _pieces_before(verdicts, max(end, chosen + 1), width)


def _pieces_before(verdicts: Sequence[CallVerdict], end: int, width: int) -> list[RibbonPiece]:
    """Return the last words before the index `end` that fit, with `…` for those that are left out."""
    after = [RibbonPiece(_MORE, None)] if end < len(verdicts) else []
    room = width - 2 * len(after)
    pieces: list[RibbonPiece] = []
    for index in range(end - 1, -1, -1):
        words = _ribbon_word(verdicts[index])
        taken = columns(words) + (1 if pieces else 0)
        if taken + (2 if index else 0) > room:
            pieces.append(RibbonPiece(_MORE, None))
            break
        room -= taken
        pieces.append(RibbonPiece(words, index))
    return [*reversed(pieces), *after] if any(piece.at is not None for piece in pieces) else []


def _ribbon_word(each: CallVerdict) -> SafeText:
    if not each.is_red:
        return SafeText("✓?" if each.is_stale else "✓")
    return SafeText(f"✗{each.failed}" if each.failed else "✗")
