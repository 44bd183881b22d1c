"""Episodes of trouble in a session: repeated failures, edit-test cycles, rereads, edits back to the start."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import NamedTuple

from agentwatch.analysis.files import CHANGES, TouchedFile, is_back_to_start
from agentwatch.analysis.loops import arguments_of
from agentwatch.analysis.shell import READERS, WRAPPERS, Part, decides_exit, only_reads, parts_of
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.feed.feed import Feed, output_tail
from agentwatch.session.actions import shown_target, target
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.paths import named
from agentwatch.text.safe import SafeText, cut, safe_line

_MOST_CHARACTERS = 2000
_MOST_FILTERS = 4
_MOST_PARTS = 40
"""The exit code of a command with more programs is not interpreted: that takes 4 ms for 600 programs."""
_HINTS = ("test", "jest", "mocha", "spec", "phpunit", "tox", "nox")
"""Each command that runs tests contains one of these. Parsing takes 15 µs, these searches 0.3 µs."""
_RUNNERS = frozenset(
    (
        *("pytest", "py.test", "unittest", "jest", "vitest", "mocha", "ava", "rspec", "phpunit", "ctest"),
        *("tox", "nox", "nextest", "pytest.exe", "trial", "nosetests", "playwright"),
    )
)
_TASK_RUNNERS = frozenset(
    (
        *("go", "cargo", "dotnet", "mvn", "mvnw", "gradle", "gradlew", "node", "deno", "make", "mise"),
        *("just", "swift", "mix", "rake", "bazel", "sbt", "zig", "flutter", "dart", "test"),
    )
)
"""Programs that run tests with certain arguments. After npm, pnpm and yarn the program is `test`."""
_TASK = re.compile(
    r"(?:^|[\s/;&|(])(?:go|cargo|dotnet|mvnw?|gradlew?|node|deno|make|mise|just|swift|mix|rake|bazel|sbt"
    r"|zig|flutter|dart|npm|pnpm|yarn|bun)[ \t]{1,4}(?:-[^\s]{1,40}[ \t]{1,4}){0,3}(?:run[ \t]{1,4})?"
    r"(?:-[^\s]{1,40}[ \t]{1,4}){0,3}(?:--)?(?:test|nextest|verify)(?![a-zA-Z/])"
)


class _TestCommand(NamedTuple):
    zero_is_green: bool
    """An exit code of 0 means that the tests passed. The exit code of `pytest | tail -3` is that of tail."""
    other_is_red: bool
    """Another exit code means that the tests failed, because nothing else in the command could fail."""


def same_command(command: str, cwd: str | None) -> str | None:
    """Return a key that is equal for two spellings of the same command; None if unknown.

    These parts are ignored: `cd` to the session's own folder, options, redirections, assignments and programs
    such as `npx` or `python -m` before the program, the folder of the program, and filters after it. All
    other words count: `pytest tests/a.py` and `pytest tests/b.py` are two commands. A command with a
    here-document, or whose quotes are still open at the end of its first line, cannot be compared. Only the
    first 2,000 characters of the command are read.

    Example:
        >>> same_command("cd /src && python -m pytest -q tests 2>&1 | tail -3", "/src")
        'pytest tests'
    """
    text = command[:_MOST_CHARACTERS]
    if "<<" in text or text[:1] == "#" or text.count('"') % 2 or text.count("'") % 2:
        return None
    if text.startswith("cd "):
        folder, sign, rest = text.partition("&&")
        if sign and cwd and folder[3:].strip(" \"'").rstrip("/\\") == cwd.rstrip("/\\"):
            text = rest
    for sign in (";", *"|" * _MOST_FILTERS):
        before, _, last = text.rpartition(sign)
        if before and last.split(None, 1)[:1] and last.split(None, 1)[0] in READERS:
            text = before.rstrip("|& ")
    words: list[str] = []
    for word in text.split():
        if word[0] == "-" or ">" in word or (not words and (word in WRAPPERS or "=" in word)):
            continue
        words.append(word if words else word.rpartition("/")[2])
    return " ".join(words) or None


def _finds_nothing(command: str) -> bool:
    """Return whether a command only searches, compares or prints, so that exit code 1 is not a failure."""
    words = command[:_MOST_CHARACTERS].split(None, 1)
    if not words or words[0] not in READERS:
        return False
    parts = parts_of(command)
    return only_reads(parts) and not any(_acts(part) for part in parts)


_SEARCHES = frozenset(("grep", "rg", "ag", "diff", "git"))
_GIT_READS = frozenset(("diff", "grep", "log", "show", "status", "check-ignore", "ls-files", "merge-base"))


def _acts(part: Part) -> bool:
    """Return whether a program that can print existing text does something else here: `git push`."""
    words = part.words.split(" ")
    return part.program == "gh" or (part.program == "git" and _GIT_READS.isdisjoint(words[1:2]))


def test_command(command: str) -> _TestCommand | None:
    """Return the meaning of the exit code of a command that runs tests; None if it runs no tests."""
    text = command[:_MOST_CHARACTERS]
    return _test_command(text) if any(hint in text for hint in _HINTS) else None


@lru_cache(maxsize=256)
def _test_command(text: str) -> _TestCommand | None:
    parts = parts_of(text)
    tests = frozenset(part.program for part in parts if _runs_tests(part, text))
    if not tests:
        return None
    if len(parts) > _MOST_PARTS:
        return _TestCommand(zero_is_green=False, other_is_red=False)
    others = [part for part in parts if part.program not in tests and part.program not in READERS]
    return _TestCommand(decides_exit(parts, tests) is not None, not others)


def _runs_tests(part: Part, text: str) -> bool:
    program = part.program
    if program in _RUNNERS:
        return True
    is_task = program in _TASK_RUNNERS or program.startswith("test:")
    return is_task and _TASK.search(text) is not None


@dataclass(slots=True, eq=False)
class Row:
    first: int
    last: int
    cycles: int
    tried: int | None
    """The hash of the test command; None if several commands have failed."""
    is_fixed: bool = False
    """Whether the last test run passed."""


class Cycles:
    """Counts cycles: at least one file was changed, then the tests failed. A green test run ends the row."""

    def __init__(self) -> None:
        self.row: Row | None = None
        """The present row; None if no cycle was completed since the last green test run."""
        self._changed = 0
        """The number of the first change since the last test run; 0 if no file was changed."""

    @property
    def count(self) -> int:
        return 0 if self.row is None else self.row.cycles

    def changed(self, number: int) -> None:
        self._changed = self._changed or number

    def tested(self, number: int, tried: int | None, is_red: bool) -> Row | None:
        """Note a test run; return the row that a green run ends. `tried` is None if runs cannot be
        compared."""
        changed, self._changed = self._changed, 0
        row = self.row
        if not is_red:
            self.row = None
            if row is not None:
                row.last, row.is_fixed = number, True
            return row
        if row is not None:
            row.last = number
            row.cycles += changed > 0
            row.tried = row.tried if row.tried == tried else None
        elif changed:
            self.row = Row(changed, number, 1, tried)
        return None


class EpisodeKind(StrEnum):
    FAILURE = "failure"
    """A call failed, and was tried at least twice more."""
    CYCLES = "cycles"
    """Files were edited and the tests failed, at least three times in a row."""
    REREAD = "reread"
    """The same part of a file was read at least four times without a change of the file in between."""
    BACK = "back_to_start"
    """A file was edited at least twice, and has its first content again."""
    UNREAD = "unread"
    """A file was edited that the session had neither read nor created."""


class Episode(NamedTuple):
    """An episode of trouble: several calls that belong together.

    Example:
        >>> Episode(EpisodeKind.FAILURE, 4, 9, 3, 250_000, True, True, SafeText("pytest -q")).words
        'fixed on try 3, 4:10: pytest -q'
    """

    kind: EpisodeKind
    first: int
    last: int
    tries: int
    """How often the call was tried, the tests failed in a row, or the file was read or changed."""
    duration_ms: int | None
    """The time from the start of the first call to the end of the last one; None if unknown."""
    is_over: bool
    """Whether no further call can belong to it."""
    is_fixed: bool
    subject: SafeText
    """The command or the path of the episode."""
    cycles: int = 0
    """The edit-test-fail cycles among the tries."""
    files: int = 1
    """The number of files in an episode that joins several; 1 for a single episode."""

    @property
    def words(self) -> SafeText:
        """The episode in one line: `not fixed after 3 tries, 2:05: npm run build`."""
        took = "" if self.duration_ms is None else f", {duration_words(self.duration_ms)}"
        cycles = f", {_cycles(self.cycles)}" if self.cycles else ""
        return SafeText(f"{self._lead}{took}{cycles}: {self.subject}")

    @property
    def _lead(self) -> str:
        match self.kind:
            case EpisodeKind.FAILURE if self.is_fixed:
                return f"fixed on try {self.tries}"
            case EpisodeKind.FAILURE:
                return f"not fixed {'after' if self.is_over else 'yet,'} {self.tries} tries"
            case EpisodeKind.CYCLES:
                return _cycles(self.tries)
            case EpisodeKind.REREAD:
                return f"read {'up to ' if self.files > 1 else ''}{self.tries:,} times"
            case EpisodeKind.BACK:
                return "edited back to the start"
        return "edited without reading"


def for_reading(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes in the order in which a person reads them: failures that are not fixed, then the
    newest. Episodes of one kind about files are joined: `edited without reading: 18 files`."""
    listed: list[list[Episode]] = []
    of_files: dict[EpisodeKind, list[Episode]] = {}
    for each in reversed(episodes):
        joined = of_files.setdefault(each.kind, []) if each.kind in _OF_FILES else []
        if not joined:
            listed.append(joined)
        joined.append(each)
    return sorted(
        map(_joined, listed), key=lambda each: each.is_fixed or each.kind is not EpisodeKind.FAILURE
    )


