"""A verdict is read from the closing line of a tool; the exit code comes second."""

from __future__ import annotations

import pytest

from agentwatch.analysis.verdicts import Counts, Source, verdict
from tests.analysis.verdicts.lines import GREEN, RED, colour
from tests.conftest import case

CARGO = "test result: ok. 3 passed; 0 failed; 88 ignored; 0 measured; 0 filtered out; finished in 0.01s"


def colour_of(command: str, output: str, exit_code: int | None = None) -> str | None:
    """Return the colour of the verdict on a command; None without one."""
    found = verdict(command, output, exit_code)
    return None if found is None else colour(found)


def test_other_lines_are_no_verdict() -> None:
    """A line that resembles a closing line gives no verdict."""
    cases: list[str] = [
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
    ]
    for line in cases:
        with case(line):
            assert verdict("./run.sh", line, 0) is None


def test_a_closing_line_counts_before_the_exit_code() -> None:
    """A red line with exit code 0 is red: the code is that of `tail`."""
    assert colour_of("pytest | tail -3", "1 failed, 4 passed in 0.31s", 0) == RED
    assert colour_of("pytest || true", "1 failed, 4 passed in 0.31s", 0) == RED


def test_a_green_line_with_an_exit_code_is_red() -> None:
    """A green line with an exit code other than 0 is red by the exit code, and the words contain it."""
    found = verdict("pytest --cov", "17 passed in 0.3s", 1)
    assert found == ("pytest", True, False, Source.EXIT, Counts(passed=17), "17 passed, exit 1")
    assert colour_of("pytest -k none", "2 deselected in 0.01s", 5) == RED


def test_silence_is_green_for_tools_that_are_silent() -> None:
    """Without a closing line, exit code 0 is green if it is that of tsc, eslint or make."""
    cases: list[tuple[str, str | None]] = [
        *(("tsc --noEmit", GREEN), ("cd web && npx tsc 2>&1", GREEN), ("eslint . && echo done", GREEN)),
        *(("CI=1 make -j4 all", GREEN), ("./node_modules/.bin/eslint src", GREEN)),
        *(("timeout 60 make", GREEN), ("timeout -k 5 2m npx tsc", GREEN), ("make &&\n echo done", GREEN)),
        *(("tsc --version", None), ("make -n all", None), ("eslint -h && echo", None), ("tsc --init", None)),
        *(("tsc | tail -3", None), ("tsc || true", None), ("make; echo done", None), ("ls || make", None)),
        *(("pytest -q", None), ("ruff check", None), ("", None), ("git commit -m 'x; make y'", None)),
    ]
    for command, wanted in cases:
        with case(command):
            assert colour_of(command, "", 0) == wanted
            assert colour_of(command, "", None) is None
            assert colour_of(command, "", 2) is None
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
    found = verdict("cargo test", (CARGO, "   Compiling x\n" * 500), 0)
    assert found is not None
    assert found.words == "3 passed"


@pytest.mark.parametrize(
    "command", ["cat test.log", "cd a && grep -r passed . | head", "git show", "tail -5 a"]
)
def test_text_that_exists_already_gives_no_verdict(command: str) -> None:
    """Programs that only print files and history give no verdict, whatever these contain."""
    assert verdict(command, "1 failed, 4 passed in 0.31s", 0) is None
    assert verdict(f"pytest; {command}", "1 failed, 4 passed in 0.31s", 0) is not None
