"""Before the first frame every widget is styled once, and a component style is computed when it is used."""

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual import events
from textual._compositor import Compositor, CompositorUpdate, ReflowResult
from textual.app import App, ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from agentwatch.cli.terminal import claimed_terminal
from agentwatch.screen.screens.session.finish_summary import FinishSummary
from agentwatch.screen.screens.session.marked_moments import MarkedMoments
from agentwatch.screen.terminal.frames import component_style, eager_classes
from tests.builders.screen.app import opened
from tests.builders.screen.lines import answer, init, prompt, result, shell
from tests.conftest import Saver

NAMES = ("line--plain", "line--added", "line--dim")


class Lazy(Widget):
    """A widget whose component styles Textual does not know."""


class Eager(Widget):
    """A widget with the same styles, all of which Textual computes."""

    COMPONENT_CLASSES = set(NAMES)


class Both(App[None]):
    """An app with both widgets."""

    CSS = """
    Lazy, Eager {
        background: $surface;
        color: $foreground;
        .line--plain { color: $text-accent; }
        .line--added { color: $text-success; background: $success 12%; }
        .line--dim { text-style: italic; }
    }
    Lazy:ansi, Eager:ansi { .line--dim { text-style: dim; } }
    """

    def compose(self) -> ComposeResult:
        yield Lazy()
        yield Eager()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
async def test_a_style_is_the_one_that_textual_computes(theme: str) -> None:
    """In every theme a component's own style and its blended style equal those of Textual."""
    async with Both().run_test() as pilot:
        pilot.app.theme = theme
        await pilot.pause()
        lazy, eager = pilot.app.query_one(Lazy), pilot.app.query_one(Eager)
        styles = [component_style(lazy, name) for name in NAMES]
        assert styles == [component_style(eager, name) for name in NAMES]
        assert len(set(styles)) == len(NAMES)


def test_stock_textual_computes_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual is given the classes on stock Textual only."""
    assert eager_classes(NAMES) == set()
    monkeypatch.setenv("AGENTWATCH_STOCK", "1")
    assert eager_classes(NAMES) == set(NAMES)


@pytest.mark.slow
async def test_a_pane_without_the_focus_is_styled_once(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a session computes the styles of each of its widgets once, and again where the focus goes."""
    styled: Counter[str] = Counter()
    apply = Stylesheet.apply

    def counted(stylesheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        styled[node.id or ""] += 1
        apply(stylesheet, node, **options)

    monkeypatch.setattr(Stylesheet, "apply", counted)
    async with opened(recording(init() + prompt("go")), (160, 50)) as stage:
        await stage.settled()
        assert {styled[name] for name in ("header", "status", "calls", "detail", "keys")} == {1}
        assert styled["transcript"] == 2


@pytest.mark.slow
async def test_a_resize_to_the_same_size_lays_out_nothing(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resize lays out the screen if the size is another one. Before the first frame three tell the same."""
    sizes: list[Size] = []
    reflow = Compositor.reflow

    def noted(compositor: Compositor, parent: Widget, size: Size) -> ReflowResult:
        sizes.append(size)
        return reflow(compositor, parent, size)

    monkeypatch.setattr(Compositor, "reflow", noted)
    async with opened(recording(init() + prompt("go")), (160, 50)) as stage:
        await stage.settled()
        sizes.clear()
        stage.app.screen.post_message(events.Resize(stage.app.size, stage.app.size))
        await stage.settled()
        assert sizes == []
        await stage.pilot.resize_terminal(120, 40)
        assert sizes[0] == (120, 40)


@pytest.mark.slow
async def test_garbage_is_collected_after_the_first_frame(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage is collected after the first frame, or after an app that failed before it."""
    # The first frame is drawn before the first collection, and garbage is collected from then on.
    collects: list[bool] = []
    display = App._display

    def noted(app: App[Any], screen: Screen[Any], renderable: RenderableType | None) -> None:
        collects.append(gc.isenabled())
        display(app, screen, renderable)

    monkeypatch.setattr(App, "_display", noted)
    monkeypatch.setenv("TEXTUAL_DRIVER", "none")  # the descriptors of the test stay as they are
    with claimed_terminal():
        async with opened(recording(init() + prompt("go"))) as stage:
            await stage.settled()
            assert gc.isenabled()
    assert collects[0] is False
    # An app that fails before its first frame leaves the collection of garbage enabled.
    monkeypatch.setenv("TEXTUAL_DRIVER", "none")
    with pytest.raises(ZeroDivisionError), claimed_terminal():
        raise ZeroDivisionError
    assert gc.isenabled()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the app writes to the terminal, frame by frame."""
    frames: list[str] = []
    display = App._display

    def noted(app: App[Any], screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            frames.append(renderable.render_segments(app.console))
        display(app, screen, renderable)

    monkeypatch.setattr(App, "_display", noted)
    return frames


@pytest.mark.slow
async def test_what_the_first_frame_shows_is_not_written_again(recording: Saver, written: list[str]) -> None:
    """While nothing changes, the frame of each of the three panes is written once, in one frame."""
    async with opened(recording(init() + prompt("go")), (160, 50), follow=True) as stage:
        await stage.settled()
        assert [frame.count("╭") for frame in written if "╭" in frame] == [3]
        picture = stage.app.export_screenshot()
        assert picture.count("╭") == 3
        assert [*map(picture.find, ("Transcript", "Calls", "Help"))] == sorted(
            map(picture.find, ("Transcript", "Calls", "Help"))
        )


@pytest.mark.slow
async def test_the_newest_text_is_shown_before_what_is_left_is_searched(
    recording: Saver, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest text is drawn before the marked moments and the summary of the end are read."""
    were_shown: list[tuple[str, bool]] = []
    for cls, name in ((MarkedMoments, "update"), (FinishSummary, "read")):
        read = getattr(cls, name)

        def noted(*given: Any, _name: str = name, _read: Any = read) -> Any:
            were_shown.append((_name, any("farewell" in frame for frame in written)))
            return _read(*given)

        monkeypatch.setattr(cls, name, noted)
    path = recording(init() + prompt("go") + shell(1, 0, "ok") + answer("farewell") + result("farewell"))
    async with opened(path, (160, 50)) as stage:
        await stage.until(lambda: len({name for name, _ in were_shown}) == 2, "both to be read")
    assert all(is_shown for _, is_shown in were_shown)


@pytest.mark.slow
async def test_styles_are_read_when_they_are_used(recording: Saver) -> None:
    """The first frame takes the styles of the panes; the help and the time bar read theirs once."""
    async with opened(recording(init() + prompt("hi"))) as stage:
        read = stage.app.stylesheet.source
        assert {"app", "short"} < {Path(path).stem for path, _ in read}
        assert {"home", "overlays", "time_bar"}.isdisjoint(Path(path).stem for path, _ in read)
        for _ in range(2):
            await stage.press("question_mark")
            assert stage.app.screen.query_one("#help-box").styles.max_width is not None
            await stage.press("escape")
        await stage.press("comma")
        await stage.until(lambda: bool(stage.app.screen.query("#time-bar")), "the time bar")
        assert stage.app.screen.query_one("#time-bar").styles.height is not None
        names = [Path(path).stem for path, _ in read]
        assert names.count("overlays") == names.count("time_bar") == 1
