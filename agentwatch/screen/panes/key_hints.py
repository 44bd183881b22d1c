"""The line at the bottom: the keys that work in the focused pane.

Textual's footer is empty while the terminal does not have the focus.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from agentwatch.screen.keys import bound_keys, key_label, shortcuts
from agentwatch.text.safe import SafeText, columns

_HOME = (
    *("open-session", "preview", "find-session", "filter-sessions", "sort-sessions", "ring"),
    *("why", "go-to-terminal", "show-hidden", "next-urgent", "mark-session", "archive-session", "export"),
)
_PANES = {
    "transcript": ("open-line", "previous-line next-line", "thinking", "times"),
    "calls": ("open", "show-in-transcript", "slowest-calls", "open-file"),
    "detail": ("back", "next-call previous-call", "wrap", "failing-line", "session-box", "raw", "open-file"),
    "stderr": ("whole-line", "wrap-stderr", "hide-stderr"),
    "home": _HOME,
    "home-asks": ("answer", *_HOME),
    "home-unseen": ("show-hidden", "find-session", "filter-sessions", "sort-sessions"),
    "home-empty": (),
}
"""The bindings of each pane, the most important first; their words are the label of the first of a group."""
_ALONE = frozenset(("home", "home-asks", "home-unseen", "home-empty", "home-demo"))
_BARS = {
    "find": ("find-next find-previous", "find-back"),
    "filter": ("complete", "drop-filter"),
    "home-find": ("drop-words",),
    "home-filter": ("complete", "drop-words"),
}
"""The keys of a bar while text is typed in it; all other keys are letters there."""
_MOMENT = "step-back step"
_FAILURE = "next-failure"
_EVERYWHERE = ("find", "filter-calls", _FAILURE, _MOMENT, "session-box", "copy", "maximise")
_LAST = ("help", "leave")
_BEFORE_PAUSE = 2
"""Keys of the pane before the one that pauses the moment, which is shown at 80 columns too."""
_LABELS = {each.id: each.label for each in shortcuts()}
_GAP = 2


class Hint(NamedTuple):
    key: str
    label: SafeText
    words: SafeText
    start: int
    end: int


class KeyHints(Static):
    """Shows as many of the keys of the focused pane as fit; a click presses the key. `rebound` has the user's
    own keys, by binding id. `back_to` names where going back finally leads, such as `Sessions`."""

    def __init__(self, rebound: Mapping[str, str], pane: Callable[[], str], *, back_to: str = "") -> None:
        super().__init__(id="keys")
        self._keys = bound_keys(rebound)
        self._pane = pane
        self._back_to = back_to
        self._unfit: AbstractSet[str] = frozenset()
        self._named = "", False, False, 0
        self._drawn: list[Hint] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self.show_pane)

    def on_resize(self) -> None:
        self.show_pane()

    def name_moment(self, pause: str, *, is_earlier: bool, is_closed: bool, failed: int) -> None:
        """Name the keys that move the moment, and the number of failures. `pause` names what the key that
        pauses does now, if anything. A session that `is_closed` has an end instead of a live moment."""
        named = pause, is_earlier, is_closed, failed
        if named != self._named:
            self._named = named
            self.show_pane()

    def leave_out(self, unfit: AbstractSet[str]) -> None:
        """Offer no binding that cannot act on what is selected."""
        if unfit != self._unfit:
            self._unfit = unfit
            self.show_pane()

    def on_click(self, event: events.Click) -> None:
        for hint in self._drawn:
            if hint.start <= event.x < hint.end:
                self.app.simulate_key(hint.key)

    def show_pane(self, _: Screen[object] | None = None) -> None:
        hints = self._fitting(list(self._hints()))
        if hints != self._drawn:
            self._drawn = hints
            pieces: list[tuple[str, str]] = []
            for hint in hints:
                pieces += [(hint.label, "$text-accent bold"), (f" {hint.words}{' ' * _GAP}", "")]
            self.update(Content.assemble(" ", *pieces), layout=False)

    def _hints(self) -> Iterator[tuple[str, str]]:
        """Yield the binding ids and the words for them, the most important first."""
        focused = self.screen.focused
        bar = focused.parent.id if isinstance(focused, Input) and focused.parent is not None else None
        if bar in _BARS:
            yield from _labelled(_BARS[bar])
            return
        yield from self._last_hints()
        pane, (pause, is_earlier, is_closed, failed) = self._pane(), self._named
        own = [names for names in _PANES.get(pane, ()) if names not in self._unfit]
        yield from [("open-session", "Demo")] if pane == "home-demo" else _labelled(own[:_BEFORE_PAUSE])
        if pause:
            yield "pause", pause
        if is_earlier:
            yield from (
                ("live", "End" if is_closed else _LABELS["live"]),
                (_MOMENT, "Event"),
                *_labelled(["go-to"]),
            )
        yield from _labelled(own[_BEFORE_PAUSE:])
        if pane in _ALONE:
            return
        for names, words in _labelled(_EVERYWHERE):
            if names in own:
                continue
            if names == _FAILURE and failed:
                yield names, f"{words} {failed}"
            elif not (is_earlier and names == _MOMENT):
                yield names, words

    def _last_hints(self) -> list[tuple[str, str]]:
        leads_back = self._back_to and self._pane() != "detail"
        back = [("back", self._back_to)] if leads_back else []
        return [*back, *_labelled(_LAST)]

    def _fitting(self, wanted: list[tuple[str, str]]) -> list[Hint]:
        """Return the hints that fit, in the order in which they are shown: the last two at the end."""
        room, shown = self.size.width - 1, []
        for names, words in wanted:
            keys = [self._keys[name][0] for name in names.split()]
            label = SafeText(" ".join(map(key_label, keys)))
            width = columns(label) + 1 + columns(SafeText(words))
            if width > room:
                break
            room -= width + _GAP
            shown.append((keys[0], label, SafeText(words), width))
        at_end = self._last_hints()
        last = len(at_end) if wanted[: len(at_end)] == at_end else 0
        hints: list[Hint] = []
        start = 1
        for key, label, text, width in [*shown[last:], *shown[:last]]:
            hints.append(Hint(key, label, text, start, start + width))
            start += width + _GAP
        return hints


def _labelled(bindings: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((names, _LABELS[names.partition(" ")[0]]) for names in bindings)
