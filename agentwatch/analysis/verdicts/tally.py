"""What one tool reported in its closing lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from agentwatch.text.amounts import plural


class Counts(NamedTuple):
    """The numbers that a tool reported; 0 for what it does not count."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    warnings: int = 0

    @property
    def are_red(self) -> bool:
        """Whether anything failed."""
        return bool(self.failed or self.errors)


_NO_COUNTS = Counts()


class Noun(IntEnum):
    """What the counts of a tool count. If several tools closed, the greatest is the most informative."""

    BUILD = 0
    """A build, which counts nothing."""
    PROBLEMS = 1
    """Errors and warnings of a linter or a compiler, which do not count what passed."""
    PACKAGES = 2
    TESTS = 3


@dataclass(slots=True)
class Tally:
    """The result of one tool in one output."""

    tool: str
    noun: Noun
    counts: Counts = _NO_COUNTS
    failed_files: int = 0
    """Test files that failed as a whole. They are reported only if no test failed."""
    has_closed: bool = False
    """Whether a line was found that closes the output. Other lines only announce a number."""
    says_red: bool = False
    """Whether the tool says that it failed, whatever its counts are."""
    says_green: bool = False
    """Whether the tool says that it succeeded, without the number of tests that passed."""
    not_run: int = 0
    """Tests that a run which was cut short did not reach. With them, it is not green."""
    announced: int | None = None
    """The number of tests in a line that precedes the closing line."""

    @property
    def is_red(self) -> bool:
        """Whether anything failed."""
        return self.says_red or self.failed_files > 0 or self.counts.are_red

    @property
    def is_green(self) -> bool:
        """Whether something passed and nothing failed. A test run in which nothing passed is not green."""
        return not (self.is_red or self.not_run) and (self.says_green or self.counts.passed > 0)

    def add(self, counts: Counts) -> None:
        """Add the counts of a closing line to those of the lines before it."""
        self.has_closed = True
        self.counts = Counts._make(map(sum, zip(self.counts, counts, strict=True)))

    def replace(self, counts: Counts) -> None:
        """Take the counts of a closing line instead of those before it, unless only those are red."""
        self.has_closed = True
        if counts.are_red or not self.counts.are_red:
            self.counts = counts

    def words(self) -> str:
        """Return the result in few words, the worst first: `1 failed, 4 passed`, `no errors`."""
        counts, is_red = self.counts, self.is_red
        words = [f"{counts.failed} failed"] if counts.failed else []
        words += [plural(counts.errors, "error")] if counts.errors else []
        if self.failed_files and not words:
            words = [f"{plural(self.failed_files, 'file')} failed"]
        is_named = bool(words)
        words += [f"{counts.passed} passed"] if counts.passed else []
        if self.noun is Noun.PACKAGES and words:
            number, _, rest = words[0].partition(" ")
            words[0] = f"{plural(int(number), 'package')} {rest}"
        words += [f"{self.not_run} not run"] if self.not_run else []
        if is_red:
            words += [] if is_named else [f"{self.tool} failed"]
        elif not words:
            words = [self._words_without_passed()]
        return ", ".join(words)

    def _words_without_passed(self) -> str:
        if self.noun is Noun.BUILD:
            return "build succeeded"
        if self.noun is Noun.PROBLEMS:
            return plural(self.counts.warnings, "warning") if self.counts.warnings else "no errors"
        if self.says_green:
            return "tests passed"
        return f"{self.counts.skipped} skipped" if self.counts.skipped else "no tests ran"
