"""The closing lines of test runners.

Each pattern was checked against lines of public logs and of the tools themselves.
"""

from __future__ import annotations

import re

from agentwatch.analysis.verdicts.rules import counts_of, listed, named, rule
from agentwatch.analysis.verdicts.tally import Counts, Noun, Tally

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
    numbers = listed(found[1], ",")
    if not _PYTEST_WORDS.isdisjoint(numbers):
        counts = counts_of(numbers)
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


def _jest(tally: Tally, found: re.Match[str]) -> None:
    tally.add(counts_of(listed(found[1], ",")))


def _jest_files(tally: Tally, found: re.Match[str]) -> None:
    tally.failed_files += listed(found[1], ",").get("failed", 0)
    tally.has_closed = True


def _vitest(tally: Tally, found: re.Match[str]) -> None:
    tally.add(counts_of(listed(found[1], "|")))


def _vitest_files(tally: Tally, found: re.Match[str]) -> None:
    tally.failed_files += listed(found[1], "|").get("failed", 0)
    tally.has_closed = True


def _errors(tally: Tally, found: re.Match[str]) -> None:
    tally.add(Counts(errors=int(found[1])))


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
    numbers: dict[str, int] = {}
    for number, word in _SUMMED.findall(found[3]):
        numbers[word] = int(number)
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


def _phpunit_ok(tally: Tally, found: re.Match[str]) -> None:
    tally.replace(Counts(passed=int(found[1])))


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

RULES = (
    rule("pytest", "=0", f"={{0,200}} ?({_LIST}){_TOOK}", _pytest),
    rule("pytest", "=n", f"={{0,200}} ?no tests ran{_TOOK}", _nothing_ran),
    rule("unittest", "R", "Ran <N> tests? in <S>s$", _unittest_ran),
    rule(
        *("unittest", "OFN"),
        r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z ]{1,24}=[0-9]{1,9}(?:, [a-z ]{1,24}=[0-9]{1,9}){0,5})\))?$",
        _unittest,
    ),
    rule("jest", "T", f"Tests:<_>({_LIST})$", _jest),
    rule("jest", "T", f"Test Suites:<_>({_LIST})$", _jest_files),
    rule("vitest", "T", rf"Tests<_>({_BARS})(?: \(<N>\))?$", _vitest),
    rule("vitest", "T", "Tests<_>no tests$", _nothing_ran),
    rule("vitest", "T", rf"Test Files<_>({_BARS})(?: \(<N>\))?$", _vitest_files),
    rule("vitest", "E", "Errors<_><N> errors?$", _errors),
    rule("vitest", "⎯", "⎯{1,200} ?Unhandled (?:Errors|Rejections?) ?⎯{1,200}$", _says_red),
    rule("mocha", "0", r"<N> (passing|failing|pending)(?: \([0-9.]{1,12} ?[a-z]{1,3}\))?$", _mocha),
    rule("node", "#ℹ", "[#ℹ] (pass|fail|cancelled) {1,4}<N>$", _node),
    rule("go", "o", r"(ok)<_>\S{1,300}<_>(?:\(cached\)|<S>s)(?:<_>.{0,200})?$", _go, Noun.PACKAGES),
    rule("go", "F", r"(FAIL)<_>\S{1,300}<_>(?:\(cached\)|<S>s|\[[a-z]{1,8} failed\])$", _go, Noun.PACKAGES),
    rule("go", "?", r"(\?)<_>\S{1,300}<_>\[no test files\]$", _go, Noun.PACKAGES),
    rule("cargo", "t", r"test result: (ok|FAILED)\. <N> passed; <N> failed; <N> ignored", _cargo),
    rule("nextest", "S", r"Summary \[ {0,12}<S>s\] <N>(?:/<N>)? tests? run: (.{1,300})$", _nextest),
    rule(
        *("dotnet", "PFS"),
        "(Passed|Failed|Skipped)!<_>-<_>Failed:<_><N>, Passed:<_><N>, Skipped:<_><N>, Total:",
        _dotnet,
    ),
    rule("maven", "[T", f"{_LEVEL}Tests run: <N>, Failures: <N>, Errors: <N>, Skipped: <N>$", _maven),
    rule("maven", "[B", f"{_LEVEL}BUILD FAILURE$", _says_red),
    rule("gradle", "0", "<N> tests? completed(?:, <N> failed)?(?:, <N> skipped)?$", _gradle, Noun.BUILD),
    rule("gradle", "B", "BUILD (SUCCESSFUL|FAILED) in ", _gradle_build, Noun.BUILD),
    rule(
        *("rspec", "0"),
        "<N> examples?, <N> failures?(?:, <N> pending)?(?:, <N> errors? occurred outside of examples)?$",
        _rspec,
    ),
    rule("phpunit", "O", r"OK \(<N> tests?, <N> assertions?\)$", _phpunit_ok),
    rule("phpunit", "T", r"Tests: <N>, Assertions: [0-9]{1,9}(.{0,300})\.$", _phpunit),
    rule("phpunit", "N", "No tests executed!$", _nothing_ran),
    rule("ctest", "0", "[0-9]{1,3}% tests passed, <N> tests? failed out of <N>$", _ctest),
    rule("ctest", "N", "No tests were found!!!$", _nothing_ran),
)
"""One line of each form. The order does not matter."""
TOOLS = frozenset(each.tool for each in RULES)