_OF_FILES = frozenset({EpisodeKind.REREAD, EpisodeKind.BACK, EpisodeKind.UNREAD})


def _joined(newest_first: Sequence[Episode]) -> Episode:
    newest, files = newest_first[0], len({each.subject for each in newest_first})
    return newest._replace(
        first=min(each.first for each in newest_first),
        tries=max(each.tries for each in newest_first),
        is_over=all(each.is_over for each in newest_first),
        subject=SafeText(plural(files, "file")) if files > 1 else newest.subject,
        files=files,
    )


def _cycles(count: int) -> str:
    return plural(count, "edit-test-fail cycle")


def duration_ms(first: Call, last: Call) -> int | None:
    """Return the time between two calls by the agent's clock, or else by the arrival times. None if neither
    is known, or if both lines arrived in one read."""
    start, end = first.started_ms if first.started_ms is not None else first.ended_ms, last.ended_ms
    if start is not None and end is not None:
        return end - start if end >= start else None
    began = first.started or first.ended
    if began is None or last.ended is None or began.seen_ms is None or last.ended.seen_ms is None:
        return None
    passed = last.ended.seen_ms - began.seen_ms
    return passed if passed > 0 else None


LEAST = 4
"""The number of reads of the same part that makes an episode."""
_MOST_CHAINS = 1000
_MOST_FILE_PARTS = 100
"""The parts of one file whose reads are remembered."""


