"""Outputs of tools, from real logs, and the verdicts that they mean."""

from typing import NamedTuple

from agentwatch.analysis.verdicts import Verdict

RED, GREEN, NEITHER = "red", "green", "neither"


class Line(NamedTuple):
    """One output of a tool, and what is read in it."""

    tool: str
    case: str
    output: str
    colour: str
    words: str
    exit_code: int
    """The exit code of the tool itself."""

    @property
    def id(self) -> str:
        """The name of the line in a report of the tests."""
        return f"{self.tool}: {self.case}"


def colour(found: Verdict) -> str:
    """Return the colour of a verdict, which has one."""
    assert not (found.is_red and found.is_green)
    return RED if found.is_red else GREEN if found.is_green else NEITHER


def of(tool: str, *cases: tuple[str, str, str, str, int]) -> list[Line]:
    """Return the lines of a tool."""
    return [Line(tool, *case) for case in cases]


CHECKERS = [
    *of(
        "tsc",
        ("plain", "t.ts(1,7): error TS2322: Type 'a' is not assignable", RED, "1 error", 2),
        (
            "pretty, several files",
            "a.ts:1:7 - error TS2322: x\nb.ts:1:7 - error TS1: y\n\nFound 2 errors in 2 files.",
            *(RED, "2 errors", 2),
        ),
        ("pretty, one error", "Found 1 error in t.ts:1", RED, "1 error", 2),
        (
            "pretty, the same file",
            "Found 2 errors in the same file, starting at: t.ts:1",
            *(RED, "2 errors", 2),
        ),
        ("without a file", "error TS18003: No inputs were found in config file.", RED, "1 error", 2),
    ),
    *of(
        "eslint",
        ("error", "✖ 1 problem (1 error, 0 warnings)", RED, "1 error", 1),
        ("only warnings", "✖ 2 problems (0 errors, 2 warnings)", GREEN, "2 warnings", 0),
    ),
    *of(
        "ruff",
        ("found", "Found 2 errors.", RED, "2 errors", 1),
        ("all fixed", "Found 3 errors (3 fixed, 0 remaining).", GREEN, "no errors", 0),
        ("some fixed", "Found 3 errors (2 fixed, 1 remaining).", RED, "1 error", 1),
        ("passed", "All checks passed!", GREEN, "no errors", 0),
    ),
    *of(
        "mypy",
        ("found", "Found 2 errors in 1 file (checked 3 source files)", RED, "2 errors", 1),
        ("blocked", "Found 1 error in 1 file (errors prevented further checking)", RED, "1 error", 2),
        ("Success", "Success: no issues found in 12 source files", GREEN, "no errors", 0),
    ),
    *of(
        "make",
        ("a recipe failed", "make: *** [Makefile:2: all] Error 1", RED, "make failed", 2),
        ("no rule", "make[2]: *** No rule to make target 'x'.  Stop.", RED, "make failed", 2),
    ),
]
"""What tsc, eslint and make print in green is nothing."""


_CARGO = "test result: {}. {} passed; {} failed; 88 ignored; 0 measured; 0 filtered out; finished in 0.01s"
_DOTNET = "{}!  - Failed:{:6}, Passed:{:6}, Skipped:     0, Total:{:6}, Duration: 39 s - X.dll (net8.0)"
_MAVEN = "[INFO] Tests run: {}, Failures: {}, Errors: {}, Skipped: 0"

