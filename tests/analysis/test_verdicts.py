"""The verdict in the output of a test program, a build or a checker, and the file of a failing line."""

import time
from functools import partial

import pytest

from agentwatch.analysis import verdicts
from agentwatch.analysis.shell import decides_exit, parts_of
from agentwatch.analysis.verdicts import (
    Counts,
    FileLine,
    Source,
    failing_files,
    files_near,
    last_lines,
    verdict,
)
from tests.analysis.verdict_table import GREEN, RED, SILENT, TABLE, TOOLS, colour
from tests.conftest import ROOT, case
from tests.harness.costs import takes_more

CARGO = "test result: ok. 3 passed; 0 failed; 88 ignored; 0 measured; 0 filtered out; finished in 0.01s"


def colour_of(command: str, output: str, exit_code: int | None = None) -> str | None:
    """Return the colour of the verdict on a command; None without one."""
    found = verdict(command, output, exit_code)
    return None if found is None else colour(found)


def test_a_closing_line_counts_before_the_exit_code() -> None:
    """A red line with exit code 0 is red, a green one with another code too. Other lines, and files that
    are only printed, give none. Without a closing line, exit code 0 is green if it is that of tsc, eslint
    or make.
    """
    assert colour_of("pytest | tail -3", "1 failed, 4 passed in 0.31s", 0) == RED
    assert colour_of("pytest || true", "1 failed, 4 passed in 0.31s", 0) == RED
    found = verdict("pytest --cov", "17 passed in 0.3s", 1)
    assert found == ("pytest", True, False, Source.EXIT, Counts(passed=17), "17 passed, exit 1")
    assert colour_of("pytest -k none", "2 deselected in 0.01s", 5) == RED
    found = verdict("cargo test", (CARGO, "   Compiling x\n" * 500), 0)
    assert found is not None
    assert found.words == "3 passed"
    for command in ["cat test.log", "cd a && grep -r passed . | head", "git show", "tail -5 a"]:
        with case(command):
            assert verdict(command, "1 failed, 4 passed in 0.31s", 0) is None
            assert verdict(f"pytest; {command}", "1 failed, 4 passed in 0.31s", 0) is not None
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
    # Silence is green for tools that are silent.
    silent: list[tuple[str, str | None]] = [
        *(("tsc --noEmit", GREEN), ("cd web && npx tsc 2>&1", GREEN), ("eslint . && echo done", GREEN)),
        *(("CI=1 make -j4 all", GREEN), ("./node_modules/.bin/eslint src", GREEN)),
        *(("timeout 60 make", GREEN), ("timeout -k 5 2m npx tsc", GREEN), ("make &&\n echo done", GREEN)),
        *(("tsc --version", None), ("make -n all", None), ("eslint -h && echo", None), ("tsc --init", None)),
        *(("tsc | tail -3", None), ("tsc || true", None), ("make; echo done", None), ("ls || make", None)),
        *(("pytest -q", None), ("ruff check", None), ("", None), ("git commit -m 'x; make y'", None)),
    ]
    for command, wanted in silent:
        with case(command):
            assert colour_of(command, "", 0) == wanted
            assert colour_of(command, "", None) is None
            assert colour_of(command, "", 2) is None
            if wanted:
                found = verdict(command, "", 0)
                assert found is not None
                assert found.source is Source.EXIT


