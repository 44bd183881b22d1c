"""The verdict on a command, by closing lines of public logs and of the tools themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import islice
from typing import NamedTuple

from agentwatch.analysis.shell import Part, decides_exit, only_reads, parts_of
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
        return bool(self.failed or self.errors)


_NO_COUNTS = Counts()


class Noun(IntEnum):
    """The objects that a tool counts. If several tools closed, the greatest is the most informative."""

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
        return self.says_red or self.failed_files > 0 or self.counts.are_red

    @property
    def is_green(self) -> bool:
        """Whether something passed and nothing failed. A test run in which nothing passed is not green."""
        return not (self.is_red or self.not_run) and (self.says_green or self.counts.passed > 0)

    def add(self, counts: Counts) -> None:
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
        words = [f"{counts.failed:,} failed"] if counts.failed else []
        words += [plural(counts.errors, "error")] if counts.errors else []
        if self.failed_files and not words:
            words = [f"{plural(self.failed_files, 'file')} failed"]
        is_named = bool(words)
        words += [f"{counts.passed:,} passed"] if counts.passed else []
        if self.noun is Noun.PACKAGES and words:
            number, _, rest = words[0].partition(" ")
            words[0] = f"{number} package{'' if number == '1' else 's'} {rest}"
        words += [f"{self.not_run:,} not run"] if self.not_run else []
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


# Rules: the pattern of a closing line, and how its numbers are read.

_PIECES = {"N": "([0-9]{1,9})", "S": "[0-9.]{1,12}", "_": "[ \t]{1,12}"}
_MARKED = re.compile("<([NS_])>")


class Rule(NamedTuple):
    """One closing line of one tool."""

    tool: str
    first: str
    """The characters with which the line may begin; `0` stands for any digit. A line is matched only with the
    rules of its first character: 40 patterns for each of 400 lines would take 5 ms."""
    source: str
    """The pattern, in which each repetition must be bounded. `<N>` is a group that matches a number, `<S>` a
    number of seconds, `<_>` blanks."""
    read: Callable[[Tally, re.Match[str]], None]
    """Adds what the line reports to the tally of the tool."""
    noun: Noun = Noun.TESTS

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(_MARKED.sub(lambda found: _PIECES[found[1]], self.source))


def listed(text: str) -> dict[str, int]:
    """Return the numbers of a list, by the words after them: `3 failed, 120 passed`; vitest writes `|`."""
    found: dict[str, int] = {}
    for piece in text.replace("|", ",").split(","):
        number, _, name = piece.strip().partition(" ")
        if number.isascii() and number.isdigit() and len(number) < 10:
            found[name] = found.get(name, 0) + int(number)
    return found


def named(text: str, separator: str, sign: str) -> dict[str, int]:
    """Return the numbers of a list, by the words before them: `failures=1, errors=2`."""
    found: dict[str, int] = {}
    for piece in text.split(separator):
        name, _, number = piece.partition(sign)
        number = number.strip()
        if number.isascii() and number.isdigit() and len(number) < 10:
            found[name.strip()] = int(number)
    return found


def _counts_of(found: dict[str, int]) -> Counts:
    """Return the counts of a list of test results."""
    return Counts(
        passed=found.get("passed", 0),
        failed=found.get("failed", 0),
        errors=found.get("error", 0) + found.get("errors", 0),
        skipped=found.get("skipped", 0),
    )


TYPE_ERROR = "error TS"
"""Part of each error of tsc; the pattern after it is searched only in lines that contain it."""
_TYPE_ERROR = re.compile(r"(?:^|\([0-9]{1,9},[0-9]{1,9}\): |:[0-9]{1,9} - )error TS[0-9]{1,6}: ")
SILENT = frozenset({"tsc", "eslint", "make"})
"""The tools that print no closing line if they succeed."""


def _found(tally: Tally, found: re.Match[str]) -> None:
    errors = int(found[1])
    tally.says_green |= not errors
    tally.counts = Counts(errors=errors) if errors else tally.counts
    tally.has_closed = True


def _says_green(tally: Tally, _: re.Match[str]) -> None:
    tally.says_green = tally.has_closed = True


def _eslint(tally: Tally, found: re.Match[str]) -> None:
    tally.says_green = True
    tally.replace(Counts(errors=int(found[1]), warnings=int(found[2])))


def _make(tally: Tally, found: re.Match[str]) -> None:
    if not found[1].endswith("(ignored)"):
        tally.says_red = tally.has_closed = True


_CHECK = Noun.PROBLEMS
CHECKER_RULES = (
    Rule(
        *("tsc", "F"),
        r"Found <N> errors?(?: in (?:[0-9]{1,9} files?\.|the same file, .{1,300}|\S{1,300}:[0-9]{1,9})"
        r"|\. Watching for file changes\.)$",
        *(_found, _CHECK),
    ),
    Rule("eslint", "✖", r"✖ [0-9]{1,9} problems? \(<N> errors?, <N> warnings?\)$", _eslint, _CHECK),
    Rule("ruff", "F", r"Found <N> errors?\.$", _found, _CHECK),
    Rule(
        *("ruff", "F"),
        r"Found [0-9]{1,9} errors? \([0-9]{1,9} fixed, <N> remaining\)\.$",
        *(_found, _CHECK),
    ),
    Rule("ruff", "A", "All checks passed!$", _says_green, _CHECK),
    Rule(
        *("mypy", "F"),
        r"Found <N> errors? in [0-9]{1,9} files? "
        r"\((?:checked [0-9]{1,9} source files?|errors prevented .{1,40})\)$",
        *(_found, _CHECK),
    ),
    Rule("mypy", "S", "Success: no issues found in [0-9]{1,9} source files?$", _says_green, _CHECK),
    Rule("make", "gm", r"(?:g|mingw32-)?make(?:\[[0-9]{1,4}\])?: \*\*\* (.{1,400})$", _make, Noun.BUILD),
)
"""One line of each form. `Found 2 errors.` is a line of ruff and of tsc; the command decides."""


MOST_CHARACTERS = 1 << 16
MOST_LINES = 400
_MOST_COLUMNS = 400
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|[ -/]{0,8}[0-Z\\-~])"
)
"""Control sequences, operating system commands (titles and links) and other escapes, by ECMA-48.

