"""The session box: lists in tabs, of which each keeps its selected row and its scroll position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.unread import Play
from agentwatch.screen.screens.session.panes import TabLine
from agentwatch.screen.widgets.line_view import RowView
from agentwatch.session.call import Call

TABS = ("happened", "time", "tests", "files", "checks")
_SYNC_SECONDS = 0.5
_SLICE_SECONDS = 0.01
"""Seconds of work per slice, and the pause between two slices while more is left."""

Item = TypeVar("Item")


class Place(NamedTuple):
    """The selected item of a list, and the first row in view; None to scroll no further than to the item."""

    key: object
    top: int | None = None


@dataclass
class BoxState:
    tab: str = "happened"
    places: dict[str, Place] = field(default_factory=dict)
    """The place of each list that the user has moved, by its id."""
    is_by_name: bool = False
    moment: object = None
    """The moment for which a test run was selected last."""
    sought: object = None
    ms_at: Callable[[int], int | None] = lambda _: None
    """Returns the time of a moment."""


class Opened(NamedTuple):
    call: Call
    at_end: bool
    """Whether to show the end of the call, instead of staying at the moment that is shown."""


class BoxList(RowView, Generic[Item]):
    """A list of a tab. While the list grows, the item with the same key stays selected."""

    second: BoxList[Any] | None = None
    """The list below this one, about the selected item of this one."""
    opens_second = False
    hint = ""
    """The keys of this list and their effects, for the frame."""

    def __init__(self, id: str, state: BoxState) -> None:
        super().__init__("", id=id)
        self.items: Sequence[Item] = ()
        self.title = ""
        self._state = state
        self._wanted = state.places.get(id)
        """The place to restore; None once everything is read, or the user has moved."""

    @property
    def lists(self) -> Iterator[BoxList[Any]]:
        yield from (self, self.second) if self.second is not None else (self,)

    @property
    def chosen(self) -> Item | None:
        return self.items[self.cursor] if 0 <= self.cursor < len(self.items) else None

    @property
    def first(self) -> int:
        return 0

    def key(self, item: Item) -> object:
        """Return what an item is about, which stays the same when the item changes."""
        return item

    def take(self) -> bool:
        """Read a small piece; return whether more is left."""
        return False

    def update_items(self, *, is_more: bool) -> None:
        """Show what was read; `is_more` says whether more is left to read."""
        raise NotImplementedError

    def opened(self) -> Opened | None:
        return None

    def line_count(self) -> int:
        return len(self.items)

    def sync(self) -> bool:
        """Read for one time slice, and show it; return whether more is left."""
        until = perf_counter() + _SLICE_SECONDS
        while (is_more := self.take()) and perf_counter() < until:
            pass
        self.update_items(is_more=is_more)
        return is_more

    def show(
        self,
        items: Sequence[Item],
        title: str,
        *,
        is_more: bool = False,
        follows_first: bool = False,
        is_other: bool = False,
    ) -> None:
        """Show other items. The first row is selected until the user moves (`follows_first`), or if the items
        have nothing in common with those before (`is_other`)."""
        wanted, chosen = self._wanted, self.chosen
        stays_first = is_other or (follows_first and self.cursor == self.first)
        if wanted is None and chosen is not None and not stays_first:
            wanted = Place(self.key(chosen))
        self.items = items
        self.title = title
        self.border_title = Content(f" {title} ")
        if is_other:
            self.settle_at(0)
        self.show_lines()
        found = None if wanted is None else self.row_of(wanted.key)
        row = self.first if found is None else found
        if row != self.cursor:
            self.go(row)
        if found is not None and wanted is not None and wanted.top is not None:
            self.once_shown(partial(self.settle_at, wanted.top))
        if not is_more:
            self._wanted = None

    def row_of(self, key: object) -> int | None:
        return next((row for row, item in enumerate(self.items) if self.key(item) == key), None)

    def choose(self, row: int) -> None:
        self._wanted = None
        self.go(row)

    def go(self, row: int) -> None:
        super().choose(row)

    def keep_place(self) -> None:
        top, name = self.scroll_offset.y, self.id or ""
        if self._wanted is not None or self.chosen is None:
            return
        if self.cursor == self.first and top == 0:
            self._state.places.pop(name, None)
        else:
            self._state.places[name] = Place(self.key(self.chosen), top)


class SessionBox(ModalScreen[Opened | Play | None]):
    """Lists in tabs, by the names of the tabs. The box is dismissed with the call that the user opened, with
    the way to play what happened, or with None. `play` returns None if the times are unknown."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-medium"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "dismiss", "Back"),
        Binding("i", "dismiss", "Back", id="session-box"),
        Binding("enter", "open", "Open"),
        *(Binding(str(number), f"tab('{name}')", name) for number, name in enumerate(TABS, 1)),
        Binding("left", "step(-1)", "Previous tab"),
        Binding("right", "step(1)", "Next tab"),
        Binding("tab", "next_list(1)", "Next list"),
        Binding("shift+tab", "next_list(-1)", "Previous list"),
        Binding("p", "play", "Play"),
    ]

    def __init__(
        self, tabs: Mapping[str, BoxList[Any]], state: BoxState, play: Callable[[], Play | None]
    ) -> None:
        super().__init__()
        self._tabs = tabs
        self._state = state
        self._play = play
        self._line = TabLine(id="box-tabs")
        self._box = Vertical(id="box")

    def compose(self) -> ComposeResult:
        with self._box:
            yield self._line
            for name, each in self._tabs.items():
                yield Vertical(*each.lists, id=f"tab-{name}")

    def on_mount(self) -> None:
        self.action_tab(self._state.tab if self._state.tab in self._tabs else next(iter(self._tabs)))
        self._keep_updated()

    @property
    def shown(self) -> BoxList[Any]:
        return self._tabs[self._state.tab]

    def sync(self) -> bool:
        is_more = self.shown.sync()
        self._box.border_title = Content(f"Session · {self.shown.title}")
        return is_more

    def dismiss(self, result: Opened | Play | None = None) -> AwaitComplete:
        for each in self._all_lists():
            each.keep_place()
        return super().dismiss(result)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """In a short terminal the stylesheet shows only the list that has the focus."""
        self.set_class(event.widget is self.shown.second, "-second")
        if isinstance(event.widget, BoxList):
            hints = (event.widget.hint, "1–5 ← → tabs", "esc back")
            self._box.border_subtitle = Content(" · ".join(filter(None, hints)))

    def action_tab(self, name: str) -> None:
        self._state.tab = name
        for each in self._tabs:
            self.query_one(f"#tab-{each}").display = each == name
        self._line.show({each: f" {at} {each} " for at, each in enumerate(self._tabs, 1)}, name)
        self.set_focus(self.shown, scroll_visible=False)
        self.sync()

    @on(TabLine.Clicked)
    def _clicked(self, event: TabLine.Clicked) -> None:
        self.action_tab(event.name)

    def action_step(self, step: int) -> None:
        names = [*self._tabs]
        self.action_tab(names[(names.index(self._state.tab) + step) % len(names)])

    def action_next_list(self, step: int) -> None:
        """Focus the next (1) or previous (-1) list, in the next tab if it is there."""
        lists = [*self._all_lists()]
        at = lists[(lists.index(self._focused_list()) + step) % len(lists)]
        name = next(name for name, first in self._tabs.items() if at in (first, first.second))
        if name != self._state.tab:
            self.action_tab(name)
        self.set_focus(at, scroll_visible=False)

    def action_open(self) -> None:
        at = self._focused_list()
        if (opened := at.opened()) is not None:
            self.dismiss(opened)
        elif at.second is not None and at.opens_second and at.chosen is not None:
            self.set_focus(at.second, scroll_visible=False)

    def action_back(self) -> None:
        """Return from the lower list to the upper one; from that, close the box."""
        if self._focused_list() is self.shown:
            self.dismiss(None)
        else:
            self.set_focus(self.shown, scroll_visible=False)

    def action_play(self) -> None:
        play = self._play()
        if play is None:
            self.notify("cannot play: the recording has no times", markup=False)
        else:
            self.dismiss(play)

    def _all_lists(self) -> Iterator[BoxList[Any]]:
        return chain.from_iterable(each.lists for each in self._tabs.values())

    def _focused_list(self) -> BoxList[Any]:
        return self.focused if isinstance(self.focused, BoxList) else self.shown

    def _keep_updated(self) -> None:
        self.set_timer(_SLICE_SECONDS if self.sync() else _SYNC_SECONDS, self._keep_updated)