@dataclass(slots=True, eq=False)
class Reading:
    first: int
    last: int
    times: int = 1


class _Rereads:
    """Counts the reads of the same part of a file. Calls with the same path, the same subagent and the same
    note (`54 lines`) are candidates. Only their arguments show whether they read the same part. The arguments
    are read from the recording, 13 to 25 µs a call, when a count is requested: for most sessions, none is."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._numbers = array("I")
        """The numbers of candidates whose arguments were not read, in order."""
        self._firsts = array("I")
        """The number of the first candidate of the chain of each candidate."""
        self._chains: dict[int, dict[Hashable, Reading]] = {}
        """The parts that were read in each chain, by the number of its first candidate: the newest 1,000."""
        self.has_long = False
        """Whether arguments that were not read may add an episode."""
        self.kept: dict[int, Reading] = {}
        """The newest 1,000 episodes, by the number of their first call."""

    def add(self, number: int, first: int, times: int) -> None:
        self._numbers.append(number)
        self._firsts.append(first)
        self.has_long = self.has_long or times >= LEAST

    def is_pending(self, number: int) -> bool:
        """Return whether the arguments of a call still have to be read."""
        return bool(self._numbers) and number >= self._numbers[0]

    def counts(self) -> Iterator[tuple[int, int]]:
        numbers, self._numbers = self._numbers, array("I")
        firsts, self._firsts = self._firsts, array("I")
        self.has_long = False
        for number, first in zip(numbers, firsts, strict=True):
            yield number, self._count(number, first)

    def _count(self, number: int, first: int) -> int:
        chain = self._chains.get(first)
        if chain is None:
            chain = self._chains[first] = {}
            if len(self._chains) > _MOST_CHAINS:
                del self._chains[next(iter(self._chains))]
            arguments = self._arguments(first)
            if arguments is not None:
                chain[arguments] = Reading(first, first)
        arguments = self._arguments(number)
        if arguments is None:
            return 1
        reading = chain.get(arguments)
        if reading is None:
            if len(chain) < _MOST_FILE_PARTS:
                chain[arguments] = Reading(number, number)
            return 1
        reading.last = number
        reading.times += 1
        if reading.times == LEAST:
            self.kept[reading.first] = reading
            if len(self.kept) > _MOST_CHAINS:
                del self.kept[next(iter(self.kept))]
        return reading.times

    def _arguments(self, number: int) -> int | None:
        return arguments_of(self._feed, self._feed.session.calls[number - 1])


_MOST_FILES = 20_000
"""Files that are remembered, 400 bytes each. The oldest is forgotten first."""


@dataclass(slots=True, eq=False)
class File:
    shown: str
    known_from: int | None = None
    """The offset of the line that first read or created the file."""
    first_change: int = 0
    last_change: int = 0
    changes: int = 0
    may_be_changed: bool = False
    """Whether a change has no known outcome."""
    reads: dict[tuple[int | None, int, str | None], list[int]] = field(default_factory=dict)
    """The first read and the number of reads since the last change, by subagent, run and note."""

    def read(self, call: Call) -> tuple[int, int]:
        key = (call.parent, call.run, call.note)
        known = self.reads.get(key)
        if known is None:
            if len(self.reads) < _MOST_FILE_PARTS:
                self.reads[key] = [call.number, 1]
            return call.number, 1
        known[1] += 1
        return known[0], known[1]

    def change(self, number: int) -> None:
        self.first_change = self.first_change or number
        self.last_change = number
        self.changes += 1
        if self.reads:
            self.reads = {}

    def is_back(self, feed: Feed) -> bool:
        """Return whether edits have given the file its first content again; the contents are read back. A
        file that the session created or deleted is left out: a temporary script is not trouble."""
        calls = feed.session.calls
        first, last = calls[self.first_change - 1], calls[self.last_change - 1]
        if first is last or not first.kind is last.kind is ToolKind.EDIT:
            return False
        file = TouchedFile(self.shown, first_change=first, last_change=last)
        file.may_be_changed = self.may_be_changed
        return is_back_to_start(file, feed) is True

    def know(self, call: Call) -> None:
        """Note that a call has read or created the file."""
        if self.known_from is None and call.ended is not None:
            self.known_from = call.ended.offset

    def was_known_to(self, call: Call) -> bool:
        """Return whether the file had been read or created when a call began."""
        began = call.started or call.ended
        return self.known_from is not None and (began is None or began.offset > self.known_from)


_MOST_OPEN = 1000


@dataclass(slots=True, eq=False)
class Failing:
    """A call that failed, and the tries that followed."""

    tried: int
    first: int
    last: int
    target: int
    ended: int
    """The offset of the line that ended the last try. A call that started before it is not a retry of it."""
    group: str | None
    tests: str = ""
    """The words of the command without options, if it runs tests."""
    tries: int = 1
    is_fixed: bool = False


class _Tries:
    """The failures that are still open; at most the newest 1,000."""

    def __init__(self) -> None:
        self._open: dict[int, Failing] = {}
        """The open failures by a hash of what was tried. Two of 1,000 collide in one of 10^13 sessions."""
        self.later: dict[int, int] = {}
        """The number of the next try, or of tests that passed later, by the number of the failed call."""

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[Failing]:
        return iter(self._open.values())

    def add(
        self, call: Call, tried: int, has_failed: bool | None, tests: str = ""
    ) -> tuple[int, Failing | None]:
        """Add a call; return the number of the try, and the failure that the call has fixed. `has_failed` is
        None if unknown. Then the failure stays as it is, unless the last failed try had exactly the same
        target: an exit code that has changed from 1 to 0 is a success even after a pipe."""
        failing = self._open.get(tried)
        ended = 0 if call.ended is None else call.ended.offset
        if failing is None:
            if has_failed:
                self._open[tried] = Failing(
                    tried, call.number, call.number, hash(call.target), ended, call.group, tests
                )
                if len(self._open) > _MOST_OPEN:
                    del self._open[next(iter(self._open))]
            return 1, None
        if _is_parallel(call, failing):
            return failing.tries, None
        is_success = has_failed is False
        if has_failed is None:
            is_success = call.outcome is Outcome.SUCCEEDED and failing.target == hash(call.target)
            if not is_success:
                return failing.tries + 1, None
        failing.tries += 1
        self.later[failing.last] = call.number
        failing.last, failing.target = call.number, hash(call.target)
        failing.ended, failing.group = ended, call.group
        if is_success:
            failing.is_fixed = True
            del self._open[tried]
            return failing.tries, failing
        return failing.tries, None

    def passed(self, call: Call, tests: str) -> None:
        """Note that tests passed: `pytest` has also run what `pytest tests/test_a.py` ran before."""
        for failing in self._open.values():
            if failing.tests.startswith(f"{tests} "):
                self.later[failing.last] = call.number


def _is_parallel(call: Call, failing: Failing) -> bool:
    began = call.started or call.ended
    is_earlier = began is not None and began.offset < failing.ended
    return is_earlier or (call.group is not None and call.group == failing.group)


_COLUMNS = 200


def _failures_and_cycles(
    session: Session, failing: Iterable[Failing], rows: Iterable[Row]
) -> Iterator[Episode]:
    own: dict[int, list[Row]] = {}
    others: list[Row] = []
    for row in rows:
        (others if row.tried is None else own.setdefault(row.tried, [])).append(row)
    for each in failing:
        rest: list[Row] = []
        cycles = 0
        for row in own.get(each.tried, ()):
            if row.first <= each.last and each.first <= row.last:
                cycles = max(cycles, row.cycles)
            else:
                rest.append(row)
        own[each.tried] = rest
        yield _of_calls(session, EpisodeKind.FAILURE, each, each.tries, each.first, cycles)
    for row in (*others, *(row for left in own.values() for row in left)):
        yield _of_calls(session, EpisodeKind.CYCLES, row, row.cycles, row.last)


def _of_calls(
    session: Session, kind: EpisodeKind, each: Failing | Row, tries: int, about: int, cycles: int = 0
) -> Episode:
    calls = session.calls
    call, took = calls[about - 1], duration_ms(calls[each.first - 1], calls[each.last - 1])
    subject = shown_target(call) or target(call) or cut(safe_line(_words(call)), _COLUMNS)
    is_over = each.is_fixed or _is_over(session)
    return Episode(kind, each.first, each.last, tries, took, is_over, each.is_fixed, subject, cycles)


def _of_file(session: Session, kind: EpisodeKind, first: int, last: int, tries: int, shown: str) -> Episode:
    subject = cut(safe_line(shown), _COLUMNS)
    return Episode(kind, first, last, tries, None, _is_over(session), is_fixed=False, subject=subject)


def _is_over(session: Session) -> bool:
    return session.outcome is not Outcome.RUNNING


def _words(call: Call) -> str:
    return call.target or call.path or call.tool


_NAME = re.compile(r"[^\s'\"`/\\(){}<>|;,=@:]{1,255}")
_MOST_TARGET_CHARACTERS = 4096
_MOST_NAMES = 50_000


class _Mentions:
    """The names in the targets of calls. `sed -n 1,80p src/app.py` may have shown the file `app.py`. Each
    target is split into names once, at the first search for a file."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._unread = array("I")
        """The numbers of the calls whose targets were not split yet."""
        self._names: set[str] = set()

    def add(self, number: int) -> None:
        """Add a call by its number."""
        self._unread.append(number)

    def has(self, name: str, run: int) -> bool:
        """Return whether a file of this name may be known: a call or the run's prompt has mentioned the name.
        After 50,000 names, every file counts as known."""
        numbers, self._unread = self._unread, array("I")
        for number in numbers:
            call = self._session.calls[number - 1]
            for text in (call.target, call.path):
                if text and len(self._names) < _MOST_NAMES:
                    self._names.update(_NAME.findall(text[:_MOST_TARGET_CHARACTERS]))
        if len(self._names) >= _MOST_NAMES or name in self._names:
            return True
        return name in (self._session.runs[run - 1].prompt or "")


