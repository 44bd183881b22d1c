"""Frames stay straight on a real terminal around text whose width is ambiguous."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.builders.lines import init, result, user
from tests.builders.packed import called, detailed, mark, marks_of
from tests.builders.payloads import WIDTHS
from tests.harness.viewer import Viewer, watched

TEXTS = [text[:60] for text in WIDTHS.values()]
pytestmark = pytest.mark.system


def sides(viewer: Viewer) -> set[str]:
    """Return the characters on the sides of all frames, between their upper and lower corners."""
    screen, found = viewer.terminal.screen, set()
    for top in range(screen.lines):
        for x in range(screen.columns):
            if screen.buffer[top][x].data in {"╭", "╮"}:
                y = top + 1
                while y < screen.lines and screen.buffer[y][x].data not in {"╰", "╯"}:
                    found.add(screen.buffer[y][x].data)
                    y += 1
    return found


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    """Save a session with these texts in every field."""
    path = tmp_path / "case.ndjson"
    asked = user("\n".join(mark("a", TEXTS)))
    path.write_bytes(init() + detailed(TEXTS) + called(TEXTS) + asked + result())
    return path


@pytest.mark.parametrize("columns", [160, 111])
def test_the_frames_are_straight(session_file: Path, columns: int) -> None:
    """In transcript, calls, detail and actions no text moves a frame, at any width."""
    with watched(str(session_file), size=(columns, 200)) as viewer:
        viewer.see("", marks_of("a", TEXTS))
        viewer.press("4", "g", "2", "g")
        for _ in range(6):
            viewer.terminal.wait_until(lambda: sides(viewer) == {"│"}, what="straight frames")
            viewer.press("j")


def test_the_clocks_are_in_one_column(session_file: Path) -> None:
    """In the calls table every clock ends in the same column, and all of them are visible."""
    with watched(str(session_file), size=(160, 200)) as viewer:
        viewer.see("", marks_of("a", TEXTS))
        viewer.press("2")
        viewer.see("m", marks_of("h", TEXTS))
        screen = viewer.terminal.screen
        lines = {y: viewer.terminal.line(y) for y in range(screen.lines)}
        calls = {y: line for y, line in lines.items() if re.match(r"[▐ ┌│└]* *\d+ [✗↵] ", line)}
        rows = [y for y, line in calls.items() if " ms " not in line]  # the others have no known duration
        clocks = [[x for x in range(160) if screen.buffer[y][x].data == "–"] for y in rows]
        ends = [found[-1] for found in clocks if found]
    assert len(rows) >= 2 * len(TEXTS)
    assert len(ends) == len(rows)
    assert len(set(ends)) == 1
