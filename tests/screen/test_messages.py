"""How long a message of the screen stays."""

from textual.events import MouseDown
from textual.widgets._toast import Toast

from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.builders.screen.app import bundled, opened
from tests.builders.screen.lines import init
from tests.conftest import Saver


async def test_a_message_ends_with_the_next_key_or_click() -> None:
    """A message is about what was selected when it came: another key, also one without an action, and a
    click end it. A key that says the same keeps the message that is shown."""
    async with opened(bundled("demo")) as stage:
        for end in ("j", "8", "click"):
            await stage.press("E")
            await stage.shows("failure 1 of 1")
            if end == "click":
                stage.app.post_message(MouseDown(None, 5, 9, 0, 0, 1, False, False, False))
            else:
                await stage.press(end)
            await stage.until(lambda: "failure 1 of 1" not in stage.text(), f"the end by {end}")
        await stage.press(">")
        await stage.shows("no later call")
        [toast] = stage.app.screen.query(Toast)
        await stage.press(">", ">")
        assert [*stage.app.screen.query(Toast)] == [toast]


async def test_a_warning_that_no_key_asked_for_can_be_read() -> None:
    """A warning that comes while the user types stays for a second, and the first key after that ends it."""
    async with at_home([row("one"), row("two")]) as stage:
        stage.app.warn("a rule was hit")
        await stage.press("j")
        await stage.shows("a rule was hit")
        stage.app._read_until = 0.0
        await stage.press("k")
        await stage.until(lambda: "a rule was hit" not in stage.text, "the end")


async def test_a_key_about_a_call_says_that_none_is_selected(recording: Saver) -> None:
    """In a session without calls, the keys that need one say why they do nothing."""
    none = "o call is selected"
    keys = {"e": "no failure", "backspace": f"n{none}", "o": f"N{none}", "y": "nothing to copy"}
    async with opened(recording(init())) as stage:
        await stage.press("2")
        for key, words in keys.items():
            await stage.press(key)
            await stage.shows(words)