class Repeats:
    """Counts calls in a row with equal tool, target and arguments, in the order in which they started. The
    arguments are read from the recording, 13 to 25 µs a call, only if the tool and the target of two calls in
    a row are equal. Arguments that are unknown equal nothing."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._last: Call | None = None
        self._arguments: tuple[Hashable | None] | None = None
        """The arguments of the last call; None if they were not read."""
        self._count = 0

    def add(self, call: Call) -> int:
        """Add the next call of the session; return how often in a row it was made, 1 for the first time."""
        last, self._last = self._last, call
        if (
            last is None
            or last.tool != call.tool
            or last.target != call.target
            or last.path != call.path
            or last.parent != call.parent
            or last.run != call.run
        ):
            self._arguments, self._count = None, 1
            return 1
        before = (arguments_of(self._feed, last),) if self._arguments is None else self._arguments
        self._arguments = (arguments_of(self._feed, call),)
        is_same = before == self._arguments and before[0] is not None
        self._count = self._count + 1 if is_same else 1
        return self._count


_LEAST_TRIES = 3
"""A failure that is fixed on the second try is ordinary work: a test is written, fails, and passes."""
_LEAST_CYCLES = 3
_MOST_KEPT = 500
_MORE_COUNTS = 1024
_OUTPUT_COST = 25
"""Reading an output takes as long as reading 25 calls."""
_HAS_FAILED = {Outcome.FAILED: True, Outcome.SUCCEEDED: False}
_NOT_RUN = (126, 127)
"""The exit codes of a shell that could not run the command."""


class Episodes:
    """Finds trouble in the calls of a session, and counts per call how often it was tried. `update` reads
    calls in the order in which they ended, at 2 to 3 µs each. It reads the output of a call only if its
    command runs tests and its exit code does not say whether they passed (`pytest | tail -3`), or if it is a
    search with exit code 1."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._session = feed.session
        self.calls_read = 0
        """The number of ended calls that were read."""
        self._tries = array("I")
        self._cycle = array("I")
        self._reread = array("I")
        self._failures = _Tries()
        self._cycles = Cycles()
        self._rereads = _Rereads(feed)
        self._files: dict[str, File] = {}
        """The files that the session touched, by the key that `named` returns; at most the newest 20,000."""
        self._mentions = _Mentions(feed.session)
        self._fixed: deque[Failing] = deque(maxlen=_MOST_KEPT)
        self._green: deque[Row] = deque(maxlen=_MOST_KEPT)
        """The rows of cycles that a green test run has ended."""
        self._unread: deque[File] = deque(maxlen=_MOST_KEPT)
        self._uncompared: dict[File, None] = {}
        """Files that were edited again since their contents were compared."""
        self._back: dict[File, None] = {}
        self._outputs_read = 0
        self.red: set[int] = set()
        """The numbers of the calls whose tests failed, whatever the outcome of the call is."""
        self.no_match: set[int] = set()
        """The numbers of the failed calls that are searches which printed nothing."""

    def update(self, most: int = 200) -> bool:
        """Read at most `most` newly ended calls; fewer if outputs have to be read for them."""
        ended, first = self._session.ended_calls, self.calls_read
        for call in ended[first : first + most]:
            self._add(call)
            self.calls_read += 1
            if self._outputs_read and self.calls_read - first + self._outputs_read * _OUTPUT_COST >= most:
                break
        self._outputs_read = 0
        return self.calls_read < len(ended)

    def tries(self, number: int) -> int:
        """Return the number of the try that a call is: 1 if no earlier try of the same thing has failed. The
        same thing is the same file for edits, the same command for shells (see `same_command`), and the same
        tool and target for other calls. A try after the first starts after the last one has ended. Return 0
        if the call was not read yet; a call is read when it has ended."""
        return self._tries[number - 1] if 0 < number <= len(self._tries) else 0

    def cycle(self, number: int) -> int:
        """Return how many edit-test-fail cycles in a row were completed when a call had ended."""
        return self._cycle[number - 1] if 0 < number <= len(self._cycle) else 0

    def reread(self, number: int) -> int:
        """Return how often a part of a file was read in the run without a change; 0 for other calls."""
        if not 0 < number <= len(self._reread):
            return 0
        if self._reread[number - 1] > 1 and self._rereads.is_pending(number):
            self._count_rereads()
        return self._reread[number - 1]

    def later(self, number: int) -> int:
        """Return the number of the call that repeated a failed call, or passed its tests; 0 without one."""
        return self._failures.later.get(number, 0)

    def read_one(self) -> bool:
        """Compare the contents of one file, which takes up to 6 ms; return whether one was left to
        compare."""
        if not self._uncompared:
            return False
        file, _ = self._uncompared.popitem()
        if file.is_back(self._feed):
            self._back[file] = None
        else:
            self._back.pop(file, None)
        return True

    def episodes(self) -> Sequence[Episode]:
        """Return the newest 500 episodes; the episode with the newest call is last."""
        if self._rereads.has_long:
            self._count_rereads()
        session, row = self._session, self._cycles.row
        calls = session.calls
        failing = [*self._fixed, *(each for each in self._failures if each.tries >= _LEAST_TRIES)]
        rows = [*self._green, *([row] if row is not None and row.cycles >= _LEAST_CYCLES else [])]
        found = [
            *_failures_and_cycles(session, failing, rows),
            *(
                _of_file(
                    session,
                    EpisodeKind.REREAD,
                    each.first,
                    each.last,
                    each.times,
                    _words(calls[each.first - 1]),
                )
                for each in self._rereads.kept.values()
            ),
            *(
                _of_file(session, EpisodeKind.UNREAD, each.first_change, each.first_change, 1, each.shown)
                for each in self._unread
            ),
            *(
                _of_file(
                    session, EpisodeKind.BACK, each.first_change, each.last_change, each.changes, each.shown
                )
                for each in self._back
            ),
        ]
        return sorted(found, key=lambda each: (each.last, each.first))[-_MOST_KEPT:]

    def _add(self, call: Call) -> None:
        number, kind, outcome = call.number, call.kind, call.outcome
        if number > len(self._tries):
            more = number + _MORE_COUNTS - len(self._tries)
            for counts in (self._tries, self._cycle, self._reread):
                counts.frombytes(bytes(more * counts.itemsize))
        if kind is ToolKind.EXECUTE:
            tried = self._run(call)
        else:
            tried = 1
            if outcome is Outcome.FAILED or self._failures:
                key = hash((kind, call.path)) if kind in CHANGES else hash((kind, call.tool, call.target))
                has_failed = _HAS_FAILED.get(outcome)
                tried = self._try(call, key, has_failed)
            if kind in CHANGES:
                self._change(call)
            elif kind is not ToolKind.READ:
                self._mentions.add(number)
            elif outcome is Outcome.SUCCEEDED and call.path:
                self._read(call, call.path)
        self._tries[number - 1] = tried
        self._cycle[number - 1] = self._cycles.count

    def _run(self, call: Call) -> int:
        command, outcome = call.target or "", call.outcome
        failed = outcome is Outcome.FAILED
        self._mentions.add(call.number)
        is_red: bool | None = None
        if (tests := test_command(command)) is not None:
            if outcome is Outcome.SUCCEEDED and tests.zero_is_green:
                is_red = False
            elif failed and tests.other_is_red:
                is_red = call.exit_code not in _NOT_RUN or None
            else:
                self._outputs_read += 1
                found = call_verdict(self._feed, call)
                is_red = found.is_red if found is not None and found.is_of_tests else None
        if not (failed or is_red is not None or self._failures):
            return 1
        same = same_command(command, self._session.runs[call.run - 1].cwd)
        key = None if same is None else hash((ToolKind.EXECUTE, same))
        searches = failed and call.exit_code in (1, None) and _finds_nothing(command)
        if searches and self._prints_nothing(call, command):
            self.no_match.add(call.number)
        if is_red:
            self.red.add(call.number)
        if is_red is not None:
            row = self._cycles.tested(call.number, key, is_red)
            if row is not None and row.cycles >= _LEAST_CYCLES:
                self._green.append(row)
        if key is None:
            return 1
        has_failed: bool | None = None
        if is_red is not None:
            has_failed = is_red
        elif failed:
            has_failed = None if searches else True
        elif outcome is Outcome.SUCCEEDED and tests is None:
            has_failed = None if "|" in command or ";" in command else False
        ran = same if same is not None and tests is not None else ""
        if ran and is_red is False:
            self._failures.passed(call, ran)
        return self._try(call, key, has_failed, ran)

    def _prints_nothing(self, call: Call, command: str) -> bool:
        """Return whether a search ended with exit code 1 and no output."""
        is_search = call.exit_code == 1 and any(each.program in _SEARCHES for each in parts_of(command))
        if not is_search or call.ended is None:
            return False
        self._outputs_read += 1
        return not "".join(output_tail(self._feed, call.ended, call.call_id)).strip()

    def _try(self, call: Call, key: int, has_failed: bool | None, tests: str = "") -> int:
        tried, fixed = self._failures.add(call, key, has_failed, tests)
        if fixed is not None and tried >= _LEAST_TRIES:
            self._fixed.append(fixed)
        return tried

    def _file(self, call: Call, path: str) -> File:
        key, shown, _ = named(path, self._session.runs[call.run - 1].cwd)
        file = self._files.get(key)
        if file is None:
            file = self._files[key] = File(shown)
            if len(self._files) > _MOST_FILES:
                del self._files[next(iter(self._files))]
        return file

    def _read(self, call: Call, path: str) -> None:
        file = self._file(call, path)
        file.know(call)
        first, times = file.read(call)
        self._reread[call.number - 1] = times
        if times > 1:
            self._rereads.add(call.number, first, times)

    def _change(self, call: Call) -> None:
        is_open = call.outcome not in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED)
        has_changed = call.outcome is Outcome.SUCCEEDED
        if has_changed:
            self._cycles.changed(call.number)
        for path in (call.path, *call.more_paths):
            if path and (is_open or has_changed):
                file = self._file(call, path)
                file.may_be_changed |= is_open
                if has_changed:
                    self._changed(call, file)

    def _changed(self, call: Call, file: File) -> None:
        if call.is_new_file:
            file.know(call)
        elif _is_edit_of_a_file(call) and not file.changes and not file.was_known_to(call):
            name = file.shown.replace("\\", "/").rpartition("/")[2]
            if not self._mentions.has(name, call.run):
                self._unread.append(file)
        file.change(call.number)
        if file.changes > 1:
            self._uncompared[file] = None

    def _count_rereads(self) -> None:
        for number, times in self._rereads.counts():
            self._reread[number - 1] = times


