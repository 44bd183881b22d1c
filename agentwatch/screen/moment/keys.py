"""The keys that move the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentwatch.screen.moment.moment import Moment
from agentwatch.screen.session_keys import SessionKeys


class MomentKeys(Vertical):
    """The panes of a session, and the keys that move the moment that they show."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", id="pause", tooltip="Pause the moment, or play it from there"),
        Binding("comma", "step(-1)", "Back", show=False, id="step-back", tooltip="One event back"),
        Binding("full_stop", "step(1)", "Forward", show=False, id="step", tooltip="One event forward"),
        Binding("less_than_sign", "call(-1)", "Previous call", show=False, id="moment-previous-call"),
        Binding("greater_than_sign", "call(1)", "Next call", show=False, id="moment-next-call"),
        Binding("left", "move(-5)", "5 s back", show=False, id="seconds-back"),
        Binding("right", "move(5)", "5 s forward", show=False, id="seconds-forward"),
        Binding("shift+left", "move(-60)", "1 min back", show=False, id="minute-back"),
        Binding("shift+right", "move(60)", "1 min forward", show=False, id="minute-forward"),
        Binding("plus,equals_sign", "pace('faster')", "Faster", show=False, id="faster"),
        Binding("minus", "pace('slower')", "Slower", show=False, id="slower"),
        Binding("R", "pace('reverse')", "Reverse", show=False, id="reverse", tooltip="Play backwards"),
        Binding("L", "live", "Live", show=False, id="live", tooltip="Return to the live moment"),
    ]

    def __init__(self, keys: SessionKeys, moment: Moment, on_moved: Callable[[], None]) -> None:
        """Create the keys.

        Args:
            keys: The panes, and the keys that act on the session.
            moment: The moment.
            on_moved: Is called after the moment was moved.
        """
        super().__init__(id="moment")
        self.keys = keys
        self._moment = moment
        self._playhead = moment.playhead
        self._on_moved = on_moved

    def compose(self) -> ComposeResult:
        """Lay out the panes."""
        yield self.keys

    def go_to(self, offset: int) -> None:
        """Show another moment: a number of bytes of the recording."""
        self._playhead.seek(offset)
        self._moved()

    def action_pause(self) -> None:
        """Pause the moment, or play it from there."""
        self._playhead.turn()
        self._moved()

    def action_step(self, lines: int) -> None:
        """Go back or on by one event."""
        self._playhead.step(lines)
        self._moved()

    def action_call(self, step: int) -> None:
        """Go to the moment at which the next (1) or previous (-1) call ended."""
        offset = self._moment.beside_call(step)
        if offset is not None:
            self.go_to(offset)
        else:
            self.notify("no later call" if step > 0 else "no earlier call", markup=False)

    def action_move(self, seconds: int) -> None:
        """Go back or on by some seconds of recorded time."""
        self._playhead.seek_by(seconds * 1000)
        self._moved()

    def action_pace(self, change: str) -> None:
        """Play `faster`, `slower` or in the other direction (`reverse`)."""
        playhead = self._playhead
        {"faster": playhead.faster, "slower": playhead.slower, "reverse": playhead.reverse}[change]()
        self._moved()

    def action_live(self) -> None:
        """Return to the live moment."""
        self._playhead.live()
        self._moved()

    def _moved(self) -> None:
        self._moment.is_sought = True
        self._on_moved()
