"""`agentwatch compare A B` on a real terminal."""

from pathlib import Path

import pytest

from tests.builders.compared_runs import Run, read, run_tests
from tests.conftest import case
from tests.harness.on_a_pty import in_terminal

A = Run()
B = A.with_call(2, read("README.md")).changed(6, run_tests(failed=3))


@pytest.mark.system
def test_the_report_is_printed(tmp_path: Path) -> None:
    """In every format, the command prints and ends; exit code 2 if a recording cannot be opened."""
    runs = str(tmp_path / "before.ndjson"), str(tmp_path / "after.ndjson")
    for path, run in zip(runs, (A, B), strict=True):
        Path(path).write_bytes(run.lines())
    for options in ((), ("-p",), ("--json",), ("--all",), ("--output-format=markdown",)):
        with case(options), in_terminal("compare", *runs, *options) as terminal:
            assert terminal.wait_exit() == 0
            assert "pytest" in terminal.screen_text()
    with in_terminal("compare", runs[0], str(tmp_path / "gone.ndjson")) as terminal:
        assert terminal.wait_exit() == 2
        assert "cannot open" in terminal.screen_text()