# The failures of a session in the order in which they matter.


class Rank(IntEnum):
    """How much a failure matters; the lowest matters most."""

    RED = 0
    """Tests that failed, and did not pass later."""
    OPEN = 1
    """A call that failed, and was not tried again."""
    LATER = 2
    """What failed was tried again, or the tests passed later."""
    NO_MATCH = 3
    """A search that found nothing: `grep` with exit code 1 and without output."""


class RankedFailure(NamedTuple):
    """A call that failed or whose tests failed, and what became of it."""

    rank: Rank
    number: int
    later: int
    """The number of the call that tried it again or passed the tests; 0 without one."""
    is_fixed: bool
    """Whether that call succeeded."""

    @property
    def words(self) -> SafeText:
        """What became of the failure: `tests still red`, `not tried again`, `fixed by #31`, `no match`."""
        match self.rank:
            case Rank.RED:
                return SafeText("tests still red")
            case Rank.OPEN:
                return SafeText("not tried again")
            case Rank.LATER:
                return SafeText(f"{'fixed by' if self.is_fixed else 'tried again in'} #{self.later}")
        return SafeText("no match")


def ranked_failures(session: Session, failed: Iterable[int], episodes: Episodes) -> list[RankedFailure]:
    """Return the failures of a session, those that matter most first, each rank in the order of the calls.
    `failed` are the numbers of failed calls, and of calls whose tests failed. `episodes` may have read
    further than this moment."""
    found, calls = [], session.calls
    for number in failed:
        later = episodes.later(number)
        if later > len(calls) or (later and calls[later - 1].ended is None):
            later = 0  # at this moment it was not tried again
        is_fixed = later > 0 and calls[later - 1].outcome is Outcome.SUCCEEDED and later not in episodes.red
        if later:
            rank = Rank.LATER
        elif number in episodes.red:
            rank = Rank.RED
        else:
            rank = Rank.NO_MATCH if number in episodes.no_match else Rank.OPEN
        found.append(RankedFailure(rank, number, later, is_fixed))
    return sorted(found)


def whole_episodes(feed: Feed) -> Sequence[Episode]:
    """Return the episodes of the session that a feed shows, after reading all of its calls."""
    found = Episodes(feed)
    while found.update() or found.read_one():
        pass
    return found.episodes()


def _is_edit_of_a_file(call: Call) -> bool:
    """Return whether a call has certainly edited one file that existed, because it removed lines from it.
    Some agents do not report that a call created a file."""
    return call.kind is ToolKind.EDIT and bool(call.lines_removed) and not call.more_paths
