"""A failing line leads to the file that it is about."""

from __future__ import annotations

import time

import pytest

from agentwatch.analysis.failing_lines import FileLine, failing_files, files_near
from tests.conftest import case

PYTEST = """\
tests/test_a.py ..F                                                      [100%]
    def test_low():
>       assert low() == 3
E       assert 4 == 3

tests/test_a.py:12: AssertionError
FAILED tests/test_a.py::test_low - assert 4 == 3"""
TRACEBACK = """\
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
        "a traceback": (TRACEBACK, 0, FileLine("/src/mill/wheel.py", 41)),
        "its last line": (TRACEBACK, 5, FileLine("/src/mill/wheel.py", 41)),
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
