"""The dialog that interrupts the turn of an agent, and then stops the agent."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentwatch.agents.registry import program_named

IS_OFF = "interrupting is switched off: set interrupt = true in [act] of the settings"
_UNKNOWN = "Most agents end the turn and exit; of this one it is not known."


class InterruptDialog(ModalScreen[str | None]):
    """Says what an interrupt does, and asks whether to send it; after one, also whether to stop the agent.
    `agent` is a foreign text; empty if it is unknown. `is_interrupted` says whether an interrupt was sent
    before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose('interrupt')", "Interrupt"),
        Binding("s", "choose('stop')", "Stop"),
        Binding("escape,q,n", "dismiss", "Cancel"),
    ]

    def __init__(self, agent: str, *, is_interrupted: bool) -> None:
        super().__init__()
        program = program_named(agent)
        self._does = (program and program.knowledge.interrupt) or _UNKNOWN
        self._is_interrupted = is_interrupted

    def compose(self) -> ComposeResult:
        """Show what happens, and the possible answers."""
        keys = [("y", "Interrupt it (SIGINT)"), ("esc", "Cancel")]
        if self._is_interrupted:
            keys[:0] = [("s", "Stop it: SIGTERM to all of its processes, SIGKILL after 10 s")]
        with Vertical(classes="dialog"):
            again = "An interrupt was sent, and the agent still runs." if self._is_interrupted else ""
            yield Static(Content(again or "Interrupt the agent's turn?"))
            yield Static(Content(f"  {self._does}"))
            yield Static(" ")
            for key, does in keys:
                yield Static(Content.assemble((f"  {key:<6}", "bold $text-accent"), does))

    def action_choose(self, act: str) -> None:
        """Close the dialog with the act; `stop` only if it is offered."""
        if act == "interrupt" or self._is_interrupted:
            self.dismiss(act)
