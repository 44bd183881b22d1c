"""The moment of an act is marked on the time bar of its session."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.recording.acts import Act, append_act
from agentwatch.screen.screens.session import marks
from tests.builders.lines import completed, init, result, started
from tests.builders.screen.app import opened

pytestmark = pytest.mark.slow


async def test_an_act_is_marked_at_the_nearest_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An act just before a line is marked there, one just after a line at that one, with its words.

    Only the last acts have a mark.
    """
    lines = [init(), started("read", path="a"), completed("read", result={"success": {}}), result()]
    ends = [sum(map(len, lines[: index + 1])) for index in range(len(lines))]
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(lines))
    begin_ms = 1_795_183_387_000
    times = [
        f"{end - len(line)} {begin_ms + 10_000 * n}\n"
        for n, (end, line) in enumerate(zip(ends, lines, strict=True))
    ]
    path.with_suffix(".times").write_text("".join(times))
    for seconds in (-1, 9, 21, 60):
        act = Act(begin_ms + 1000 * seconds, "interrupt", "s-1", "list", "SIGINT", "sent")
        append_act(path.with_suffix(".acts"), act)
    async with opened(path) as stage:
        await stage.press("B")
        await stage.shows("▲")
        screen = stage.app.session_screen
        assert screen is not None
        assert [at for at, _ in screen._marks.alarms] == [ends[0], ends[1], ends[2], ends[3]]
        assert {words for _, words in screen._marks.alarms} == {"acted: interrupt sent · SIGINT · list"}
        monkeypatch.setattr(marks, "_MOST_ACTS", 1)
        assert [at for at, _ in screen._marks.alarms] == [ends[3]]