Each repetition is bounded, so one search costs at most a constant per character.
"""


def last_lines(output: str) -> list[str]:
    """Return the last lines of an output, each without escape sequences and surrounding blanks. A carriage
    return ends a line too, because progress bars redraw their line with it. Only its last 65,536 characters
    and its last 400 lines are read. A line is cut at 400 characters, and blank lines are left out."""
    tail = output[-MOST_CHARACTERS:].rstrip()
    if "\r" in tail:
        tail = tail.replace("\r\n", "\n").replace("\r", "\n")
    # Cut first, so that the escape sequences of earlier lines are not searched. The pieces are as long as
    # 4,000 characters here, because escape sequences do not count as columns.
    lines = tail.rsplit("\n", MOST_LINES)[-MOST_LINES:]
    if "\x1b" in tail:
        lines = [line[: 10 * _MOST_COLUMNS] for line in lines]
        lines = _ESCAPES.sub("", "\n".join(lines)).split("\n")
    elif max(map(len, lines)) > 10 * _MOST_COLUMNS:
        lines = [line[: 10 * _MOST_COLUMNS] for line in lines]
    found = [*filter(None, map(str.strip, lines))]
    if max(map(len, found), default=0) > _MOST_COLUMNS:
        found = [line[:_MOST_COLUMNS].rstrip() for line in found]
    return found


# Test runners.

_PYTEST_WORDS = frozenset(
    (
        *("passed", "failed", "error", "errors", "skipped", "deselected"),
        *("xfailed", "xpassed", "rerun", "subtests passed", "subtests failed"),
    )
)
_SUMMED = re.compile("([0-9]{1,9}) (passed|failed|timed out|exec failed|skipped)")


def _number(found: re.Match[str], group: int) -> int:
    return int(found[group] or 0)


def _pytest(tally: Tally, found: re.Match[str]) -> None:
    numbers = listed(found[1])
    if not _PYTEST_WORDS.isdisjoint(numbers):
        counts = _counts_of(numbers)
        tally.replace(counts._replace(failed=counts.failed + numbers.get("subtests failed", 0)))


def _nothing_ran(tally: Tally, _: re.Match[str]) -> None:
    tally.add(Counts())


def _unittest_ran(tally: Tally, found: re.Match[str]) -> None:
    tally.announced = int(found[1])


def _unittest(tally: Tally, found: re.Match[str]) -> None:
    words, details, ran = found[1], named(found[2] or "", ",", "="), tally.announced
    tally.announced = None
    if ran is None and not details and words != "NO TESTS RAN":
        return  # `OK` alone may be anything
    failed = details.get("failures", 0) + details.get("unexpected successes", 0)
    errors, skipped = details.get("errors", 0), details.get("skipped", 0)
    passed = 0 if ran is None else max(ran - failed - errors - skipped, 0)
    tally.says_red |= words == "FAILED"
    tally.says_green |= words == "OK" and ran is None
    tally.replace(Counts(passed, failed, errors, skipped))


def _list(tally: Tally, found: re.Match[str]) -> None:
    tally.add(_counts_of(listed(found[1])))


def _files(tally: Tally, found: re.Match[str]) -> None:
    tally.failed_files += listed(found[1]).get("failed", 0)
    tally.has_closed = True


def _says_red(tally: Tally, _: re.Match[str]) -> None:
    tally.says_red = tally.has_closed = True


def _mocha(tally: Tally, found: re.Match[str]) -> None:
    number, word = int(found[1]), found[2]
    if word == "pending":
        tally.counts = tally.counts._replace(skipped=tally.counts.skipped + number)
    else:
        tally.add(Counts(passed=number) if word == "passing" else Counts(failed=number))


def _node(tally: Tally, found: re.Match[str]) -> None:
    number, word = int(found[2]), found[1]
    if word in ("pass", "fail"):
        tally.add(Counts(passed=number) if word == "pass" else Counts(failed=number))
    elif word == "cancelled":
        tally.counts = tally.counts._replace(errors=tally.counts.errors + number)


def _go(tally: Tally, found: re.Match[str]) -> None:
    if found[1] == "ok":
        tally.add(Counts() if "[no tests to run]" in found[0] else Counts(passed=1))
    else:
        tally.add(Counts(failed=1) if found[1] == "FAIL" else Counts())


def _cargo(tally: Tally, found: re.Match[str]) -> None:
    tally.says_red |= found[1] == "FAILED"
    tally.add(Counts(int(found[2]), int(found[3]), skipped=int(found[4])))


def _nextest(tally: Tally, found: re.Match[str]) -> None:
    numbers = {word: int(number) for number, word in _SUMMED.findall(found[3])}
    failed = sum(numbers.get(word, 0) for word in ("failed", "timed out", "exec failed"))
    tally.not_run = max(_number(found, 2) - int(found[1]), 0)
    tally.replace(Counts(numbers.get("passed", 0), failed, skipped=numbers.get("skipped", 0)))


def _dotnet(tally: Tally, found: re.Match[str]) -> None:
    tally.says_red |= found[1] == "Failed"
    tally.add(Counts(failed=int(found[2]), passed=int(found[3]), skipped=int(found[4])))


def _maven(tally: Tally, found: re.Match[str]) -> None:
    ran, failed, errors, skipped = (int(found[group]) for group in range(1, 5))
    tally.replace(Counts(max(ran - failed - errors - skipped, 0), failed, errors, skipped))


def _gradle(tally: Tally, found: re.Match[str]) -> None:
    completed, failed, skipped = (_number(found, group) for group in range(1, 4))
    tally.noun = Noun.TESTS
    tally.add(Counts(max(completed - failed - skipped, 0), failed, skipped=skipped))


def _gradle_build(tally: Tally, found: re.Match[str]) -> None:
    tally.says_red |= found[1] == "FAILED"
    tally.says_green |= found[1] == "SUCCESSFUL"
    tally.has_closed = True


def _rspec(tally: Tally, found: re.Match[str]) -> None:
    examples, failed, pending, errors = (_number(found, group) for group in range(1, 5))
    tally.replace(Counts(max(examples - failed - pending, 0), failed, errors, pending))


def _phpunit(tally: Tally, found: re.Match[str]) -> None:
    details = named(found[2], ",", ":")
    failed = details.get("Failures", 0)
    errors = details.get("Errors", 0) + details.get("PHPUnit Errors", 0)
    skipped = details.get("Skipped", 0) + details.get("Incomplete", 0)
    tally.replace(Counts(max(int(found[1]) - failed - errors - skipped, 0), failed, errors, skipped))


def _ctest(tally: Tally, found: re.Match[str]) -> None:
    failed, ran = int(found[1]), int(found[2])
    tally.replace(Counts(max(ran - failed, 0), failed))


_LIST = "[0-9]{1,9} [a-z]{1,12}(?: [a-z]{1,12})?(?:, [0-9]{1,9} [a-z]{1,12}(?: [a-z]{1,12})?){0,11}"
_BARS = "[0-9]{1,9} [a-z]{1,12}(?: \\| [0-9]{1,9} [a-z]{1,12}){0,7}"
_TOOK = r" in <S> ?s(?:econds)?(?: \([0-9:]{1,12}\))? ?={0,200}$"
_LEVEL = r"(?:\[[A-Z]{1,8}\] )?"

RUNNER_RULES = (
    Rule("pytest", "=0", f"={{0,200}} ?({_LIST}){_TOOK}", _pytest),
    Rule("pytest", "=n", f"={{0,200}} ?no tests ran{_TOOK}", _nothing_ran),
    Rule("unittest", "R", "Ran <N> tests? in <S>s$", _unittest_ran),
    Rule(
        *("unittest", "OFN"),
        r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z ]{1,24}=[0-9]{1,9}(?:, [a-z ]{1,24}=[0-9]{1,9}){0,5})\))?$",
        _unittest,
    ),
    Rule("jest", "T", f"Tests:<_>({_LIST})$", _list),
    Rule("jest", "T", f"Test Suites:<_>({_LIST})$", _files),
    Rule("vitest", "T", rf"Tests<_>({_BARS})(?: \(<N>\))?$", _list),
    Rule("vitest", "T", "Tests<_>no tests$", _nothing_ran),
    Rule("vitest", "T", rf"Test Files<_>({_BARS})(?: \(<N>\))?$", _files),
    Rule(
        "vitest", "E", "Errors<_><N> errors?$", lambda tally, found: tally.add(Counts(errors=int(found[1])))
    ),
    Rule("vitest", "⎯", "⎯{1,200} ?Unhandled (?:Errors|Rejections?) ?⎯{1,200}$", _says_red),
    Rule("mocha", "0", r"<N> (passing|failing|pending)(?: \([0-9.]{1,12} ?[a-z]{1,3}\))?$", _mocha),
    Rule("node", "#ℹ", "[#ℹ] (pass|fail|cancelled) {1,4}<N>$", _node),
    Rule("go", "o", r"(ok)<_>\S{1,300}<_>(?:\(cached\)|<S>s)(?:<_>.{0,200})?$", _go, Noun.PACKAGES),
    Rule("go", "F", r"(FAIL)<_>\S{1,300}<_>(?:\(cached\)|<S>s|\[[a-z]{1,8} failed\])$", _go, Noun.PACKAGES),
    Rule("go", "?", r"(\?)<_>\S{1,300}<_>\[no test files\]$", _go, Noun.PACKAGES),
    Rule("cargo", "t", r"test result: (ok|FAILED)\. <N> passed; <N> failed; <N> ignored", _cargo),
    Rule("nextest", "S", r"Summary \[ {0,12}<S>s\] <N>(?:/<N>)? tests? run: (.{1,300})$", _nextest),
    Rule(
        *("dotnet", "PFS"),
        "(Passed|Failed|Skipped)!<_>-<_>Failed:<_><N>, Passed:<_><N>, Skipped:<_><N>, Total:",
        _dotnet,
    ),
    Rule("maven", "[T", f"{_LEVEL}Tests run: <N>, Failures: <N>, Errors: <N>, Skipped: <N>$", _maven),
    Rule("maven", "[B", f"{_LEVEL}BUILD FAILURE$", _says_red),
    Rule("gradle", "0", "<N> tests? completed(?:, <N> failed)?(?:, <N> skipped)?$", _gradle, Noun.BUILD),
    Rule("gradle", "B", "BUILD (SUCCESSFUL|FAILED) in ", _gradle_build, Noun.BUILD),
    Rule(
        *("rspec", "0"),
        "<N> examples?, <N> failures?(?:, <N> pending)?(?:, <N> errors? occurred outside of examples)?$",
        _rspec,
    ),
    Rule(
        "phpunit",
        "O",
        r"OK \(<N> tests?, <N> assertions?\)$",
        lambda tally, found: tally.replace(Counts(passed=int(found[1]))),
    ),
    Rule("phpunit", "T", r"Tests: <N>, Assertions: [0-9]{1,9}(.{0,300})\.$", _phpunit),
    Rule("phpunit", "N", "No tests executed!$", _nothing_ran),
    Rule("ctest", "0", "[0-9]{1,3}% tests passed, <N> tests? failed out of <N>$", _ctest),
    Rule("ctest", "N", "No tests were found!!!$", _nothing_ran),
)
"""One line of each form. The order does not matter."""
TOOLS = frozenset(each.tool for each in RUNNER_RULES)


class Source(StrEnum):
    """How a verdict is known."""

    PATTERN = "pattern"
    """By the closing line of the tool."""
    EXIT = "exit"
    """By the exit code of the command."""


class Verdict(NamedTuple):
    """The result of the tests, linters or build that a command ran. A verdict may be neither red nor green: a
    test run in which nothing failed and nothing passed."""

    tool: str
    is_red: bool
    is_green: bool
    source: Source
    counts: Counts
    """The numbers of this tool. Those of several tools are not added up."""
    words: str
    """The result in few words: `17 passed`; `1 failed, 4 passed`; `no tests ran`."""

    @property
    def colour(self) -> str:
        """The verdict in one word: `red`, `green`; `none` if nothing ran."""
        return "red" if self.is_red else "green" if self.is_green else "none"

    @property
    def words_and_source(self) -> str:
        """The words and how they are known: `17 passed (pattern)`. `17 passed, exit 1` says it itself."""
        is_said = self.is_red and self.source is Source.EXIT
        return self.words if is_said else f"{self.words} ({self.source})"

    @property
    def is_of_tests(self) -> bool:
        """Whether the tool runs tests; the others are linters, compilers and make."""
        return self.tool in TOOLS


_RULES: dict[str, tuple[Rule, ...]] = {}
for _each in (*RUNNER_RULES, *CHECKER_RULES):
    for _first in _each.first.replace("0", "0123456789"):
        _RULES[_first] = (*_RULES.get(_first, ()), _each)
_Matcher = tuple[Callable[[str], re.Match[str] | None], Rule]
_MATCHERS: dict[str, tuple[_Matcher, ...]] = {}
"""The rules with their compiled patterns, by the first character of a line: compiling all takes 5 ms."""


def verdict(command: str, output: str | Sequence[str], exit_code: int | None) -> Verdict | None:
    """Return the verdict on a command; None if it ran no tool with a known closing line.

    A closing line counts before the exit code: `pytest | tail -3` exits with the code of `tail`. A green line
    with an exit code other than 0 is red: the coverage may be too low. Without a line, an exit code of 0 is
    green only for tools that print nothing if they succeed: tsc, eslint and make.

    The cost is bounded, whatever the output contains: under 2 ms. Only the first 2,000 characters of the
    command are read. Only the last 65,536 characters and 400 lines of each output are read.

    Example:
        >>> found = verdict("pytest -q | tail -1", "1 failed, 4 passed in 0.31s", 0)
        >>> found.is_red, found.words, str(found.source)
        (True, '1 failed, 4 passed', 'pattern')
    """
    parts = parts_of(command)
    if only_reads(parts):
        return None
    outputs = (output,) if isinstance(output, str) else output
    tallies = [tally for text in outputs for tally in _tallies(last_lines(text), parts)]
    if not tallies:
        return _by_exit(parts, exit_code)
    shown = max(tallies, key=lambda tally: (tally.is_red, tally.is_green, tally.noun))
    words, source, is_red = shown.words(), Source.PATTERN, shown.is_red
    if exit_code and not is_red:
        words, source, is_red = f"{words}, exit {exit_code}", Source.EXIT, True
    return Verdict(shown.tool, is_red, shown.is_green and not is_red, source, shown.counts, words)


def _compile(first: str) -> tuple[_Matcher, ...]:
    matchers = tuple((rule.pattern.match, rule) for rule in _RULES.get(first, ()))
    if matchers or first.isascii():
        _MATCHERS[first] = matchers
    return matchers


def _tallies(lines: list[str], parts: Sequence[Part]) -> list[Tally]:
    """Return the result of each tool that closed its output, the last tool first."""
    tallies: dict[str, Tally] = {}
    matchers_of, may_be_type_error = _MATCHERS.get, TYPE_ERROR in "\n".join(lines)
    for line in lines:
        matchers = matchers_of(line[0])
        if matchers is None:
            matchers = _compile(line[0])
        if not matchers and not may_be_type_error:
            continue
        for match, rule in matchers:
            if (found := match(line)) is not None:
                tool = _tied(rule.tool, line, tallies, parts)
                tally = tallies.pop(tool, None) or Tally(tool, rule.noun)
                tallies[tool] = tally
                rule.read(tally, found)
                break
        if may_be_type_error and TYPE_ERROR in line and _TYPE_ERROR.search(line):
            tallies.setdefault("tsc", Tally("tsc", Noun.PROBLEMS)).add(Counts(errors=1))
    return [tally for tally in reversed(tallies.values()) if tally.has_closed]


def _tied(tool: str, line: str, tallies: dict[str, Tally], parts: Sequence[Part]) -> str:
    """Return the tool that wrote a line: `Found 2 errors.` is written by ruff and by tsc."""
    if tool != "ruff" or not line.endswith(("error.", "errors.")):
        return tool
    programs = {part.program for part in parts}
    is_tsc = "ruff" not in programs and ("tsc" in tallies or not programs.isdisjoint({"tsc", "vue-tsc"}))
    return "tsc" if is_tsc else tool


def _by_exit(parts: Sequence[Part], exit_code: int | None) -> Verdict | None:
    tool = decides_exit(parts, SILENT) if exit_code == 0 else None
    if tool is None:
        return None
    words = "make succeeded" if tool == "make" else "no errors"
    return Verdict(tool, False, True, Source.EXIT, Counts(), words)


_FAILING = re.compile(
    r"^(?:E   |FAILED\b|FAIL\b|FAIL:|ERROR\b|\s*--- FAIL|\s*not ok\b|\s*[✗✕×✖✘]\s|npm ERR!)"
    r"|[Ee]rror(?:\[\w|:| TS\d)|AssertionError|panicked at|Traceback \(most recent call last\)"
)
"""Lines that name a failure, as written by pytest, unittest, go, jest, vitest, TAP, cargo, tsc and npm, and
any `error:`."""
_PLACE = re.compile(
    r'File "(?P<file>[^"]{1,400}+)", line (?P<number>\d{1,7})'
    r"|(?<![^\s\"'(\[<=])(?P<path>(?:[A-Za-z]:[\\/])?[^\s\"'()\[\]<>:,;]{1,400}+)"
    r"(?:::|:(?P<line>\d{1,7})|\((?P<at>\d{1,7}))?"
)
"""A file and its line as Python, pytest, go, cargo, jest and tsc write them. No word is read twice."""
_MOST_SEARCHED = 1_000
"""Characters of a line that are searched."""
_NEAR = 40
"""The lines before and after a failing line among which its file is searched."""
_MOST_FAILING = 20
_MOST_FILES = 50


class FileLine(NamedTuple):
    """A file as an output names it."""

    path: str
    """Foreign text."""
    line: int | None = None
    """The number of the line, from 1; None if the output does not name it."""


def is_failing(line: str) -> bool:
    """Return whether a line names a failure."""
    return _FAILING.search(line[:_MOST_SEARCHED]) is not None


def files_near(lines: Sequence[str], at: int) -> list[FileLine]:
    """Return the files that a failing line is about, the most likely first. These are the files in the line
    itself, then those in the nearest lines. A traceback begins with its outermost call: the last of its files
    comes first."""
    before, after = range(max(at - _NEAR, 0), at), range(at + 1, min(at + _NEAR, len(lines)))
    if lines[at].startswith("Traceback "):
        end = next((each for each in after if not lines[each].startswith(" ")), after.stop)
        order = [*range(end - 1, at, -1)]
    elif before and lines[at - 1].startswith("  ") and lines[at][:1].isalpha() and lines[at][1:2] != " ":
        order = [at, *reversed(before), *after]  # the last line of a traceback
    else:
        order = sorted((at, *after, *before), key=lambda each: (abs(each - at), each < at))
    found = (file for each in order for file in _files_in(lines[each]))
    return [*dict.fromkeys(islice(found, _MOST_FILES))]


def failing_files(text: str) -> list[FileLine]:
    """Return the files that the first failing lines of an output are about, the most likely first."""
    lines = text.split("\n")
    failing = (at for at, line in enumerate(lines) if is_failing(line))
    found = (file for at in islice(failing, _MOST_FAILING) for file in files_near(lines, at))
    return [*dict.fromkeys(found)]


def _files_in(line: str) -> Iterator[FileLine]:
    for found in _PLACE.finditer(line[:_MOST_SEARCHED]):
        path = found["file"] or found["path"]
        is_number = path[0].isdecimal() and "/" not in path  # `0.31s`, `2.5`
        if not is_number and ("." in path.strip(".") or "/" in path.strip("/")):
            number = found["number"] or found["line"] or found["at"]
            yield FileLine(path, int(number) if number else None)
