"""A verdict is read from the closing line of a tool; the exit code comes second."""

from __future__ import annotations

import pytest

from agentwatch.analysis.verdicts import Counts, Source, verdict

RED, GREEN, NEITHER = "red", "green", "neither"
CARGO = "test result: {}. {} passed; {} failed; 88 ignored; 0 measured; 0 filtered out; finished in 0.01s"
DOTNET = "{}!  - Failed:     {}, Passed:    {}, Skipped:     0, Total:    34, Duration: 39 s - X.dll (net8.0)"
MAVEN = "[INFO] Tests run: {}, Failures: {}, Errors: 0, Skipped: 0"

CLOSING_LINES = [
    ("pytest", "1 failed, 1 passed in 0.08s", RED, "1 failed, 1 passed"),
    (
        "pytest",
        "== 3 failed, 120 passed, 2 skipped, 1 warning in 75.31s (0:01:15) ==",
        RED,
        "3 failed, 120 passed",
    ),
    ("pytest", "========= 17 passed in 0.31 seconds =========", GREEN, "17 passed"),
    ("pytest", "1 error in 0.12s", RED, "1 error"),
    ("pytest", "2 deselected in 0.01s", NEITHER, "no tests ran"),
    ("pytest", "5 skipped in 0.01s", NEITHER, "5 skipped"),
    ("pytest", "no tests ran in 0.01s", NEITHER, "no tests ran"),
    (
        "unittest",
        "Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
        RED,
        "1 failed, 1 error, 2 passed",
    ),
    ("unittest", "FAILED (failures=1)", RED, "1 failed"),
    ("unittest", "Ran 5 tests in 0.001s\n\nOK (skipped=2)", GREEN, "3 passed"),
    ("unittest", "Ran 5 tests in 0.001s\n\nOK", GREEN, "5 passed"),
    ("unittest", "OK (skipped=2)", GREEN, "tests passed"),
    ("unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", NEITHER, "no tests ran"),
    ("unittest", "Ran 0 tests in 0.000s\n\nOK", NEITHER, "no tests ran"),
    ("jest", "Tests:       4 failed, 1866 passed, 1870 total", RED, "4 failed, 1866 passed"),
    ("jest", "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 7 passed, 8 total", GREEN, "7 passed"),
    ("jest", "Test Suites: 1 failed, 1 total\nTests:       0 total", RED, "1 file failed"),
    (
        "vitest",
        " Test Files  2 failed (2)\n      Tests  4 failed | 16 passed (20)",
        RED,
        "4 failed, 16 passed",
    ),
    ("vitest", "Tests  3 failed (3)", RED, "3 failed"),
    ("vitest", " Test Files  3 passed (3)\n      Tests  16 passed (16)", GREEN, "16 passed"),
    ("vitest", " Test Files  1 failed (1)\n      Tests  no tests", RED, "1 file failed"),
    (
        "vitest",
        "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n      Tests  16 passed (16)\n     Errors  1 error",
        RED,
        "1 error, 16 passed",
    ),
    ("vitest", "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n      Tests  16 passed (16)", RED, "16 passed, vitest failed"),
    ("mocha", "  1 passing (3ms)", GREEN, "1 passed"),
    ("mocha", "  3 passing (12ms)\n  2 pending\n  1 failing", RED, "1 failed, 3 passed"),
    ("node", "# tests 2\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0", RED, "1 failed, 1 passed"),
    ("node", "ℹ pass 2\nℹ fail 0\nℹ cancelled 1", RED, "1 error, 2 passed"),
    ("go", "ok  \tgithub.com/a/b\t0.012s\nok  \tgithub.com/a/c\t(cached)", GREEN, "2 packages passed"),
    ("go", "ok  \ta/b\t0.012s\nFAIL\tx [build failed]\nFAIL", RED, "1 package failed, 1 passed"),
    ("go", "FAIL\ta/b\t0.012s", RED, "1 package failed"),
    ("go", "?   \tx\t[no test files]", NEITHER, "no tests ran"),
    ("go", "ok  \tx\t0.01s [no tests to run]", NEITHER, "no tests ran"),
    ("cargo", CARGO.format("FAILED", 11238, 4), RED, "4 failed, 11238 passed"),
    ("cargo", "\n".join(CARGO.format("ok", passed, 0) for passed in (3, 0, 5)), GREEN, "8 passed"),
    ("cargo", CARGO.format("ok", 3, 0) + "\n" + CARGO.format("FAILED", 1, 2), RED, "2 failed, 4 passed"),
    (
        "nextest",
        "     Summary [   0.008s] 2 tests run: 1 passed, 1 failed, 0 skipped",
        RED,
        "1 failed, 1 passed",
    ),
    (
        "nextest",
        "Summary [ 0.008s] 3/12 tests run: 2 passed (1 slow), 1 timed out",
        RED,
        "1 failed, 2 passed",
    ),
    ("nextest", "Summary [ 0.008s] 1 test run: 1 passed, 0 skipped", GREEN, "1 passed"),
    ("dotnet", DOTNET.format("Failed", 4, 30), RED, "4 failed, 30 passed"),
    ("dotnet", DOTNET.format("Passed", 0, 3) + "\n" + DOTNET.format("Passed", 0, 30), GREEN, "33 passed"),
    ("maven", MAVEN.format(15, 0) + "\n[INFO] BUILD SUCCESS", GREEN, "15 passed"),
    ("maven", MAVEN.format(4, 0) + ", Time elapsed: 0.1 s\n" + MAVEN.format(15, 0), GREEN, "15 passed"),
    ("maven", "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0", RED, "1 failed, 1 error, 2 passed"),
    ("maven", MAVEN.format(15, 0) + "\n[INFO] BUILD FAILURE", RED, "15 passed, maven failed"),
    ("gradle", "9 tests completed, 1 failed, 8 skipped\nBUILD FAILED in 3s", RED, "1 failed"),
    ("gradle", "BUILD FAILED in 3s", RED, "gradle failed"),
    ("gradle", "BUILD SUCCESSFUL in 3s", GREEN, "build succeeded"),
    ("rspec", "3 examples, 1 failure, 1 pending", RED, "1 failed, 1 passed"),
    ("rspec", "1 example, 0 failures", GREEN, "1 passed"),
    ("rspec", "0 examples, 0 failures, 1 error occurred outside of examples", RED, "1 error"),
    ("phpunit", "OK (12 tests, 24 assertions)", GREEN, "12 passed"),
    ("phpunit", "Tests: 12, Assertions: 12, Failures: 12.", RED, "12 failed"),
    ("phpunit", "Tests: 12, Assertions: 47, PHPUnit Warnings: 1, Skipped: 2.", GREEN, "10 passed"),
    ("phpunit", "No tests executed!", NEITHER, "no tests ran"),
    ("ctest", "100% tests passed, 0 tests failed out of 27", GREEN, "27 passed"),
    ("ctest", "96% tests passed, 1 tests failed out of 27", RED, "1 failed, 26 passed"),
    ("tsc", "t.ts(1,7): error TS2322: Type 'a' is not assignable", RED, "1 error"),
    (
        "tsc",
        "a.ts:1:7 - error TS2322: x\nb.ts:1:7 - error TS1: y\n\nFound 2 errors in 2 files.",
        RED,
        "2 errors",
    ),
    ("tsc", "Found 1 error in t.ts:1", RED, "1 error"),
    ("tsc", "Found 2 errors in the same file, starting at: t.ts:1", RED, "2 errors"),
    ("eslint", "✖ 1 problem (1 error, 0 warnings)", RED, "1 error"),
    ("eslint", "✖ 2 problems (0 errors, 2 warnings)", GREEN, "2 warnings"),
    ("ruff", "Found 2 errors.", RED, "2 errors"),
    ("ruff", "Found 3 errors (3 fixed, 0 remaining).", GREEN, "no errors"),
    ("ruff", "Found 3 errors (2 fixed, 1 remaining).", RED, "1 error"),
    ("ruff", "All checks passed!", GREEN, "no errors"),
    ("mypy", "Found 2 errors in 1 file (checked 3 source files)", RED, "2 errors"),
    ("mypy", "Found 1 error in 1 file (errors prevented further checking)", RED, "1 error"),
    ("mypy", "Success: no issues found in 12 source files", GREEN, "no errors"),
    ("make", "make: *** [Makefile:2: all] Error 1", RED, "make failed"),
    ("make", "make[2]: *** No rule to make target 'x'.  Stop.", RED, "make failed"),
]


