"""The screen of all sessions: the list, its preview, and what the keys do with a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.catalog.hiding import archive
from agentwatch.catalog.listing import Listing
from agentwatch.catalog.row import Row, Rows
from agentwatch.catalog.session_status import LIVE
from agentwatch.recording.saved_sessions import MOST_NAME, delete_session, rename_session, session_size
from agentwatch.screen.keys import bindings, bound_keys, key_label
from agentwatch.screen.screens.session.dialogs import KeyDialog
from agentwatch.screen.screens.sessions.cells import NAMES
from agentwatch.screen.screens.sessions.found import FoundScreen
from agentwatch.screen.screens.sessions.home import ContentsWanted, Home, ListFacts
from agentwatch.screen.screens.sessions.list import Chosen, Viewed, Wanted
from agentwatch.screen.screens.sessions.preview import PreviewPane
from agentwatch.screen.screens.sessions.tmux import go_to_pane, pane_of
from agentwatch.screen.screens.sessions.words import foreign
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.terminal.frames import FrameScheduler, MainScreen
from agentwatch.screen.widgets.input_box import LineInput
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.safe import SafeText, cut, safe_line, title_line

_CLOCK_MS = 1_000
_MOST_REST_MS = 10_000
"""The longest time between two ticks while no clock moves: the time may be set."""
_PROBLEM_SECONDS = 10.0
_TITLE_COLUMNS = 50
_MOST_NAMED = 8


class HomeScreen(MainScreen):
    app: TerminalApp[Any]

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("screen"), *bindings("sessions screen")]

    class LookedAt(Message):
        """Posted when a session was selected for a second while the terminal had the focus."""

        def __init__(self, key: Key) -> None:
            super().__init__()
            self.key = key

    class Archived(Message):
        """Posted when sessions were archived, or are archived no longer."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._listing = Listing()
        self._preview = PreviewPane(key_label(bound_keys(config.keys)["go-to-terminal"][0]))
        self._home = Home(config.keys, self._preview, config.columns)
        self._found: FoundScreen | None = None
        self._selected: Key | None = None
        """The session that was selected at the last tick of the clock."""
        self._clock = FrameScheduler(self._tick, self.call_next)

    def compose(self) -> ComposeResult:
        yield self._home

    def on_mount(self) -> None:
        self._home.show(self._listing, ListFacts(is_complete=False, is_settled=False), now_ms())
        self._clock.within(_CLOCK_MS / 1000)

    def on_unmount(self) -> None:
        self._clock.stop()

    def show(self, rows: Rows, facts: ListFacts, *, vanished: Iterable[Key] | None = None) -> None:
        """Show sessions, and draw what changed. `vanished` is None if `rows` has all of them."""
        if self._found is not None and self._found.is_attached:
            self._found.show_rows(rows)
        now = now_ms()
        self._home.limits.update(rows.values())
        if vanished is None:
            self._listing.update(rows.values(), now)
        else:
            self._listing.change(rows.values(), vanished, now)
        self._home.show(self._listing, facts, now)
        self._show_preview()
        self._go_on()

    @property
    def in_view(self) -> frozenset[Key]:
        """The sessions in the list and in the preview."""
        chosen = self._home.sessions.chosen
        return self._home.sessions.in_view | (frozenset() if chosen is None else {chosen.key})

    @property
    def is_filtered(self) -> bool:
        return bool(self._home.request.search or self._home.request.filter)

    def offer_answers(self, keys: frozenset[Key]) -> None:
        self._home.offer_answers(keys)

    def column_commands(self) -> Iterator[SystemCommand]:
        shown = self._home.sessions.columns
        for name in NAMES:
            does = "Hide" if name in shown else "Show"
            yield SystemCommand(f"{does} the column {name}", "", partial(self._home.toggle_column, name))
        yield SystemCommand("Show the columns that fit", "", self._home.reset_columns)

    @on(events.ScreenResume)
    @on(Chosen)
    def _tick_soon(self) -> None:
        self._clock.within(_CLOCK_MS / 1000)

    @on(Viewed)
    def _go_on(self) -> None:
        """Tick when the next clock moves, at a whole second: other rows are in view, or show something."""
        row, now = self._home.sessions.chosen, now_ms()
        is_looked_at = row is not None and (row.is_marked or bool(row.alarm))
        rests = not (is_looked_at or self._preview.display or self._home.limits.shown(now))
        until_ms = min(self._home.sessions.rests_until_ms, now + _MOST_REST_MS) if rests else 0
        due_ms = max(until_ms, now + _CLOCK_MS // 2)
        self._clock.within((due_ms + -due_ms % _CLOCK_MS - now) / 1000)

    def _tick(self) -> None:
        if not self.is_current:
            return
        self._home.tick(now_ms())
        self._preview.tick()
        row = self._home.sessions.chosen
        key = None if row is None else row.key
        if key is not None and key == self._selected and self.app.app_focus:
            self.post_message(self.LookedAt(key))
        self._selected = key
        self._go_on()

    @on(Wanted)
    def _do(self, event: Wanted) -> None:
        rows, row = event.rows, event.rows[0]
        match event.what:
            case "preview":
                self._preview.display = not self._preview.display
                self._show_preview()
            case "terminal":
                self.run_worker(self._switch_to(row))
            case "removal":
                self._delete_recordings(rows)
            case "rename":
                self._rename_recording(row)
            case "export":
                self._export(rows)
            case "archive":
                self._archive(rows)

    @on(Chosen)
    def _show_preview(self) -> None:
        if self._preview.display:
            self._preview.show_row(self._home.sessions.chosen)

    def action_close_preview(self) -> None:
        self._preview.display = False

    @on(ContentsWanted)
    def _find_in_contents(self, event: ContentsWanted) -> None:
        self._found = FoundScreen(event.words, dict(self._listing.rows))
        self.app.push_screen(self._found)

    async def _switch_to(self, row: Row) -> None:
        if row.host:
            self.notify(f"its terminal is on {foreign(row.host)}", markup=False)
            return
        pane = pane_of(row.tmux)
        problem = SafeText("no terminal of this session is known")
        if pane is not None:
            problem = await asyncio.to_thread(go_to_pane, pane, row.pid)
        if problem:
            self.notify(problem, markup=False, timeout=_PROBLEM_SECONDS)

    def _delete_recordings(self, rows: Sequence[Row]) -> None:
        own = [row for row in rows if row.is_own and not row.host]
        if not own:
            self._refuse(rows[0])
        else:
            self.run_worker(self._delete(own, len(rows) - len(own)))

    def _rename_recording(self, row: Row) -> None:
        if row.is_own and not row.host:
            self.run_worker(self._rename(row))
        else:
            self._refuse(row)

    def _refuse(self, row: Row) -> None:
        if row.host:
            self.notify(f"it is on {foreign(row.host)}, where only its owner can change it", markup=False)
        else:
            self.notify("only recordings of agentwatch can be changed", markup=False)

    def _export(self, rows: Sequence[Row]) -> None:
        from agentwatch.screen.screens.session.export import offer_export

        offer_export(self.app, [row.address or row.path for row in rows if row.can_open])
        self._home.sessions.unmark()

    def _archive(self, chosen: Sequence[Row]) -> None:
        """Archive sessions of this machine; show them again if all of them are archived."""
        rows = [row for row in chosen if not row.host]
        if not rows:
            self.notify("only sessions of this machine can be archived", markup=False)
            return
        is_archived = not all(row.is_archived for row in rows)
        keys = [row.key for row in rows if row.is_archived is not is_archived]
        try:
            changed = archive(keys, is_archived=is_archived)
        except OSError as error:
            self._report("cannot archive" if is_archived else "cannot restore", error)
            return
        self.post_message(self.Archived())
        words = "archived" if is_archived else "no longer archived"
        if not changed:
            words = "its agent has archived it"
        elif len(rows) > 1:
            words = f"{plural(changed, 'session')} {words}"
        elif is_archived and rows[0].status.state in LIVE:
            words = "archived: it is hidden once it has ended"
        self.notify(words, markup=False)
        self._home.sessions.unmark()

    async def _delete(self, rows: Sequence[Row], kept: int) -> None:
        """Delete recordings of our own after confirmation; `kept` marked sessions are none."""
        sizes = [await asyncio.to_thread(session_size, row.path) for row in rows]
        if not await self.app.push_screen_wait(DeleteDialog(rows, sum(sizes), kept)):
            return
        freed, deleted = 0, []
        for row in rows:
            try:
                freed += await asyncio.to_thread(delete_session, row.path)
            except OSError as error:
                self._report("cannot delete", error)
            else:
                deleted.append(row)
        self._home.sessions.unmark()
        if deleted:
            what = title_words(deleted[0]) if len(rows) == 1 else plural(len(deleted), "recording")
            if len(deleted) == len(rows):
                self.notify(f"deleted {what}: {byte_size(freed)}", markup=False)

    async def _rename(self, row: Row) -> None:
        name = await self.app.push_screen_wait(RenameDialog(row))
        if name is None:
            return
        try:
            await asyncio.to_thread(rename_session, row.path, name)
        except OSError as error:
            self._report("cannot rename", error)

    def _report(self, what: str, error: OSError) -> None:
        words = safe_line(f"{what} the session: {error.strerror or error}")
        self.notify(words, severity="error", markup=False, timeout=_PROBLEM_SECONDS)


# The dialogs that delete and rename one of our own recordings.


class DeleteDialog(KeyDialog[bool]):
    """Asks whether to delete recordings with all of their files; `kept` counts marked ones of others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Delete"),
        Binding("n", "dismiss", "Cancel"),
    ]

    def __init__(self, rows: Sequence[Row], size: int, kept: int = 0) -> None:
        if len(rows) == 1:
            files = f"{rows[0].path.name} and the files beside it: {byte_size(size)}"
            lines = [f"Delete {title_words(rows[0])}?", f"  {safe_line(files)}"]
        else:
            lines = [f"Delete {len(rows):,} recordings: {byte_size(size)}?"]
            lines += [f"  {title_words(row)}" for row in rows[:_MOST_NAMED]]
            lines += [f"  and {len(rows) - _MOST_NAMED:,} more"] if len(rows) > _MOST_NAMED else []
        lines += [f"  {kept:,} of other programs stay{'s' * (kept == 1)}"] if kept else []
        super().__init__(lines, [("y", "Delete (cannot be undone)")])


class RenameDialog(ModalScreen[str | None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="rename"):
            yield Static(Content(SafeText(f"Name of {title_words(self._row)}")))
            yield LineInput(title_line(self._row.title[:MOST_NAME]), max_length=MOST_NAME, compact=True)
            yield Static(Content("enter: rename · empty: no name · esc: cancel"))

    @on(Input.Submitted)
    def _rename(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)


def title_words(row: Row) -> SafeText:
    title = cut(title_line(row.title), _TITLE_COLUMNS)
    return SafeText(f"“{title}”") if title else safe_line(row.id)