PASSED = "17 passed in 0.31s"
HOSTILE = {
    "line ends": "\n" * 65_536,
    "one line of =": "=" * 65_536,
    "lines of =": ("=" * 400 + "\n") * 400,
    "lists": ("1 a, " * 80 + "\n") * 400,
    "pytest words": ("=== 1 failed, " + "1 passed, " * 40 + "\n") * 400,
    "unfinished sequences": "\x1b[" * 32_768,
    "unfinished commands": "\x1b]" * 32_768,
    "long parameters": ("\x1b[" + "0" * 300) * 220,
    "coloured lines": ("\x1b[31m" * 30 + "x\n") * 400,
    "type errors": ("(1,1): error TSx" * 25 + "\n") * 400,
    "go": ("FAIL\t" + "a" * 300 + "\t" + "\n") * 400,
    "summaries": ("Summary [ 1s] 1 tests run: " + "1 failed " * 40 + "\n") * 400,
    "blanks": ("Tests" + " " * 390 + "x\n") * 400,
    "bars": ("⎯" * 400 + "\n") * 400,
    "carriage returns": "\r" * 65_536,
    "closing lines": "1 example, 1 failure\n" * 400,
    "digits": ("1" * 400 + "\n") * 400,
    "brackets": ("[" * 400 + "\n") * 400,
}


QUICK_SECONDS = 0.0005


