"""The trouble of a session, updated one ended call at a time."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence

from agentwatch.analysis.episodes.commands import finds_nothing, same_command, test_command
from agentwatch.analysis.episodes.cycles import Cycles, Row
from agentwatch.analysis.episodes.episode import Episode, EpisodeKind
from agentwatch.analysis.episodes.listed import failures_and_cycles, of_file, reading
from agentwatch.analysis.episodes.mentions import Mentions
from agentwatch.analysis.episodes.repeats import Repeats
from agentwatch.analysis.episodes.rereads import Rereads
from agentwatch.analysis.episodes.touched import File, Files
from agentwatch.analysis.episodes.tries import Failing, Tries
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.events import Outcome, ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call

LEAST_TRIES = 3
"""A failure that is fixed on the second try is ordinary work: a test is written, fails, and passes."""
LEAST_CYCLES = 3
_MOST_KEPT = 500
_MORE_COUNTS = 1024
_OUTPUT_COST = 25
"""Reading an output takes as long as reading 25 calls."""
_HAS_FAILED = {Outcome.FAILED: True, Outcome.SUCCEEDED: False}
_CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_NOT_RUN = (126, 127)
"""The exit codes of a shell that could not run the command."""


class Episodes:
    """Finds trouble in the calls of a session, and counts per call how often it was tried.

    `update` reads calls in the order in which they ended, at 2 to 3 µs each. It reads the output of a call
    only if its command runs tests and its exit code does not say whether they passed: `pytest | tail -3`.
    """

    def __init__(self, feed: Feed) -> None:
        """Create a reader that has read no call.

        Args:
            feed: The feed of the session. It may still grow.
        """
        self._feed = feed
        self._session = feed.session
        self._calls_read = 0
        self._started = 0
        self._tries = array("I")
        self._cycle = array("I")
        self._reread = array("I")
        self._repeat = array("I")
        self._failures = Tries()
        self._cycles = Cycles()
        self._repeats = Repeats(feed)
        self._rereads = Rereads(feed)
        self._files = Files(feed.session)
        self._mentions = Mentions(feed.session)
        self._fixed: deque[Failing] = deque(maxlen=_MOST_KEPT)
        self._green: deque[Row] = deque(maxlen=_MOST_KEPT)
        """The rows of cycles that a green test run has ended."""
        self._unread: deque[File] = deque(maxlen=_MOST_KEPT)
        self._uncompared: dict[File, None] = {}
        """Files that were edited again since their contents were compared."""
        self._back: dict[File, None] = {}
        self._outputs_read = 0

    def update(self, most: int = 200) -> bool:
        """Read at most `most` newly ended calls; fewer if outputs have to be read for them.

        Returns:
            Whether there are more.
        """
        ended, first = self._session.ended_calls, self._calls_read
        for call in ended[first : first + most]:
            self._add(call)
            self._calls_read += 1
            if self._outputs_read and self._calls_read - first + self._outputs_read * _OUTPUT_COST >= most:
                break
        self._outputs_read = 0
        return self._calls_read < len(ended)

    def tries(self, number: int) -> int:
        """Return the number of the try that a call is: 1 if no earlier try of the same thing has failed.

        The same thing is the same file for edits, the same command for shells (see `same_command`), and the
        same tool and target for other calls. A try after the first starts after the last one has ended.

        Args:
            number: The number of a call.

        Returns:
            0 if the call was not read yet. A call is read when it has ended.
        """
        return self._tries[number - 1] if 0 < number <= len(self._tries) else 0

    def cycle(self, number: int) -> int:
        """Return how many edit-test-fail cycles in a row were completed when a call had ended.

        Args:
            number: The number of a call.
        """
        return self._cycle[number - 1] if 0 < number <= len(self._cycle) else 0

    def reread(self, number: int) -> int:
        """Return how often the part of the file that a call reads was read in its run without a change.

        Args:
            number: The number of a call.

        Returns:
            1 for the first time, 0 for a call that does not read a file or was not read yet.
        """
        if not 0 < number <= len(self._reread):
            return 0
        if self._reread[number - 1] > 1 and self._rereads.is_pending(number):
            self._count_rereads()
        return self._reread[number - 1]

    def repeat(self, number: int) -> int:
        """Return how often in a row the identical call was made, in the order in which calls started.

        Args:
            number: The number of a call.

        Returns:
            1 for the first time, 0 if the call was not read yet.
        """
        return self._repeat[number - 1] if 0 < number <= len(self._repeat) else 0

    def read_one(self) -> bool:
        """Compare the contents of one file that was edited several times; return whether there was one.

        This takes up to 6 ms. Until then, `episodes` does not report that the file is back at its start.
        """
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
        if self._rereads.may_have_news:
            self._count_rereads()
        session, row = self._session, self._cycles.row
        failing = [*self._fixed, *(each for each in self._failures if each.tries >= LEAST_TRIES)]
        rows = [*self._green, *([row] if row is not None and row.cycles >= LEAST_CYCLES else [])]
        found = [
            *failures_and_cycles(session, failing, rows),
            *(reading(session, each) for each in self._rereads.episodes()),
            *(of_file(session, each, EpisodeKind.UNREAD) for each in self._unread),
            *(of_file(session, each, EpisodeKind.BACK) for each in self._back),
        ]
        return sorted(found, key=lambda each: (each.last, each.first))[-_MOST_KEPT:]

    def _add(self, call: Call) -> None:
        """Add a call that has ended."""
        number, kind, outcome = call.number, call.kind, call.outcome
        if self._started < number:
            self._start(call)
        if kind is ToolKind.EXECUTE:
            tried = self._run(call)
        else:
            tried = 1
            if outcome is Outcome.FAILED or self._failures:
                key = hash((kind, call.path)) if kind in _CHANGES else hash((kind, call.tool, call.target))
                has_failed = _HAS_FAILED.get(outcome)
                tried = self._try(call, key, has_failed)
            if kind in _CHANGES:
                self._change(call)
            elif kind is not ToolKind.READ:
                self._mentions.add(number)
            elif outcome is Outcome.SUCCEEDED and call.path:
                self._read(call, call.path)
        self._tries[number - 1] = tried
        self._cycle[number - 1] = self._cycles.count

    def _start(self, last: Call) -> None:
        """Add the calls up to this one in the order in which they have started."""
        if last.number > len(self._tries):
            more = last.number + _MORE_COUNTS - len(self._tries)
            for counts in (self._tries, self._cycle, self._reread, self._repeat):
                counts.frombytes(bytes(more * counts.itemsize))
        while self._started < last.number:
            call = last if self._started + 1 == last.number else self._session.calls[self._started]
            self._repeat[self._started] = self._repeats.add(call)
            self._started += 1

    def _run(self, call: Call) -> int:
        """Add a shell command; return the number of the try."""
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
        if is_red is not None:
            row = self._cycles.tested(call.number, key, is_red)
            if row is not None and row.cycles >= LEAST_CYCLES:
                self._green.append(row)
        if key is None:
            return 1
        has_failed: bool | None = None
        if is_red is not None:
            has_failed = is_red
        elif failed:
            has_failed = None if call.exit_code in (1, None) and finds_nothing(command) else True
        elif outcome is Outcome.SUCCEEDED and tests is None:
            has_failed = None if "|" in command or ";" in command else False
        return self._try(call, key, has_failed)

    def _try(self, call: Call, key: int, has_failed: bool | None) -> int:
        tried, fixed = self._failures.add(call, key, has_failed)
        if fixed is not None and tried >= LEAST_TRIES:
            self._fixed.append(fixed)
        return tried

    def _read(self, call: Call, path: str) -> None:
        file = self._files.of(call, path)
        file.know(call)
        first, times = file.read(call)
        self._reread[call.number - 1] = times
        if times > 1:
            self._rereads.add(call.number, first, times)

    def _change(self, call: Call) -> None:
        """Add a call that was meant to change files."""
        is_open = call.outcome not in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED)
        has_changed = call.outcome is Outcome.SUCCEEDED
        if has_changed:
            self._cycles.changed(call.number)
        for path in (call.path, *call.more_paths):
            if path and (is_open or has_changed):
                file = self._files.of(call, path)
                file.may_be_changed |= is_open
                if has_changed:
                    self._changed(call, file)

    def _changed(self, call: Call, file: File) -> None:
        """Add a call that has changed a file."""
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


def whole_episodes(feed: Feed) -> Sequence[Episode]:
    """Return the episodes of the session that a feed shows, after reading all of its calls."""
    found = Episodes(feed)
    while found.update() or found.read_one():
        pass
    return found.episodes()


def _is_edit_of_a_file(call: Call) -> bool:
    """Return whether a call has surely edited a file that existed: it has removed lines from it.

    Some agents do not report that a call created its file. A call with several files does not report which of
    them it created.
    """
    return call.kind is ToolKind.EDIT and bool(call.lines_removed) and not call.more_paths