def colour(command: str, output: str, exit_code: int | None = None) -> str | None:
    """Return the colour of a verdict; None without one."""
    found = verdict(command, output, exit_code)
    assert found is None or not (found.is_red and found.is_green)
    return None if found is None else RED if found.is_red else GREEN if found.is_green else NEITHER


@pytest.mark.parametrize(("tool", "output", "wanted", "words"), CLOSING_LINES)
def test_each_closing_line_is_read(tool: str, output: str, wanted: str, words: str) -> None:
    """Each tool's closing line gives its tool, colour and counts, whatever command wrote it."""
    for text in (output, f"noise\n\n{output}\n\n", output.replace("\n", "\r\n")):
        found = verdict("./run.sh", text, None)
        assert found is not None
        assert (found.tool, found.words, found.source) == (tool, words, Source.PATTERN)
        assert colour("./run.sh", text) == wanted


@pytest.mark.parametrize(("tool", "output", "wanted", "words"), CLOSING_LINES)
def test_colours_of_a_tool_are_ignored(tool: str, output: str, wanted: str, words: str) -> None:
    """A closing line in bold and in colours, with a link, is read like a plain one."""
    coloured = "\n".join(
        f"\x1b[31;1m{line[:3]}\x1b[0m\x1b]8;;https://a.b\x1b\\{line[3:]}\x1b]8;;\x07\x1b(B"
        for line in output.splitlines()
    )
    found = verdict("", coloured, None)
    assert found is not None
    assert (found.tool, found.words, colour("", coloured)) == (tool, words, wanted)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "OK",
            "FAILED",
            "ok 1 - adds",
            "1 pending",
            "# skipped 3",
            "FAIL src/a.test.js",
            "FAIL  src/a.ts > b",
        ),
        *("3 files in 2.1s", "17 tests collected in 0.02s", "[INFO] BUILD SUCCESS", "Found 3 matches."),
        *("make: [Makefile:2: all] Error 1 (ignored)", "make: *** [Makefile:2: all] Error 1 (ignored)"),
        *("Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!", "PASS"),
    ],
)
def test_other_lines_are_no_verdict(line: str) -> None:
    """A line that resembles a closing line gives no verdict."""
    assert verdict("./run.sh", line, 0) is None


