"""The app of all sessions, of one machine or of several: it lists them, opens one, and rings."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import on
from textual.app import SystemCommand
from textual.screen import Screen

from agentwatch.agents.opening import saved_source
from agentwatch.agents.registry import answered_agents
from agentwatch.agents.session_entry import OWN, Key
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config, Machines
from agentwatch.base.faults import Fault, cannot_open
from agentwatch.base.files import resource, stylesheets
from agentwatch.catalog.acting import Subject
from agentwatch.catalog.row import Row, Rows, Watched
from agentwatch.catalog.row_counts import CountedRows, Counts, counts
from agentwatch.catalog.session_status import LIVE, UNKNOWN
from agentwatch.catalog.status import is_alive
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.recording.acts import continues
from agentwatch.recording.saved import has_both_directions
from agentwatch.screen.keys import SESSIONS, bound_keys, key_label
from agentwatch.screen.screens.session.acting import act, session_name
from agentwatch.screen.screens.session.app import SessionApp
from agentwatch.screen.screens.session.dialogs import LinesDialog
from agentwatch.screen.screens.session.help import Help
from agentwatch.screen.screens.session.screen import FirstShown, WatchScreen, first_shown
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.screens.sessions.answer import PermissionPrompts
from agentwatch.screen.screens.sessions.home import ListFacts, Requested
from agentwatch.screen.screens.sessions.list import Chosen, DemoWanted, Opened, Viewed, Wanted
from agentwatch.screen.screens.sessions.rings import AlarmSigns, Rings, why_silent
from agentwatch.screen.screens.sessions.screen import HomeScreen
from agentwatch.screen.screens.sessions.tmux import pane_of
from agentwatch.screen.screens.sessions.watching import Report, Watching
from agentwatch.screen.screens.sessions.words import facts_of, way_to_answer, why
from agentwatch.screen.terminal.attention import Signals
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.intake import StoreSource
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.output.commands import Commands
    from agentwatch.remote.copying import Copying
    from agentwatch.screen.screens.sessions.rules import StateRules


# Opens the session of a row for a screen, and closes it again. Both may take long, and run in a thread.

_FETCH_SECONDS = 1.0
"""How long to wait for the present bytes of a session elsewhere; the rest is shown as it arrives."""


class OpenSession(NamedTuple):
    row: Row
    source: FileSource | StoreSource
    first: FirstShown
    copying: Copying | None = None
    """The local copy that is filled; None for a session of this machine."""

    def close(self) -> None:
        """Close everything; the screen must be removed before."""
        self.source.close()
        if self.copying is not None:
            self.copying.close()


def open_row(row: Row, machines: Machines) -> OpenSession:
    """Open the session of a row, writing nothing but bookmarks; raise `Fault` if it cannot be opened."""
    if row.address:
        return _open_elsewhere(row, machines)
    source = saved_source(row.path, _follows(row), follow_store=True)
    try:
        return OpenSession(row, source, first_shown(source, Feed(source.reader)))
    except OSError as error:
        source.close()
        raise cannot_open(row.path, error) from None


def open_demo(row: Row) -> OpenSession:
    """Open the bundled session, to replay it; its bookmarks stay in memory."""
    source = saved_source(row.path)
    source.bookmarks_path = None
    return OpenSession(row, source, first_shown(source, Feed(source.reader), is_replayed=True))


def _follows(row: Row) -> bool | None:
    """Return whether a session is to be followed; None if its files know better than the list."""
    if row.is_own or row.status.state is State.UNKNOWN:
        return None
    return row.status.state in LIVE


def _open_elsewhere(row: Row, machines: Machines) -> OpenSession:
    from agentwatch.remote.copying import open_copy, source_of

    copying = open_copy(row.address, machines, os.environ)
    try:
        copying.wait_until_read(_FETCH_SECONDS)
        source = source_of(copying)
        return OpenSession(row, source, first_shown(source, Feed(source.reader)), copying)
    except (Fault, OSError) as error:
        copying.close()
        if isinstance(error, Fault):
            raise
        raise cannot_open(copying.path, error) from None


_OPENING_SECONDS = 0.15
"""A session that opens faster than this opens without a word."""
_PROBLEM_SECONDS = 10.0


class HomeApp(SessionApp[None]):
    """Shows the sessions of the machine, or the screen of one; a thread watches them all the time. `held` are
    the signals that arrived before the app runs, `is_here` says whether this machine is watched."""

    CSS_PATH = stylesheets("time_bar", "overlays")

    def __init__(
        self,
        held: PendingSignals,
        machine: Watched,
        config: Config | None = None,
        *,
        no_color: bool = False,
        is_here: bool = True,
    ) -> None:
        super().__init__(held, config, no_color=no_color)
        self._machine = machine
        take, fail = partial(self.call_later, self._take), partial(self.call_later, self.fail)
        self._commands = self._commands_of_rules()
        alarms = None
        if self.config.on:
            from agentwatch.screen.screens.sessions.rules import session_alarms

            alarms = session_alarms(
                self.config.on, lambda hits: self.call_later(self._alarms.take, hits), self._commands
            )
        self._watching = Watching(machine, take, fail, is_here=is_here, alarms=alarms)
        self._watching.begin()
        self._rings = Rings(by_default=self.config.ring == "all", began_ms=now_ms())
        self._state_rules: StateRules | None = None
        if self._commands is not None:
            from agentwatch.screen.screens.sessions.rules import StateRules

            silenced = self._rings.is_silenced
            self._state_rules = StateRules(self.config.on_sessions, self._commands, now_ms(), silenced)
        self._signals = Signals(self.write_to_terminal, self.config)
        self._rows: Rows = {}
        self._counts = Counts()
        self._counted = CountedRows(counts)
        self._is_settled = False
        """Whether every session was found and read at the last report."""
        self._is_behind = True
        """Whether the list was not shown with the rows of an earlier report."""
        self._continued: tuple[Key, str, int] | None = None
        """The session that was open when the user continued it, with its id and the time."""
        self._opening: Key | None = None
        self._open: OpenSession | None = None
        self._prompts = (
            PermissionPrompts(self, self._offer_answers, self._runs) if "answer" in self.config.act else None
        )
        self._alarms = AlarmSigns(
            self._rings,
            self._signals,
            self.warn,
            lambda: (self._rows, None if self._open is None else self._open.row.key),
            self._show_rows,
        )

    def get_default_screen(self) -> HomeScreen:
        return HomeScreen(self.config)

    @property
    def home(self) -> HomeScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, HomeScreen)), None)

    def on_mount(self) -> None:
        self.call_after_refresh(self._watching.start)
        if self._prompts is not None:
            self._prompts.start()
        self.app_resume_signal.subscribe(self, lambda _app: self._show_title())

    def on_unmount(self) -> None:
        self._watching.stop()
        if self._prompts is not None:
            self._prompts.close()
        self._signals.give_title_back()

    def action_suspend_process(self) -> None:
        self._signals.give_title_back()
        super().action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        if isinstance(screen, HomeScreen):
            yield from screen.column_commands()

    def action_leave(self) -> None:
        self.exit()

    def action_act(self, what: str) -> None:
        if self._open is not None:
            row, keys = self._open.row, bound_keys(self.config.keys)
            key = " ".join(key_label(keys[name][0]) for name in ("back", "go-to-terminal"))
            subject = self._subject(self._rows.get(row.key, row), key)
            act(self, what, subject._replace(started=partial(self._follow, row.key)), "session")

    def _subject(self, row: Row, key: str) -> Subject:
        """Return the session of a row as a subject. `key` is the key that leads to its terminal."""
        pane, prompts = pane_of(row.tmux), self._prompts
        question = None if prompts is None else prompts.question(row)
        name = session_name(row.title, row.agent, row.id, "" if pane is None else pane.words)

        def do(what: str) -> str:
            from agentwatch.sources.control import ask

            return ask(row.path, what)

        return Subject(
            name,
            row.agent,
            row.path,
            do,
            row.host,
            is_live=row.status.state in LIVE,
            is_run=row.is_own and not has_both_directions(row.path),
            is_interrupted=any(each.act == "interrupt" for each in row.acts),
            asks=row.status.state is State.ASKS,
            can_be_answered=row.agent in answered_agents(),
            answer=None if prompts is None or question is None else partial(prompts.open, question, name),
            way=way_to_answer(row, key),
        )

    def _follow(self, key: Key, session_id: str) -> None:
        """Go to the run that continues a session once the run has a row, if the session is open then."""
        self._continued = key, session_id, now_ms()

    async def _go_to_run(self, changed: Sequence[Row]) -> None:
        if self._continued is None or self._open is None or self.screen is not self.session_screen:
            return  # a dialog is not taken away from the user
        key, session_id, at_ms = self._continued
        for row in changed:
            if row.is_own and row.key != key and continues(row.acts, session_id, at_ms):
                self._continued = None
                if self._open.row.key == key:
                    await self._close_session()
                    self.post_message(Opened(row))
                return

    def action_help(self) -> None:
        if self._open is None:
            self.push_screen(Help(self.config.keys, "home", SESSIONS))
        else:
            super().action_help()

    def _take(self, report: Report) -> None:
        if self.is_leaving:
            return
        rows, changed, vanished, self._is_settled = report
        self._is_behind |= self._rings.refresh()
        ringing = self._rings.update(changed, vanished, None if self._open is None else self._open.row.key)
        self._rows, self._counts = rows, self._counted.update(rows, changed, now_ms())
        if self._state_rules is not None:
            self._state_rules.update(changed, vanished, self._rings.begun)
        if ringing := [row for row in ringing if row.agent not in self.config.leave_to]:
            self._signals.alert(_alert_words(ringing))
        self._show_facts()
        self._show_title()
        self._show_rows(None if self._is_behind else report)
        if self._continued is not None:
            self.run_worker(self._go_to_run(changed))
        self._look()

    @on(Viewed)
    @on(Chosen)
    @on(Requested)
    def _look(self) -> None:
        """Let the sessions in view be read at once. A filter and rules need the lines of all that run."""
        if (home := self.home) is None:
            return
        in_view: AbstractSet[Key] = home.in_view if self._open is None else {self._open.row.key}
        if self.config.on or home.is_filtered:
            in_view = in_view | {key for key, row in self._rows.items() if row.status.state in LIVE}
        before, self._machine.in_view = self._machine.in_view, in_view
        if before is None or not in_view <= before:
            self._watching.wake()

    @on(HomeScreen.Archived)
    def _look_at_archive(self) -> None:
        self._watching.wake()

    def _commands_of_rules(self) -> Commands | None:
        if not self.config.on_sessions and not any(each.command for each in self.config.on):
            return None
        from agentwatch.output.commands import Commands

        return Commands(lambda words: self.call_later(self.warn, words))

    def _show_facts(self) -> None:
        if self._open is None:
            return
        source, facts = self._open.source, facts_of(self._rows.get(self._open.row.key))
        if source.facts != facts:
            source.facts = facts
            if (screen := self.session_screen) is not None:
                screen.frame_scheduler.within(0)

    def _show_rows(self, report: Report | None = None) -> None:
        """Show the sessions unless one of them is open. Without `report`, any row may have changed."""
        home = self.home
        self._is_behind = self._open is not None or home is None
        if home is not None and not self._is_behind:
            changed = self._rows if report is None else {row.key: row for row in report.changed}
            rows = dict(self._alarms.applied(self._rings.applied(changed)))
            if self._opening in rows:
                row = rows[self._opening]
                status = row.status._replace(now="opening …", now_since_ms=None)
                rows[row.key] = row._replace(status=status)
            watched = self._machine
            facts = ListFacts(
                self._counts, watched.notes, watched.is_found, self._is_settled, not watched.problem
            )
            home.show(rows, facts, vanished=None if report is None else report.vanished)

    def _show_title(self) -> None:
        needed = self._counts.needs_you
        self._signals.set_title(
            f"agentwatch · {needed} need{'s' * (needed == 1)} you" if needed else "agentwatch"
        )

    @on(HomeScreen.LookedAt)
    def _unmark(self, event: HomeScreen.LookedAt) -> None:
        if self._alarms.look_at(event.key) | self._rings.look_at(event.key):
            self._show_rows()

    @on(Requested)
    def _read_hidden(self, event: Requested) -> None:
        self._machine.wants_all = event.request.shows_hidden or bool(event.request.search)

    @on(Wanted)
    async def _do(self, event: Wanted) -> None:
        row = event.rows[0]
        if event.what == "ring":
            self._toggle_rings(event.rows)
        elif event.what == "why":
            await self._explain(row)
        elif event.what in ("answer", "interrupt", "prompt"):
            key = key_label(bound_keys(self.config.keys)["go-to-terminal"][0])
            act(self, event.what, self._subject(row, key), "list")

    def _toggle_rings(self, rows: Sequence[Row]) -> None:
        keys = [row.key for row in rows if not why_silent(row)]
        if not keys:
            self.notify(why_silent(rows[0]), markup=False)
            return
        try:
            rings = self._rings.toggle(*keys)
            if len(rows) > 1:
                words = "ring when they need you" if rings else "are silent"
                self.notify(f"{len(keys):,} of {plural(len(rows), 'session')} {words}", markup=False)
        except OSError as error:
            self.warn(f"remembered until you quit: rings.json: {error.strerror or 'it cannot be written'}")
        self._show_rows()

    def _runs(self, key: Key) -> bool:
        """Return whether the agent of a session runs, as far as this is known."""
        row = self._rows.get(key)
        return row is not None and row.status.state in LIVE and (row.pid is None or is_alive(row.pid))

    def _offer_answers(self) -> None:
        if self._prompts is not None and (home := self.home) is not None:
            home.offer_answers(self._prompts.sessions)

    async def _explain(self, row: Row) -> None:
        from agentwatch.catalog.evidence import evidence

        facts = await asyncio.to_thread(self._machine.facts, row.key)
        at_ms = now_ms()
        lines = partial(why, row, evidence(row, facts, at_ms), at_ms)
        self.push_screen(LinesDialog(f"Why, at {time_of_day(at_ms)}", lines))

    @on(Opened)
    def _open_row(self, event: Opened) -> None:
        row = event.row
        if not row.can_open:
            self.notify("only the metadata of this session can be read", markup=False)
        elif self._opening != row.key and self._open is None:
            self._opening = row.key
            self.set_timer(_OPENING_SECONDS, self._show_rows)
            opens = partial(open_row, row, self.config.machines)
            self.run_worker(self._show_session(row, opens, event.words))

    @on(DemoWanted)
    def _show_demo(self) -> None:
        path = resource("recordings") / "demo.ndjson"
        row = Row(key=(OWN, "demo"), agent="", id="demo", path=path, status=UNKNOWN, title="demo")
        if self._opening != row.key and self._open is None:
            self._opening = row.key
            self.run_worker(self._show_session(row, partial(open_demo, row), replay=Replay()))

    async def _show_session(
        self, row: Row, opens: Callable[[], OpenSession], words: str = "", replay: Replay | None = None
    ) -> None:
        """Open the session of a row in a thread and show it, unless the user has opened another one
        meanwhile. `words` are searched for in it."""
        try:
            session = await asyncio.to_thread(opens)
        except Fault as fault:
            if self._opening == row.key:
                self._opening = None
                self._show_rows()
            self.notify(safe_line(str(fault)), severity="error", timeout=_PROBLEM_SECONDS, markup=False)
            return
        if self._opening != row.key or self._open is not None:
            await asyncio.to_thread(session.close)
            return
        self._opening, self._open = None, session
        self._look()
        self._show_facts()
        self._rings.look_at(row.key)
        self._alarms.look_at(row.key)
        screen = WatchScreen(
            session.source,
            session.first,
            replay,
            config=_config_of(self.config, rings=self._rings.rings(row.key)),
            write=self.write_to_terminal,
            back_to="Sessions",
        )
        await self.push_screen(screen)
        if words:
            screen.call_after_refresh(lambda: screen.workspace.find_bar.look_for(words, "transcript"))

    @on(Workspace.NothingToClose)
    def _back(self) -> None:
        self.run_worker(self._close_session())

    @on(WatchScreen.FileReplaced)
    async def _open_again(self) -> None:
        if self._open is not None:
            row = self._open.row
            self.notify("the file was truncated or replaced: opening it again", markup=False)
            await self._close_session()
            self.post_message(Opened(row))

    async def _close_session(self) -> None:
        if self._open is None:
            return
        session, self._open = self._open, None
        self._show_rows()
        self._look()
        await self.close_session(session)


def _config_of(config: Config, *, rings: bool) -> Config:
    config = config._replace(title=False)
    return config if rings else config._replace(bell=False, note=False)


def _alert_words(rows: list[Row]) -> str:
    if len(rows) > 1:
        return f"{len(rows):,} sessions need you"
    (row,) = rows
    name = ":".join(words for words in (row.host, row.repo or row.title) if words)
    asked = f"asks: {row.status.now}" if row.status.now else "asks"
    return f"{name}: {asked}" if name else asked
