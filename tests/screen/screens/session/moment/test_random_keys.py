"""After any keys at any moments, the live screen is that of a session that was opened just now."""

import gc
import os
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from random import Random

import pytest

from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.screen.app import OWN_KEYS, PANES, Stage, lines_of, opened
from tests.builders.screen.lines import BEGAN_MS, append
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.system

KEYS = [
    *("comma", "full_stop", "less_than_sign", "greater_than_sign", "left", "right"),
    *("shift+left", "shift+right", "plus", "minus", "R", "space", "L"),
    *("m", "B", "colon"),
    *("tab", "shift+tab", "1", "2", "3", "4", "z", "x"),
    *("escape", "slash", "n", "N", "f", "s", "backspace", "e", "E", "i", "t", "c", "r", "y"),
    *("j", "k", "g", "G", "down", "up", "pageup", "pagedown", "ctrl+d", "ctrl+u", "home", "end"),
    *("enter", "right_square_bracket", "left_square_bracket", "J", "K", "h", "l", "w", "exclamation_mark"),
    *("question_mark", "i"),
]
MOMENT_KEYS = KEYS[:12]
WORDS = ("the", "test", "fail", "read", "a", "py", "zzz")
SIZES = ((120, 40), (160, 50), (80, 24), (40, 12), (100, 60))
DEMO = (RECORDINGS / "demo.ndjson").read_bytes()
_MOST_GROWTH = 8
"""Descriptors: a list of numbers opens its unlinked file when it is long."""


def pieces_of(data: bytes, random: Random, count: int) -> Iterator[bytes]:
    """Yield a recording in about `count` pieces; the first ends with a line, the others anywhere."""
    size = max(len(data) // count, 1)
    at = data.index(b"\n", size) + 1
    yield data[:at]
    while at < len(data):
        end = at + random.randint(1, 2 * size)
        yield data[at:end]
        at = end


def times_of(data: bytes) -> Iterator[str]:
    """Yield the arrival times of lines that came every 0.7 s."""
    offset = 0
    for number, line in enumerate(data.splitlines(keepends=True)):
        yield f"{offset} {BEGAN_MS + 700 * number}\n"
        offset += len(line)


def save(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def press_any(stage: Stage, random: Random) -> str:
    """Press a random key, type a word, or change the size or the theme; return what was done."""
    kind = random.random()
    if kind < 0.04:
        size = random.choice(SIZES)
        await stage.pilot.resize_terminal(*size)
        return f"resize {size}"
    if kind < 0.06:
        stage.app.theme = random.choice(sorted(stage.app.available_themes))
        return stage.app.theme
    if kind < 0.12:
        key = random.choice(("slash", "f"))
        word = random.choice(WORDS)
        await stage.press(key, *word, *(["enter"] if random.random() < 0.6 else []))
        return f"{key} {word}"
    key = random.choice(MOMENT_KEYS if kind < 0.5 else KEYS)
    await stage.press(key)
    return key


async def plain(stage: Stage, size: tuple[int, int], theme: str, moment: int | None) -> None:
    """Show a moment, or the live one, with nothing opened, unfolded, filtered or selected."""
    while len(stage.app.screen_stack) > 1:
        await stage.press("escape")
    for _ in range(4):
        await stage.press("escape")
    stage.app.theme = theme
    await stage.pilot.resize_terminal(*size)
    await stage.press("L")
    await stage.until(lambda: not stage.feed.backlog(), "all lines")
    await stage.settled()
    screen = stage.app.screen
    assert isinstance(screen, WatchScreen)
    if moment is not None:
        screen.go_to(moment)
        await stage.settled()
    workspace, panes = screen.workspace, screen.workspace.panes
    workspace.is_maximized = False
    if panes.calls.listed.requested_filter:
        panes.calls.filter_by("")
    await stage.until(lambda: not panes.calls.listed.is_waiting, "the rows")
    if panes.calls.listed.requested[1]:
        panes.calls.action_slowest()
    await stage.until(lambda: not panes.calls.listed.is_waiting, "the order by time")
    rows = panes.calls.listed.rows
    for y in reversed(range(len(rows))):
        if rows[y].is_fold and rows[y].is_open:
            rows.toggle(y)
    thoughts = panes.transcript.thoughts
    for root in list(panes.transcript.viewport.blocks.subagents._open):
        thoughts.toggle_subagent(root)
    panes.transcript.toggle_reasoning()
    if panes.transcript.viewport.layout.shows_thinking:
        panes.transcript.toggle_reasoning()
    panes.transcript.times.show(False)
    if panes.detail.is_raw:
        panes.detail.toggle_raw()
    for name in ("2", "1"):
        await stage.press(name, "G")
    workspace.selection.release()
    for name in ("2", "1"):
        await stage.press(name, "G")
    viewport = panes.transcript.viewport
    screen.frame_scheduler.at_once()
    await stage.until(lambda: not viewport.is_unsettled, "the blocks")
    await stage.settled()


async def states(
    stage: Stage, theme: str, moments: tuple[int | None, ...]
) -> dict[tuple[int | None, str], list[str]]:
    """Return the lines of every pane, visible or not, at some moments."""
    found: dict[tuple[int | None, str], list[str]] = {}
    for moment in moments:
        await plain(stage, (120, 40), theme, moment)
        found |= {(moment, name): lines_of(stage.pane(name)) for name in PANES}
    return found


async def check_keys(data: bytes, path: Path, seed: int, keys: int) -> None:
    """Press keys in a session that grows meanwhile, and compare it with one that was opened at its end.

    The live moment is compared, and an earlier one.
    """
    random = Random(seed)
    pieces = pieces_of(data, random, 30)
    save(path.with_suffix(".times"), "".join(times_of(data)).encode())
    save(path, next(pieces))
    moments = (None, data.index(b"\n", random.randrange(len(data) * 9 // 10)) + 1)
    pressed: list[str] = []
    async with opened(path, follow=True, config=OWN_KEYS) as stage:
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        theme = stage.app.theme
        try:
            for _ in range(keys):
                pressed.append(await press_any(stage, random))
                if random.random() < 30 / keys and (piece := next(pieces, None)):
                    append(path, piece)
                    pressed.append("grow")
            append(path, b"".join(pieces))
            got = await states(stage, theme, moments)
        except BaseException:
            print(seed, pressed[-30:])
            raise
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before + _MOST_GROWTH
    async with opened(path, follow=True, config=OWN_KEYS) as fresh:
        wanted = await states(fresh, theme, moments)
    for place, lines in wanted.items():
        differing = [pair for pair in zip_longest(got[place], lines) if pair[0] != pair[1]]
        assert not differing, (seed, place, differing[:3])


async def test_random_keys(tmp_path: Path) -> None:
    """Keys of every kind, in a session that grows: the panes are those of a screen opened at its end."""
    await check_keys(DEMO, tmp_path / "session.ndjson", 13, 40)
