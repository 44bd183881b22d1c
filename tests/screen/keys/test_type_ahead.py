"""Keys that are typed faster than the screen opens what they are meant for."""

import pytest
from textual import events
from textual.widgets import Input

from agentwatch.screen.screens.session.help import Help
from tests.builders.screen.app import Stage, lines_of, opened, viewport
from tests.builders.screen.lines import init, result, session, started
from tests.conftest import Saver
from tests.harness.on_a_pty import DEMO, in_terminal

pytestmark = pytest.mark.slow


async def burst(stage: Stage, *keys: str) -> None:
    """Post keys at once, as a terminal does when they arrive in one read."""
    for key in keys:
        stage.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await stage.pilot.pause()


def typed(stage: Stage, bar: str) -> str:
    """Return the text in the input of a bar."""
    return stage.app.screen.query_one(f"#{bar} Input", Input).value


async def test_keys_typed_ahead_act_where_the_focus_will_be(recording: Saver) -> None:
    """Keys that are typed ahead arrive in the bar or the pane that has the focus by then, all of them."""
    # A key acts in the screen or pane that the keys before it opened, also if all came at once.
    async with opened(recording(session())) as stage:
        await burst(stage, "question_mark", "q", "2", "g")
        await stage.until(lambda: "echo 0" in "".join(viewport(stage.pane("calls"))[:1]), "the first call")
        assert not isinstance(stage.app.screen, Help)
        assert stage.app.is_running
        assert stage.focus == "calls"
    # The letters that follow `/` or `f` in one burst are the words, and none acts as a key of a pane.
    async with opened(recording(session(3) + result())) as stage:
        # The letters that follow `/` in one burst are the query, and none of them acts as a key of a pane.
        await burst(stage, "slash", *"pytest")
        await stage.until(lambda: typed(stage, "find") == "pytest", "the query")
        assert len(stage.app.screen_stack) == 1
        # The letters that follow `f` in one burst are the filter, after a burst that moved to another pane.
        await stage.press("escape")
        await burst(stage, "3", "1", "f", *"shell")
        await stage.until(lambda: typed(stage, "filter") == "shell", "the filter")
        assert '"shell"' in stage.calls.title


@pytest.mark.system
@pytest.mark.parametrize(("size", "keys"), [((80, 24), ""), ((140, 48), "z")], ids=["narrow", "maximised"])
async def test_keys_typed_ahead_act_on_the_lines_of_a_pane_that_was_hidden(
    recording: Saver, size: tuple[int, int], keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that follow `3` act on the branches of the detail, even if it is laid out long after them."""
    data = init() + started("c", "mcp", {"args": {"first": [1], "list": [1, 2]}})
    async with opened(recording(data), size) as stage:
        await stage.press("2", *keys)
        with monkeypatch.context() as busy:
            busy.setattr(stage.app.screen._update_timer, "resume", lambda: None)
            busy.setattr(stage.app.screen, "_on_timer_update", lambda: None)
            await burst(stage, "3", "j", "space", "j", "space")
            for _ in range(10):
                await stage.pilot.pause()
        stage.app.screen.refresh()
        folded = ["▸ first: 1 item", "▸ list: 2 items"]
        await stage.until(lambda: lines_of(stage.pane("detail"))[1:3] == folded, "the folded branches")
        assert not stage.app.screen.has_class("-earlier")


@pytest.mark.system
async def test_a_pane_without_room_for_a_line_delays_no_key(recording: Saver) -> None:
    """In a terminal that has no room for a line of the pane, the keys act."""
    async with opened(recording(session(3) + result()), (80, 2)) as stage:
        await burst(stage, "3", "j", "2", "question_mark")
        await stage.until(lambda: isinstance(stage.app.screen, Help), "the help")


def test_a_burst_on_a_terminal_arrives_whole() -> None:
    """On a real terminal, a burst of keys opens the bar and is its whole text."""
    with in_terminal(str(DEMO)) as terminal:
        terminal.wait_for("succeeded in")
        terminal.send("/pytest")
        terminal.wait_for("Find pytest ")