TABLE = [
    *of(
        "pytest",
        ("failed and passed", "1 failed, 1 passed in 0.08s", RED, "1 failed, 1 passed", 1),
        (
            "long form",
            "== 3 failed, 120 passed, 2 skipped, 1 warning in 75.31s (0:01:15) ==",
            *(RED, "3 failed, 120 passed", 1),
        ),
        ("passed", "========= 17 passed in 0.31 seconds =========", GREEN, "17 passed", 0),
        ("passed with skipped", "== 120 passed, 2 skipped, 1 xfailed in 7.31s ==", GREEN, "120 passed", 0),
        ("error in collection", "!! Interrupted !!\n1 error in 0.12s", RED, "1 error", 2),
        ("nothing passed, deselected", "2 deselected in 0.01s", NEITHER, "no tests ran", 0),
        ("nothing passed, skipped", "5 skipped in 0.01s", NEITHER, "5 skipped", 0),
        ("nothing passed, expected failures", "1 xfailed in 0.01s", NEITHER, "no tests ran", 0),
        ("no tests ran", "no tests ran in 0.01s", NEITHER, "no tests ran", 0),
        ("subtests failed", "2 subtests failed, 1 passed in 0.1s", RED, "2 failed, 1 passed", 1),
    ),
    *of(
        "unittest",
        (
            "failures and errors",
            "Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
            *(RED, "1 failed, 1 error, 2 passed", 1),
        ),
        ("only the last line", "FAILED (failures=1)", RED, "1 failed", 1),
        ("OK with skipped", "Ran 5 tests in 0.001s\n\nOK (skipped=2)", GREEN, "3 passed", 0),
        ("OK", "Ran 5 tests in 0.001s\n\nOK", GREEN, "5 passed", 0),
        ("only OK with skipped", "OK (skipped=2)", GREEN, "tests passed", 0),
        ("NO TESTS RAN", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", NEITHER, "no tests ran", 0),
        ("nothing passed", "Ran 0 tests in 0.000s\n\nOK", NEITHER, "no tests ran", 0),
        ("all skipped", "Ran 2 tests in 0.000s\n\nOK (skipped=2)", NEITHER, "2 skipped", 0),
    ),
    *of(
        "jest",
        ("failed", "Tests:       4 failed, 1866 passed, 1870 total", *(RED, "4 failed, 1,866 passed", 1)),
        (
            "passed",
            "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 7 passed, 8 total",
            *(GREEN, "7 passed", 0),
        ),
        (
            "a suite cannot load",
            "Test Suites: 1 failed, 1 total\nTests:       0 total",
            *(RED, "1 file failed", 1),
        ),
        (
            "a suite cannot load, others pass",
            "Test Suites: 1 failed, 2 passed, 3 total\nTests:       7 passed, 7 total",
            *(RED, "1 file failed, 7 passed", 1),
        ),
        ("nothing passed", "Tests:       3 skipped, 3 total", NEITHER, "3 skipped", 0),
    ),
    *of(
        "vitest",
        (
            "failed",
            " Test Files  2 failed (2)\n      Tests  4 failed | 16 passed (20)",
            *(RED, "4 failed, 16 passed", 1),
        ),
        ("all failed", "Tests  3 failed (3)", RED, "3 failed", 1),
        ("passed", " Test Files  3 passed (3)\n      Tests  16 passed (16)", GREEN, "16 passed", 0),
        (
            "a file cannot load",
            " Test Files  1 failed (1)\n      Tests  no tests",
            *(RED, "1 file failed", 1),
        ),
        (
            "Unhandled Errors, counted",
            "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n      Tests  16 passed (16)\n     Errors  1 error",
            *(RED, "1 error, 16 passed", 1),
        ),
        (
            "Unhandled Errors",
            "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n      Tests  16 passed (16)",
            *(RED, "16 passed, vitest failed", 1),
        ),
        ("nothing passed", "      Tests  2 skipped (2)", NEITHER, "2 skipped", 0),
    ),
    *of(
        "mocha",
        ("passing", "  1 passing (3ms)", GREEN, "1 passed", 0),
        ("failing", "  3 passing (12ms)\n  2 pending\n  1 failing", RED, "1 failed, 3 passed", 1),
        ("nothing passed", "  0 passing (1ms)\n  2 pending", NEITHER, "2 skipped", 0),
    ),
    *of(
        "node",
        (
            "TAP, fail",
            "# tests 2\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0",
            *(RED, "1 failed, 1 passed", 1),
        ),
        ("TAP, pass", "# tests 2\n# pass 2\n# fail 0\n# cancelled 0", GREEN, "2 passed", 0),
        ("spec, cancelled", "ℹ pass 2\nℹ fail 0\nℹ cancelled 1", RED, "1 error, 2 passed", 1),
        ("spec, pass", "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ cancelled 0", GREEN, "2 passed", 0),
        ("nothing passed", "# tests 0\n# pass 0\n# fail 0", NEITHER, "no tests ran", 0),
    ),
    *of(
        "go",
        (
            "several packages",
            "ok  \tgithub.com/a/b\t0.012s\nok  \tgithub.com/a/c\t(cached)",
            *(GREEN, "2 packages passed", 0),
        ),
        (
            "coverage",
            "ok  \tgithub.com/a/b\t0.012s\tcoverage: 81.2% of statements",
            *(GREEN, "1 package passed", 0),
        ),
        (
            "build failed",
            "ok  \ta/b\t0.012s\nFAIL\tx [build failed]\nFAIL",
            *(RED, "1 package failed, 1 passed", 1),
        ),
        ("FAIL", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta/b\t0.012s\nFAIL", RED, "1 package failed", 1),
        ("no test files", "?   \tx\t[no test files]", NEITHER, "no tests ran", 0),
        ("no tests to run", "ok  \tx\t0.01s [no tests to run]", NEITHER, "no tests ran", 0),
    ),
    *of(
        "cargo",
        ("FAILED", _CARGO.format("FAILED", 11238, 4), RED, "4 failed, 11,238 passed", 101),
        (
            "several binaries add up",
            "\n".join(_CARGO.format("ok", passed, 0) for passed in (3, 0, 5)),
            *(GREEN, "8 passed", 0),
        ),
        (
            "stops at the first bad binary",
            _CARGO.format("ok", 3, 0) + "\n" + _CARGO.format("FAILED", 1, 2),
            *(RED, "2 failed, 4 passed", 101),
        ),
        ("nothing passed", _CARGO.format("ok", 0, 0), NEITHER, "88 skipped", 0),
    ),
    *of(
        "nextest",
        (
            "failed",
            "     Summary [   0.008s] 2 tests run: 1 passed, 1 failed, 0 skipped",
            *(RED, "1 failed, 1 passed", 100),
        ),
        (
            "cut short, timed out",
            "Summary [ 0.008s] 3/12 tests run: 2 passed (1 slow), 1 timed out",
            *(RED, "1 failed, 2 passed, 9 not run", 100),
        ),
        (
            "cut short",
            "Summary [ 0.008s] 3/12 tests run: 3 passed, 0 skipped",
            *(NEITHER, "3 passed, 9 not run", 0),
        ),
        ("passed", "Summary [ 0.008s] 1 test run: 1 passed, 0 skipped", GREEN, "1 passed", 0),
        ("nothing passed", "Summary [ 0.000s] 0 tests run: 0 passed, 8 skipped", NEITHER, "8 skipped", 0),
    ),
    *of(
        "dotnet",
        ("Failed!", _DOTNET.format("Failed", 4, 30, 34), RED, "4 failed, 30 passed", 1),
        (
            "Passed! of several assemblies",
            _DOTNET.format("Passed", 0, 3, 3) + "\n" + _DOTNET.format("Passed", 0, 30, 30),
            *(GREEN, "33 passed", 0),
        ),
        (
            "Failed! of one of two",
            _DOTNET.format("Failed", 1, 3, 4) + "\n" + _DOTNET.format("Passed", 0, 30, 30),
            *(RED, "1 failed, 33 passed", 1),
        ),
    ),
    *of(
        "maven",
        ("BUILD SUCCESS", _MAVEN.format(15, 0, 0) + "\n[INFO] BUILD SUCCESS", GREEN, "15 passed", 0),
        (
            "the line without Time elapsed",
            _MAVEN.format(4, 0, 0) + ", Time elapsed: 0.1 s\n" + _MAVEN.format(15, 0, 0),
            *(GREEN, "15 passed", 0),
        ),
        (
            "failures and errors",
            "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0",
            *(RED, "1 failed, 1 error, 2 passed", 1),
        ),
        (
            "BUILD FAILURE",
            _MAVEN.format(15, 0, 0) + "\n[INFO] BUILD FAILURE",
            *(RED, "15 passed, maven failed", 1),
        ),
        ("only BUILD FAILURE", "[INFO] BUILD FAILURE", RED, "maven failed", 1),
        ("nothing passed", _MAVEN.format(0, 0, 0), NEITHER, "no tests ran", 0),
    ),
    *of(
        "gradle",
        ("failed", "9 tests completed, 1 failed, 8 skipped\nBUILD FAILED in 3s", RED, "1 failed", 1),
        ("BUILD FAILED", "BUILD FAILED in 3s", RED, "gradle failed", 1),
        ("BUILD SUCCESSFUL, no count", "BUILD SUCCESSFUL in 3s", GREEN, "build succeeded", 0),
    ),
    *of(
        "rspec",
        ("failure and pending", "3 examples, 1 failure, 1 pending", RED, "1 failed, 1 passed", 1),
        ("no failures", "1 example, 0 failures", GREEN, "1 passed", 0),
        (
            "errors outside",
            "0 examples, 0 failures, 1 error occurred outside of examples",
            *(RED, "1 error", 1),
        ),
        ("nothing passed", "0 examples, 0 failures", NEITHER, "no tests ran", 0),
    ),
    *of(
        "phpunit",
        ("OK", "OK (12 tests, 24 assertions)", GREEN, "12 passed", 0),
        ("Failures", "FAILURES!\nTests: 12, Assertions: 12, Failures: 12.", RED, "12 failed", 1),
        ("Errors", "ERRORS!\nTests: 3, Assertions: 2, Errors: 1.", RED, "1 error, 2 passed", 2),
        (
            "warnings are not red",
            "OK, but there were issues!\nTests: 12, Assertions: 47, PHPUnit Warnings: 1, Skipped: 2.",
            *(GREEN, "10 passed", 0),
        ),
        ("No tests executed", "No tests executed!", NEITHER, "no tests ran", 0),
    ),
    *of(
        "ctest",
        ("passed", "100% tests passed, 0 tests failed out of 27", GREEN, "27 passed", 0),
        ("failed", "96% tests passed, 1 tests failed out of 27", RED, "1 failed, 26 passed", 8),
        ("none found", "No tests were found!!!", NEITHER, "no tests ran", 0),
    ),
    *CHECKERS,
]
"""Each line of the table has an output that is red and one that is green; a run in which nothing passed is
neither."""
SILENT = ("tsc", "eslint", "make")
TOOLS = (
    *("pytest", "unittest", "jest", "vitest", "mocha", "node", "go", "cargo", "nextest", "dotnet", "maven"),
    *("gradle", "rspec", "phpunit", "ctest", "tsc", "eslint", "ruff", "mypy", "make"),
)
"""The tools, in the order of the table in the documentation."""