@pytest.mark.costs
def test_hostile_output_takes_linear_time_up_to_64_kib() -> None:
    """Output of four times the length takes at most six times as long; beyond 64 KiB it costs no more."""
    for name, text in HOSTILE.items():
        with case(name):
            whole, quarter = (partial(verdict, "make test", text[:end], 1) for end in (None, len(text) // 4))
            assert not takes_more(whole, 6, quarter, QUICK_SECONDS)
            assert not takes_more(partial(verdict, "make test", text * 20, 1), 2, whole, QUICK_SECONDS)


@pytest.mark.costs
def test_hostile_commands_take_linear_time() -> None:
    """A command of four times the length takes at most six times as long, whatever its quotes are."""
    for piece in ('"', '"\\', "'\"", "&", "<&", "a "):
        with case(piece):
            long, short = (partial(verdict, piece * count, "", 0) for count in (9000, 2250))
            assert not takes_more(long, 6, short, QUICK_SECONDS)


def test_only_the_end_is_read() -> None:
    """The last 400 lines of the last 65,536 characters, each up to 400, without escape sequences and
    blanks; a carriage return ends a line. Each program is named once, without assignments, wrappers and
    arguments; an exit code of 0 is its own if only `&&` follow.
    """
    text = "\x1b[1;31m  red\x1b[m \r\n\n\x1b]0;title\x07\tb\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\nc\x1b(B"
    assert last_lines(text) == ["red", "blink", "c"]
    assert last_lines(f"10%\r50%\r{PASSED}") == ["10%", "50%", PASSED]
    assert verdict("", f"{PASSED}\n" + "x\n" * 399, 0) is not None
    assert verdict("", f"{PASSED}\n" + "x\n" * 400, 0) is None
    assert verdict("", f"{PASSED}\n" + "x" * 65_000, 0) is not None
    assert verdict("", f"{PASSED}\n" + "x" * 65_536, 0) is None
    assert [len(line) for line in last_lines("x" * 5000)] == [400]
    # Programs are named without wrappers.
    cases: list[tuple[str, list[str]]] = [
        ("pytest -q", ["pytest"]),
        ("cd web && CI=1 npx tsc --noEmit 2>&1 | tail -3", ["cd", "tsc", "tail"]),
        ("uv run python -m mypy src; ls", ["mypy", "ls"]),
        ("./node_modules/.bin/eslint 'a; make b'", ["eslint"]),
        ("(cd a && make)", ["cd", "make"]),
        ("timeout -k 5 2m make; nice -n 10 tsc", ["make", "tsc"]),
        ('echo "x && make" || true', ["echo", "true"]),
        ("", []),
        ("&& | ;", []),
        ("cat > x <<'E'\npytest\nE\nmake", ["cat", "make"]),
        ("# pytest\nls \\\n  -la a#b", ["ls"]),
        ('"unclosed', ["unclosed"]),
        ("bash <<EOF\nrm x\nEOF\nHEAD=$(git log | head) make", ["bash", "make"]),
    ]
    for command, programs in cases:
        with case(command):
            assert [part.program for part in parts_of(command)] == programs
    further: list[tuple[str, bool]] = [
        *(("make", True), ("a && make && b", True), ("a; make", True), ("make\n", True)),
        *(("make | b", False), ("make & b", False), ("a || make", False), ("make && b; c", False)),
    ]
    for command, decides in further:
        with case(command):
            assert (decides_exit(parts_of(command), frozenset({"make"})) == "make") is decides


NAMED = {"node": "node --test", "go": "go test", "cargo": "cargo test"}
"""The names of some tools in the documentation."""


def test_each_line_gives_its_verdict() -> None:
    """A line gives its tool, colour and counts, whatever command wrote it and whatever is around it. A line
    in colours is read like a plain one, whatever program decides the exit code; with another code than 0 a
    line that is not red is. The table, whose tools the documentation names in its order, has both of each;
    the green of some is silence, which is none of the others. A red one before a green one, tests before
    linters, else the last; `Found 2 errors.` is of tsc if the command or an earlier line names it.
    """
    for line in TABLE:
        with case(line.id):
            for text in (line.output, f"noise\n\n{line.output}\n\n", line.output.replace("\n", "\r\n")):
                for exit_code in (None, line.exit_code):
                    found = verdict("./run.sh", text, exit_code)
                    assert found is not None
                    assert (found.tool, found.words, found.source) == (line.tool, line.words, Source.PATTERN)
                    assert colour(found) == line.colour
    # What is around a line changes no verdict.
    for line in TABLE:
        with case(line.id):
            coloured = "\n".join(
                f"\x1b[31;1m{text[:3]}\x1b[0m\x1b]8;;https://a.b\x1b\\{text[3:]}\x1b]8;;\x07\x1b(B"
                for text in line.output.splitlines()
            )
            found = verdict("", coloured, None)
            assert found is not None
            assert (found.tool, found.words, colour(found)) == (line.tool, line.words, line.colour)
    for line in TABLE:
        for end in (" | tail -3", " 2>&1 | tee log", " || true", "; echo done"):
            with case(f"{line.id}, {end}"):
                found = verdict(f"./run.sh{end}", line.output, 0)
                assert found is not None
                assert (found.words, found.source, colour(found)) == (line.words, Source.PATTERN, line.colour)
    for line in (each for each in TABLE if each.colour != RED):
        with case(line.id):
            found = verdict("./run.sh", line.output, 3)
            assert found is not None
            assert (found.tool, found.words) == (line.tool, f"{line.words}, exit 3")
            assert (found.source, colour(found)) == (Source.EXIT, RED)
    # Each tool has red and green.
    for tool in TOOLS:
        with case(tool):
            colours = {line.colour for line in TABLE if line.tool == tool}
            if tool in SILENT:
                found = verdict(tool, "", 0)
                assert found is not None
                assert (found.tool, found.source) == (tool, Source.EXIT)
                colours.add(colour(found))
            assert colours >= {RED, GREEN}
    for tool in (each for each in TOOLS if each not in SILENT):
        with case(tool):
            assert verdict(tool, "", 0) is None
    assert (
        {rule.tool for rule in (*verdicts.RUNNER_RULES, *verdicts.CHECKER_RULES)}
        == set(TOOLS)
        == {each.tool for each in TABLE}
    )
    *names, last = (NAMED.get(tool, tool) for tool in TOOLS)
    assert f"{', '.join(names)} and {last}." in (ROOT / "docs" / "screen.md").read_text()
    # One of several tools is reported.
    for command, output, other_tool in [
        ("npx tsc -p .", "Found 2 errors.", "tsc"),
        ("npm run types", "a.ts(1,2): error TS1: x\nFound 2 errors.", "tsc"),
        ("ruff check . && npx tsc", "Found 2 errors.", "ruff"),
        ("npm run lint", "Found 2 errors.", "ruff"),
    ]:
        with case((command, output, other_tool)):
            other_found = verdict(command, output, 1)
            assert other_found is not None
            assert other_found.tool == other_tool
            assert other_found.counts.errors == 2
    mypy, ruff = "Found 2 errors in 1 file (checked 3 source files)", "All checks passed!"
    tests = "17 passed in 0.31s"
    for output, words in (
        (f"{ruff}\n{tests}\n", "17 passed"),
        (f"{tests}\n{ruff}\n", "17 passed"),
        (f"{mypy}\n{tests}\n", "2 errors"),
        (f"{tests}\n{mypy}\nmake: *** [Makefile:2: all] Error 1", "2 errors"),
        (f"{tests}\nmake: *** [Makefile:2: all] Error 1", "make failed"),
    ):
        other_found = verdict("make", output, None)
        assert other_found is not None
        assert other_found.words == words
    red, green = "1 failed, 4 passed in 0.3s", "17 passed in 0.3s"
    for output, words in (
        (f"{red}\n{green}", "1 failed, 4 passed"),
        (f"{green}\n{red}", "1 failed, 4 passed"),
        (f"3 passed in 0.1s\n{green}", "17 passed"),
    ):
        other_found = verdict("", output, None)
        assert other_found is not None
        assert other_found.words == words


PYTEST = """\
tests/test_a.py ..F                                                      [100%]
    def test_low():
>       assert low() == 3
E       assert 4 == 3

tests/test_a.py:12: AssertionError
FAILED tests/test_a.py::test_low - assert 4 == 3"""
PYTHON_TRACEBACK = """\
Traceback (most recent call last):
  File "/src/run.py", line 3, in <module>
    main()
  File "/src/mill/wheel.py", line 41, in main
    raise ValueError(3)
ValueError: 3
see docs/errors.md"""


def test_the_file_of_a_failing_line() -> None:
    """Each runner names its file in the failing line or near it; the nearest comes first. Without a selected
    line, the first failing line counts.
    """
    cases: dict[str, tuple[str, int, FileLine]] = {
        "pytest, an assertion": (PYTEST, 3, FileLine("tests/test_a.py", 12)),
        "pytest, its place": (PYTEST, 5, FileLine("tests/test_a.py", 12)),
        "pytest, its summary": (PYTEST, 6, FileLine("tests/test_a.py", None)),
        "a traceback": (PYTHON_TRACEBACK, 0, FileLine("/src/mill/wheel.py", 41)),
        "its last line": (PYTHON_TRACEBACK, 5, FileLine("/src/mill/wheel.py", 41)),
        "cargo": ("error[E0308]: mismatched\n --> src/main.rs:12:5", 0, FileLine("src/main.rs", 12)),
        "go": ("--- FAIL: TestLow (0.00s)\n    low_test.go:12: got 4", 0, FileLine("low_test.go", 12)),
        "tsc": ("src/low.ts(12,5): error TS2322: no", 0, FileLine("src/low.ts", 12)),
        "jest": (
            "  ✕ low\n   at Object.<anonymous> (src/low.test.js:5:10)",
            0,
            FileLine("src/low.test.js", 5),
        ),
        "Windows": (r"C:\src\low.py:7: AssertionError", 0, FileLine(r"C:\src\low.py", 7)),
    }
    for name, (output, at, expected) in cases.items():
        with case(name):
            assert files_near(output.split("\n"), at)[0] == expected
    assert failing_files(PYTEST)[0] == FileLine("tests/test_a.py", 12)
    assert failing_files("3 passed in tests/test_a.py") == []


@pytest.mark.system
def test_hostile_lines_take_linear_time() -> None:
    """Long words, quotes and colons without a file are read once."""
    for piece in ("a", ".", ":", '"', 'File "', "a:1", "(", "C:\\", "E   a.py:1 "):
        with case(piece):
            text = "\n".join(["E   " + piece * 100_000] * 50)
            began = time.process_time()
            assert len(failing_files(text)) <= 1000
            assert time.process_time() - began < 1
