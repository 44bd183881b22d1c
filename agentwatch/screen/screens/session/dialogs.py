"""The questions that keys answer: whether to stop an agent or to interrupt it, and those of other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Static

from agentwatch.agents.registry import program_named
from agentwatch.screen.widgets.line_view import PopupLines, Spans
from agentwatch.text.safe import SafeText

_UNKNOWN = "Most agents end the turn and exit; of this one it is not known."
_MOST_SURVIVORS = 8


class KeyDialog(ModalScreen[ScreenResultType | None]):
    """Asks a question in some lines, and names the keys that answer it, each with what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Cancel")]

    def __init__(self, lines: Sequence[str], keys: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._lines, self._keys = lines, (*keys, ("esc", "Cancel"))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            for line in (*self._lines, " "):
                yield Static(Content(line))
            for key, does in self._keys:
                yield Static(Content.assemble((f"  {key:<6}", "bold $text-accent"), does))


class LinesDialog(ModalScreen[None]):
    """Shows lines that are laid out for its width."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,w,q", "dismiss", "Back")]

    def __init__(self, title: str, lines: Callable[[int], Iterable[Spans]]) -> None:
        super().__init__()
        self._view = PopupLines(title, lines, id="findings")

    def compose(self) -> ComposeResult:
        yield self._view


class LeaveDialog(KeyDialog[str]):
    """Asks whether to stop the agent, or its `survivors`, one line each, or to keep them running."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "dismiss('stop')", "Stop"),
        Binding("l", "dismiss('keep')", "Leave running"),
    ]

    def __init__(self, headline: SafeText, survivors: Sequence[SafeText] = ()) -> None:
        stopped = "Stop them" if survivors else "Stop the agent"
        left = "Leave them running" if survivors else "Leave it running (recording continues)"
        super().__init__(
            [headline, *(f"  {each}" for each in survivors[:_MOST_SURVIVORS])],
            [("s", f"{stopped} (killed if still running after 10 s)"), ("l", left)],
        )


class InterruptDialog(KeyDialog[str]):
    """Explains an interrupt, and asks whether to send it; after one, also whether to stop the agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss('interrupt')", "Interrupt"),
        Binding("s", "stop", "Stop"),
        Binding("n", "dismiss", "Cancel"),
    ]

    def __init__(self, name: SafeText, agent: str, *, is_interrupted: bool) -> None:
        program = program_named(agent)
        does = (program and program.knowledge.interrupt) or _UNKNOWN
        asks = (
            "An interrupt was sent, and the agent still runs."
            if is_interrupted
            else "Interrupt the agent's turn?"
        )
        stop = [("s", "Stop it: SIGTERM to all of its processes, SIGKILL after 10 s")]
        super().__init__([name, asks, f"  {does}"], [*stop * is_interrupted, ("y", "Interrupt it (SIGINT)")])
        self._is_interrupted = is_interrupted

    def action_stop(self) -> None:
        if self._is_interrupted:
            self.dismiss("stop")
