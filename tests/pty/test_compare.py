"""`agentwatch compare A B` on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.comparing.runs import Run, read, run_tests
from tests.conftest import case
from tests.harness.on_a_pty import in_terminal

A = Run()
B = A.with_call(2, read("README.md")).changed(6, run_tests(failed=3))
pytestmark = pytest.mark.system


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Record two runs, and return their paths."""
    paths = tmp_path / "before.ndjson", tmp_path / "after.ndjson"
    for path, run in zip(paths, (A, B), strict=True):
        path.write_bytes(run.lines())
    return str(paths[0]), str(paths[1])


def test_the_screen_opens_and_gives_the_terminal_back(runs: tuple[str, str]) -> None:
    """`n` goes to the next difference, `b` opens the session of B at the selected call, and esc returns."""
    with in_terminal("compare", *runs) as terminal:
        terminal.wait_for("the runs part here")
        terminal.wait_for("difference 1 of 2")
        terminal.press("n", "difference 2 of 2")
        terminal.press("b", "esc Comparison")
        terminal.press("\x1b", "the runs part here")
        terminal.leave()


def test_the_report_is_printed(runs: tuple[str, str]) -> None:
    """With an option about it, and if stdin or stdout is not a terminal, no screen is drawn."""
    for option in ("-p", "--json", "--all", "--raw", "--output-format=markdown"):
        with case(option), in_terminal("compare", *runs, option) as terminal:
            assert terminal.wait_exit() == 0
            assert "pytest" in terminal.screen_text()
            assert "the runs part here" not in terminal.screen_text()
    for producer, consumer in ((["true"], []), ([], ["cat"])):
        words = f"{producer} | compare | {consumer}"
        with case(words), in_terminal("compare", *runs, producer=producer, consumer=consumer) as terminal:
            assert terminal.wait_exit() == 0
            assert "Where they part" in terminal.screen_text()


def test_a_session_that_cannot_be_read_draws_no_screen(runs: tuple[str, str], tmp_path: Path) -> None:
    """The error is one line, and the exit code is 2."""
    with in_terminal("compare", runs[0], str(tmp_path / "gone.ndjson")) as terminal:
        assert terminal.wait_exit() == 2
        assert "cannot open" in terminal.screen_text()