def test_a_closing_line_counts_before_the_exit_code() -> None:
    """A red line with exit code 0 is red: the code is that of `tail`."""
    assert colour("pytest | tail -3", "1 failed, 4 passed in 0.31s", 0) == RED
    assert colour("pytest || true", "1 failed, 4 passed in 0.31s", 0) == RED


def test_a_green_line_with_an_exit_code_is_red() -> None:
    """A green line with an exit code other than 0 is red by the exit code, and the words contain it."""
    found = verdict("pytest --cov", "17 passed in 0.3s", 1)
    assert found == ("pytest", True, False, Source.EXIT, Counts(passed=17), "17 passed, exit 1")
    assert colour("pytest -k none", "2 deselected in 0.01s", 5) == RED


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        *(("tsc --noEmit", GREEN), ("cd web && npx tsc 2>&1", GREEN), ("eslint . && echo done", GREEN)),
        *(("CI=1 make -j4 all", GREEN), ("./node_modules/.bin/eslint src", GREEN)),
        *(("tsc | tail -3", None), ("tsc || true", None), ("make; echo done", None), ("ls || make", None)),
        *(("pytest -q", None), ("ruff check", None), ("", None), ("git commit -m 'x; make y'", None)),
    ],
)
def test_silence_is_green_for_tools_that_are_silent(command: str, wanted: str | None) -> None:
    """Without a closing line, exit code 0 is green if it is that of tsc, eslint or make."""
    assert colour(command, "", 0) == wanted
    assert colour(command, "", None) is None
    assert colour(command, "", 2) is None
    if wanted:
        found = verdict(command, "", 0)
        assert found is not None
        assert found.source is Source.EXIT


@pytest.mark.parametrize(
    ("command", "output", "tool"),
    [
        ("npx tsc -p .", "Found 2 errors.", "tsc"),
        ("npm run types", "a.ts(1,2): error TS1: x\nFound 2 errors.", "tsc"),
        ("ruff check . && npx tsc", "Found 2 errors.", "ruff"),
        ("npm run lint", "Found 2 errors.", "ruff"),
    ],
)
def test_the_command_decides_a_tie(command: str, output: str, tool: str) -> None:
    """`Found 2 errors.` is of tsc if the command or an earlier line names it, and not ruff."""
    found = verdict(command, output, 1)
    assert found is not None
    assert found.tool == tool
    assert found.counts.errors == 2


def test_counts_of_several_tools_are_not_added_up() -> None:
    """With several tools, a red one is reported before a green one, and tests before linters."""
    mypy, ruff = "Found 2 errors in 1 file (checked 3 source files)", "All checks passed!"
    tests = "17 passed in 0.31s"
    for output, words in (
        (f"{ruff}\n{tests}\n", "17 passed"),
        (f"{tests}\n{ruff}\n", "17 passed"),
        (f"{mypy}\n{tests}\n", "2 errors"),
        (f"{tests}\n{mypy}\nmake: *** [Makefile:2: all] Error 1", "2 errors"),
        (f"{tests}\nmake: *** [Makefile:2: all] Error 1", "make failed"),
    ):
        found = verdict("make", output, None)
        assert found is not None
        assert found.words == words


def test_a_red_run_is_not_hidden_by_a_later_green_one() -> None:
    """If a tool ran twice, its red run is reported; if both are green, the last."""
    red, green = "1 failed, 4 passed in 0.3s", "17 passed in 0.3s"
    for output, words in (
        (f"{red}\n{green}", "1 failed, 4 passed"),
        (f"{green}\n{red}", "1 failed, 4 passed"),
        (f"3 passed in 0.1s\n{green}", "17 passed"),
    ):
        found = verdict("", output, None)
        assert found is not None
        assert found.words == words


def test_stdout_and_stderr_are_read_apart() -> None:
    """A closing line on stdout is found although stderr has 500 lines."""
    found = verdict("cargo test", (CARGO.format("ok", 3, 0), "   Compiling x\n" * 500), 0)
    assert found is not None
    assert found.words == "3 passed"


@pytest.mark.parametrize(
    "command", ["cat test.log", "cd a && grep -r passed . | head", "git show", "tail -5 a"]
)
def test_text_that_exists_already_gives_no_verdict(command: str) -> None:
    """Programs that only print files and history give no verdict, whatever these contain."""
    assert verdict(command, "1 failed, 4 passed in 0.31s", 0) is None
    assert verdict(f"pytest; {command}", "1 failed, 4 passed in 0.31s", 0) is not None
