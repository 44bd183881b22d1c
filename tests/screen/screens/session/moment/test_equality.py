"""What the panes show at an earlier moment is what they show when only the bytes before it were fed."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from agentwatch.screen.panes import moment as live
from tests.builders.agents.claude_session import claude_session
from tests.builders.captures import Captures
from tests.builders.moment.any_recording import (
    MOMENTS,
    SESSIONS,
    chosen,
    dense,
    generated,
    line_ends,
    real_recordings,
    written,
)
from tests.builders.moment.panes import Shown, at_rest, differing, shown, watch_screen
from tests.builders.screen.app import Stage, opened
from tests.conftest import RECORDINGS, case

pytestmark = pytest.mark.slow

SIZES = ((120, 40), (160, 50), (80, 24), (40, 12))
View = Callable[[Stage], None]
"""Changes how the panes show the session."""


def as_it_is(stage: Stage) -> None:
    """Change nothing."""


def filtered(stage: Stage) -> None:
    """Show only some calls."""
    stage.calls.filter_by("e")


def sorted_by_duration(stage: Stage) -> None:
    """Show the slowest calls first."""
    if not stage.calls.listed.is_by_duration:
        stage.calls.action_slowest()


def opened_up(stage: Stage) -> None:
    """Show all thinking, and the work of each subagent."""
    transcript = watch_screen(stage).workspace.panes.transcript
    if not transcript.viewport.layout.shows_thinking:
        transcript.toggle_reasoning()
    subagents = transcript.viewport.blocks.subagents
    for call in watch_screen(stage)._moment.shown.session.calls:
        if call.parent is None and subagents.tally(call.number) is not None:
            opened_before = subagents._open
            if call.number not in opened_before:
                transcript.thoughts.toggle_subagent(call.number)


VIEWS: tuple[View, ...] = (as_it_is, filtered, sorted_by_duration, opened_up)


async def shown_at(path: Path, moments: list[int], size: tuple[int, int], view: View) -> dict[int, Shown]:
    """Return what the panes show at moments of a recording that is read, gone to in this order."""
    found = {}
    async with opened(path, size) as stage:
        watch_screen(stage).action_bar()
        await at_rest(stage)
        view(stage)
        for moment in moments:
            watch_screen(stage).go_to(moment)
            await at_rest(stage)
            found[moment] = shown(stage) | {"now": watch_screen(stage)._moment.now_ms()}
    return found


async def shown_as_fed(
    path: Path,
    data: bytes,
    at: dict[int, Shown],
    size: tuple[int, int],
    view: View,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[int, Shown]:
    """Return what the panes show while a recording grows, at the same moments and times."""
    found = {}
    fed = written(path.with_name(f"fed-{path.name}"), b"")
    times = path.with_suffix(".times")
    fed.with_suffix(".times").write_bytes(times.read_bytes() if times.exists() else b"")
    async with opened(fed, size, follow=True) as stage:
        watch_screen(stage).action_bar()  # which takes a row at an earlier moment
        before = 0
        for moment in sorted(at):
            monkeypatch.setattr(live, "now_ms", lambda now=at[moment]["now"]: now)
            await stage.append(data[before:moment])
            before = moment
            view(stage)
            await at_rest(stage)
            found[moment] = shown(stage) | {"now": at[moment]["now"]}
    return found


async def check(
    path: Path, chance: Random, count: int, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], view: View
) -> None:
    """Check that the panes show at random moments what they show when only the bytes before were fed."""
    data = await asyncio.to_thread(path.read_bytes)
    moments = chosen(data, chance, count)
    earlier = await shown_at(path, moments, size, view)
    expected = await shown_as_fed(path, data, earlier, size, view, monkeypatch)
    for moment in moments:
        assert differing(earlier[moment], expected[moment]) == [], (
            f"{view.__name__} at {moment} of {path.name}"
        )


@pytest.mark.system
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
async def test_changed_panes_are_as_they_were(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any moment of a session with subagents, thinking and a plan, every pane is as it was in any view."""
    await check_claude_session(tmp_path, monkeypatch, view, max(MOMENTS, 8))


async def check_claude_session(folder: Path, monkeypatch: pytest.MonkeyPatch, view: View, count: int) -> None:
    """Check some moments of a session of Claude Code."""
    dense(monkeypatch)
    data = claude_session()
    path = written(
        folder / "session.ndjson", data, ((end, 1_700_000_000_000 + end) for end in [0, *line_ends(data)])
    )
    await check(path, Random(view.__name__), count, monkeypatch, SIZES[VIEWS.index(view)], view)


@pytest.mark.system
@pytest.mark.parametrize("number", range(2 if SESSIONS < 150 else 30))
async def test_panes_of_a_generated_session_are_as_they_were(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any moment of a generated session, every pane is as it was."""
    dense(monkeypatch)
    data = [*generated(number + 1)][-1]
    path = written(tmp_path / "session.ndjson", data)
    await check(path, Random(number), MOMENTS, monkeypatch, SIZES[number % 4], VIEWS[number // 4 % 4])


@pytest.mark.system
async def test_panes_of_a_recording_are_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any moment of a bundled recording, every pane is as it was."""
    await check_capture(RECORDINGS / "demo.ndjson", tmp_path, monkeypatch)


@pytest.mark.long
async def test_panes_of_every_capture_are_as_they_were(
    captures: Captures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any moment of a capture, every pane is as it was."""
    for path in real_recordings(captures):
        with case(path):
            await check_capture(path, tmp_path, monkeypatch)


async def check_capture(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check some moments of a capture, at a size and with a view that its name chooses."""
    dense(monkeypatch)
    copy = await asyncio.to_thread(_copied, path, folder)
    chance = Random(path.stem)
    await check(copy, chance, MOMENTS, monkeypatch, chance.choice(SIZES), chance.choice(VIEWS))


def _copied(path: Path, folder: Path) -> Path:
    """Copy a recording, at most a megabyte of it, and the times beside it; return the path of the copy."""
    copy = written(folder / path.name, path.read_bytes()[:1_000_000])
    if path.with_suffix(".times").exists():
        copy.with_suffix(".times").write_bytes(path.with_suffix(".times").read_bytes())
    return copy
