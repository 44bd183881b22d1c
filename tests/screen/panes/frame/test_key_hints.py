"""The line at the bottom shows the keys of the focused pane; where one pane fits, all titles are above."""

from functools import partial

import pytest
from rich.style import Style
from textual import events

from agentwatch.feed.playhead import Replay
from agentwatch.screen.keys import bound_keys
from agentwatch.screen.panes import key_hints
from tests.builders.moment.panes import watch_screen
from tests.builders.moment.timed import ManualClock, timed
from tests.builders.screen.app import Stage, bundled, opened
from tests.builders.screen.lines import answer, init, result, session
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def test_every_hint_is_a_binding() -> None:
    """The hints name bindings that exist, and the first of each group has words."""
    groups = [*key_hints._PANES.values(), *key_hints._BARS.values(), key_hints._EVERYWHERE, key_hints._LAST]
    named = {name for group in groups for names in group for name in names.split()}
    assert named <= set(bound_keys({}))
    assert all(key_hints._LABELS[names.partition(" ")[0]] for group in groups for names in group)


@pytest.mark.system
async def test_each_pane_has_its_keys(recording: Saver) -> None:
    """The keys of the focused pane come first, as many as fit; help and quit come last."""
    async with opened(recording(session(3) + result()), (140, 50)) as stage:
        # The keys of the focused pane come first, help and quit last; in a bar, only its own keys are shown.
        assert "space" not in stage.rows()[-1]  # of a saved session nothing plays
        shown = {}
        watch_screen(stage).workspace.add_stderr(["a warning"])
        for key in "1234":
            await stage.press(key)
            shown[key] = stage.rows()[-1]
            assert shown[key].endswith("? Help  q Quit")
        assert shown["1"].startswith(" enter Open  [ ] Calls  t Thinking")
        assert shown["2"].startswith(" enter Detail  backspace Transcript")
        assert shown["3"].startswith(" esc Back  J K Calls  w Wrap  ! Failing line  i Session  r Raw")
        assert shown["4"].startswith(" enter Whole line  w Wrap  x Hide  / Find")
        await stage.press("slash")
        assert stage.rows()[-1] == " ↓ ↑ Next, previous  esc Back"
        await stage.press("escape", "f")
        assert stage.rows()[-1] == " tab Complete  esc Clear"
        # A click on a hint does what its key does.
        await stage.press("escape", "1")
        x = stage.rows()[-1].index("? Help")
        await stage.pilot.click("#keys", offset=(x + 1, 0))
        await stage.until(lambda: len(stage.app.screen_stack) == 2, "the help")
        # While the terminal does not have the focus, the keys of the last pane are shown.
        await stage.press("escape")
        before = stage.rows()[-1]
        stage.app.post_message(events.AppBlur())
        await stage.pilot.pause()
        await stage.pilot.resize_terminal(139, 50)
        await stage.until(lambda: len(stage.rows()[0]) <= 139, "the new size")
        assert stage.rows()[-1].startswith(before[:30])
        # Help and quit are always shown; no hint is cut.
        stage.app.post_message(events.AppFocus())
        for width in (40, 60, 80, 100, 120, 200):
            with case(width):
                await stage.pilot.resize_terminal(width, 24)
                await stage.until(partial(has_keys, stage, width), "the keys")
                assert len(stage.rows()[-1]) <= width
        # At an earlier moment, the keys that go by events are named by what they do there, and only once.
        assert ", . Moment" in stage.rows()[-1]
        await stage.press("comma")
        await stage.shows(", . Event")
        assert ", . Moment" not in stage.rows()[-1]


def has_keys(stage: Stage, width: int) -> bool:
    """Return whether the screen has this width, and its last row ends with the keys that are always shown."""
    strips = stage.app.screen._compositor.render_strips()
    return strips[-1].cell_length == width and strips[-1].text.rstrip().endswith("? Help  q Quit")


@pytest.mark.system
async def test_space_is_named_by_what_it_does(recording: Saver) -> None:
    """The key is `Pause` while the moment is live or plays, in every pane, and `Play` once pressed."""
    async with opened(recording(init() + answer("Soon.")), follow=True) as stage:
        await stage.shows("space Pause")
        await stage.press("space")
        await stage.shows("space Play")
    lines = session(3) + result()
    path = timed(recording(lines), *range(lines.count(b"\n")))
    async with opened(path, (80, 24), replay=Replay(clock=ManualClock())) as stage:
        watch_screen(stage).workspace.add_stderr(["a warning"])
        for key in "1234":
            await stage.press(key)
            await stage.shows("space Pause")
        await stage.press("space")
        await stage.shows("space Play")


def style_of(stage: Stage, title: str) -> Style | None:
    return next(segment.style for segment in stage.segments() if segment.text.strip() == title)


@pytest.mark.system
async def test_the_tabs_name_the_visible_pane_and_the_filter() -> None:
    """The title of the visible pane is bold; while a filter hides calls, their tab says so."""
    async with opened(bundled("demo"), (80, 24)) as stage:
        # While a filter hides calls, their tab says so at once; other titles give way where there is no room.
        for width in (80, 40):
            await stage.pilot.resize_terminal(width, 24)
            await stage.press("f", *"shell", "enter")
            await stage.shows('2 Calls · 11 hidden by "shell"')
            assert ("1 Transcript" in stage.text()) is (width == 80)
            await stage.press("escape")
            await stage.until(lambda: "hidden by" not in stage.text(), "all calls")
            await stage.shows("1 Transcript 2 Calls 3 Detail")
        # The title of the visible pane is bold, and no other title is.
        titles = ("1 Transcript", "2 Calls", "3 Detail", "4 stderr")
        await stage.pilot.resize_terminal(80, 24)
        watch_screen(stage).workspace.add_stderr(["a warning"])
        for key, shown in (("2", "2 Calls"), ("3", "3 Detail"), ("4", "4 stderr"), ("1", "1 Transcript")):
            await stage.press(key)
            await stage.settled()
            bold = [title for title in titles if (style := style_of(stage, title)) and style.bold]
            assert bold == [shown]
