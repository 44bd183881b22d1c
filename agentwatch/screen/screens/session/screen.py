"""The screen of a session: its panes under a header and a status line, updated by a periodic tick.

A tick reads new lines of the recording for a few milliseconds and then updates every pane once. Events are
not Textual messages, of which 490 to 711 are handled per second.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.silence import is_stalled
from agentwatch.analysis.status import NO_WAITS, open_question, status, user_wait, waiting_calls
from agentwatch.analysis.unread_counts import START, mark
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed, output_tail, preview_feed
from agentwatch.feed.history import neighbour_call
from agentwatch.feed.playhead import Replay
from agentwatch.recording.acts import SessionActs
from agentwatch.recording.saved import has_both_directions
from agentwatch.screen.keys import bindings, bound_keys, key_label, shortcuts
from agentwatch.screen.panes.header import BEHIND_BYTES, HeaderLine, StatusLine, pause_words, view_words
from agentwatch.screen.panes.key_hints import KeyHints
from agentwatch.screen.panes.moment import Change, Moment, Reach, live_ms
from agentwatch.screen.panes.transcript.viewport import BlockViewport
from agentwatch.screen.screens.session.marked_moments import MarkedMoments
from agentwatch.screen.screens.session.notices import Notices
from agentwatch.screen.screens.session.preview import PreviewSwap
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.terminal.compositor import draw_now
from agentwatch.screen.terminal.editor import line_of, open_in_editor
from agentwatch.screen.terminal.frames import LIVE_SHARE, LOADING_SHARE, FrameScheduler, MainScreen
from agentwatch.session.agent_process import NO_FACTS
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.reducers import keep_few
from agentwatch.sources.agent_processes import Survivor
from agentwatch.sources.source import Source
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.files import TouchedFiles
    from agentwatch.analysis.moments import Asked
    from agentwatch.analysis.time import TimeBreakdown
    from agentwatch.analysis.unread import Play
    from agentwatch.screen.panes.time_bar import TimeBar
    from agentwatch.screen.screens.session.box import BoxState, Opened
    from agentwatch.screen.screens.session.box_files import Sought
    from agentwatch.screen.screens.session.finish_summary import FinishSummary
    from agentwatch.screen.screens.session.goto import Goal
    from agentwatch.session.session import Session


# What the screen of a session shows at first: the whole session, or a preview until the whole is read.

_LARGE_BYTES = 8 << 20
"""A saved recording that is larger than this is shown as a preview until it is read."""
_MOST_SETTLED, _MOST_ENDED = 16_384, 12_288
"""The calls and texts of such a recording that stay unpacked: 25 MB. 1 GB loads with 4 % less CPU."""


FirstShown = tuple[Feed, Feed | None]
"""Two feeds: that of the session and None, or that of a preview and that of the whole recording."""


def first_shown(source: Source, feed: Feed, *, is_replayed: bool = False) -> FirstShown:
    """Return the feeds that are shown first: a preview for a large saved recording that is not replayed."""
    keep_few(feed.session)
    feed.acts_of = SessionActs.of_file(source.path)
    if feed.backlog() <= _LARGE_BYTES or is_replayed or source.wakeup is not None:
        return feed, None
    session = feed.session
    session.calls.most_settled, session.transcript.most_ended = _MOST_SETTLED, _MOST_ENDED
    return preview_feed(source.reader, feed.agent), feed


_PLAY_SECONDS = 1 / 30
_FOLLOW_SECONDS = 0.05
_CALL_SECONDS = 0.2
_CLOCK_SECONDS = 1.0
_STATUS_SECONDS = 0.1
"""Seconds between two updates of header, status line and the clocks of running calls while lines arrive. They
would be an eighth of the Python calls of 50 frames a second."""
_LOADING_SECONDS = 0.25
"""Seconds between two updates of the panes while a file is read for the first time. Each update lays out and
draws a part of the session that nobody reads: with one each slice, they took as long as reading it."""
_SURVIVORS_SECONDS = 1.0
_APPLY_SECONDS = 0.012
"""Seconds of reading per tick; while the screen is behind, `_CATCH_UP_SECONDS`."""
_CATCH_UP_SECONDS = 0.015
_FIRST_READ_SECONDS = 0.05
"""Seconds of reading per tick until all is read: 2 MB take 20 ms, and need no frame in between."""


_MOVING = frozenset(each.action.partition("(")[0] for each in shortcuts() if each.place == "moment")
_ACTIONS = _MOVING | {each.action.partition("(")[0] for each in shortcuts() if each.place == "session"}
_PLACES = frozenset(("lines", "transcript", "calls", "detail", "stderr", "workspace", "moment"))
"""The places in which keys fold the summary of what happened."""


class WatchScreen(MainScreen):
    """Shows a session, live or saved. `back_to` names where going back finally leads, such as `Sessions`."""

    app: TerminalApp[Any]

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("screen"),
        *bindings("session"),
        *bindings("moment"),
    ]

    class FileReplaced(Message):
        """Posted when the file that is followed was truncated or replaced: it is another recording now."""

    is_earlier = var(False, toggle_class="-earlier")

    def __init__(
        self,
        source: Source,
        first: FirstShown,
        replay: Replay | None = None,
        asked: Asked | None = None,
        *,
        config: Config,
        write: Callable[[str], None],
        back_to: str = "",
    ) -> None:
        super().__init__()
        feed, loading = first
        self._progress_at = 0.0
        """When the progress of loading was shown."""
        self._swap = None if loading is None else PreviewSwap(loading, shows_thinking=config.thinking)
        self._source = source
        self._keys = bound_keys(config.keys)
        self._back_to = back_to
        self._hints_of = partial(KeyHints, config.keys, back_to=back_to)
        self.frame_scheduler = FrameScheduler(self._tick, self.call_next)
        self._survivors: list[Survivor] = []
        self.notices = Notices(loading or feed, config, write, source.written.watch)
        self._moment = Moment(loading or feed, source.reader, replay, asked)
        if loading is not None:
            self._moment.shown = feed
        self._marked = MarkedMoments(self._moment, source)
        self._shows_bar = self._moment.opening is not None and self._moment.opening.is_replay
        """Whether the time bar is shown at the live moment too."""
        self._begins = replay is None and asked is None
        """Whether to show what happened once the session is read, if it is finished then."""
        self._happened: FinishSummary | None = None
        """The summary of a finished session, until the user moves; otherwise None."""
        if self._begins and source.reader.growth.has_ended():
            self._happened = _what_happened()  # its place is kept, so that no line moves when it is read
        self._box_state: BoxState | None = None
        """The state of the box; None until the box was opened."""
        self._box_tab = ""
        self._has_more = False
        self._is_read = False
        self._show_at = 0.0
        """When the panes show what was read so far, by the monotonic clock, if not all is read before."""
        is_preview = loading is not None
        self._take(feed, Workspace(feed, shows_thinking=config.thinking, is_preview=is_preview))

    def _take(self, feed: Feed, workspace: Workspace) -> None:
        self._feed = feed
        self._status_at = 0.0
        """The time of the last update of the status, by the monotonic clock."""
        self._calls_wait = 0.0
        """The seconds until the panes of calls were due at the last tick; 0 if they were up to date."""
        self._unshown = 0
        """The events that were read and are not shown yet."""
        self._was_over = False
        self._integrity = integrity(feed.session)
        self._touched: TouchedFiles | None = None
        self._spent: TimeBreakdown | None = None
        self.workspace = workspace
        self._header, self._status = HeaderLine(self._source, self._keys["live"][0]), StatusLine()
        self._hints = self._hints_of(lambda: self.workspace.pane)
        self._time_bar: TimeBar | None = None
        """The time bar; None before it is first shown."""
        self.reach = workspace.find_bar.reach = Reach(
            self._moment, workspace.show_now, self.frame_scheduler.at_once
        )

    def compose(self) -> ComposeResult:
        yield from (self._header, self._status)
        if self._happened is not None:
            self._happened = _what_happened()  # the panes of a preview are replaced, and it with them
            yield self._happened
        yield self.workspace
        if self._shows_bar:
            yield self._make_bar()
        yield self._hints

    def on_mount(self) -> None:
        if self._source.wakeup is not None:
            self.frame_scheduler.listen(self._source.wakeup)
        self._show_at = monotonic() + _LOADING_SECONDS
        self.call_after_refresh(self.frame_scheduler.within, 0)
        if self._source.agent_pid is not None:
            self.set_interval(_SURVIVORS_SECONDS, self._check_survivors)

    def on_unmount(self) -> None:
        self.frame_scheduler.stop()
        self.notices.rest()
        if self._swap is not None:
            self._swap.end()

    @on(BlockViewport.Unsettled)
    @on(events.Resize)
    def _draw_again(self) -> None:
        self.frame_scheduler.within(0)

    def _tick(self) -> float | None:
        """Read new lines and show them; return the seconds until the next tick, None to wait for new data."""
        if not self._hints.is_attached:  # widgets are added, or removed one after the other
            return _FOLLOW_SECONDS
        is_leaving = isinstance(self.app, TerminalApp) and self.app.is_leaving
        if is_leaving or (self._swap is not None and self._swap.is_exchanging):
            return None
        feed, workspace = self._feed, self.workspace
        loading = self._swap if self._swap is not None and self._swap.is_loading else None
        is_behind = feed.backlog() > (BEHIND_BYTES if self._is_read else 0)
        seconds = _CATCH_UP_SECONDS if is_behind else _APPLY_SECONDS
        applied = feed.advance(seconds if self._is_read else _FIRST_READ_SECONDS)
        self.frame_scheduler.share = LOADING_SHARE if is_behind else LIVE_SHARE
        self._unshown += applied
        if not self._is_read and feed.backlog() and monotonic() < self._show_at:
            return 0
        applied, self._unshown = self._unshown, 0
        self._show_at = monotonic() + _LOADING_SECONDS
        was_read = self._is_read
        self._is_read = was_read or not (
            feed.backlog() or self._source.is_filling or (feed.reader.growth.has_ended() and not feed.is_over)
        )
        if self._is_read and loading is None and (self._begins or self._happened is not None):
            self._sync_happened(feed.session)
        if stderr := self._source.new_stderr():
            workspace.add_stderr(stderr)
            applied += 1
        if loading is None:
            applied = self._show_moment() or (applied if self._moment.is_live else 0)
        is_sought, self._moment.is_sought = self._moment.is_sought, False
        shown, now = self._moment.shown, self._moment.now_ms()
        is_live = loading is None and self._moment.is_live and not feed.is_over
        is_streaming = is_live and applied > 0
        if applied or self._calls_wait or feed.is_over != self._was_over:
            if feed.is_over and not self._was_over and loading is None:
                self.call_after_refresh(self.run_worker, self._source.finish, thread=True)
                if self._source.ended_by is not None:
                    self.post_message(self.FileReplaced())
            self._was_over = feed.is_over
            self._calls_wait = workspace.sync(now, is_streaming=is_streaming)
            self._integrity = integrity(shown.session)
        if is_sought:
            workspace.panes.follow(self._moment.take_chosen())
            workspace.selection.show(shown)
        if not applied:
            workspace.panes.transcript.viewport.settle_some()
        wait = max(self._status_at + _STATUS_SECONDS - monotonic(), 0.0) if is_streaming else 0.0
        if not wait:
            self._status_at = monotonic()
            facts = NO_FACTS if self.is_earlier else self._source.agent_facts()
            is_read = self._is_read or not self._moment.is_live
            waits = waiting_calls(shown.session, facts) if is_read else NO_WAITS
            workspace.panes.tick(now, waits)
            asks = user_wait(shown.session, facts, waits) if is_read else None
            self._header.show_run(
                *(shown.session, now, self._moment.as_of, asks, len(waits)),
                is_closed=self._feed.session.is_closed,
                is_preview=loading is not None,
                is_read=is_read,
            )
            if loading is not None:
                return self._load(loading)
            self._show_status(now)
            if was_read or not self._moment.is_live or self._moment.opening is not None:
                self._show_marked()
            else:
                self._has_more = self._is_read  # at the next tick: its modules take as long as the first text
        if is_streaming:
            draw_now(self)
        return self._seconds_to_next_tick(wait)

    def _show_moment(self) -> int:
        """Show the session at the moment; return 1 if the moment has changed, else 0."""
        change = self._moment.tick()
        self.is_earlier = not self._moment.is_live
        if change is Change.OTHER:
            self.workspace.show(self._moment.shown)
        if self.is_earlier:
            self._fold_happened()  # its lines describe the end of the session
            self.workspace.take_newest()
        return int(change is not Change.NONE)

    def _show_status(self, now: int | None) -> None:
        session, workspace = self._moment.shown.session, self.workspace
        below = workspace.panes.named(workspace.pane).below if self.has_class("-narrow") else 0
        view = view_words(self._source, self._moment, self._survivors, below=below)
        known = self._source.agent_facts()
        if known.started_ms is not None and known.pid is None and session.last_seen_ms is None:
            from agentwatch.agents.registry import silence_hint  # 3 ms, which a stream does not need

            known = known._replace(silence=silence_hint())
        facts = NO_FACTS if self.is_earlier else known
        question = SafeText("") if self.is_earlier else open_question(session, facts)
        if question and not view:
            view = self._way_to_answer(self._status.size.width - columns(question) - 4)
        room = self._status.size.width - columns(view) - 3
        is_asking = user_wait(session, facts) is not None or bool(facts.paused_by)
        words = status(session, now, facts, room, is_below_header=True)
        left = self._marked.left(workspace.panes.calls.listed, tests_only=self._happened is not None)
        if not self._is_read and self._moment.is_live:
            words, left = cut(SafeText("showing the beginning while the rest loads"), room), []
        self._status.show_status(words, view, self._integrity, left, is_asking=is_asking)
        call = workspace.call_in_view()
        is_file = call is not None and call.path is not None and self._source.elsewhere is None
        self._hints.leave_out(frozenset() if is_file else {"open-file"})
        self._hints.name_moment(
            pause_words(self._moment.playhead),
            is_earlier=self.is_earlier,
            is_closed=self._feed.session.is_closed,
            failed=session.ended_by_outcome[Outcome.FAILED],
        )
        if not self._is_read:
            return  # what was read so far is not what happens now
        session, now = self._feed.session, live_ms(self._feed)
        words = status(session, now, known)
        for warning in self.notices.update(words, known, is_quiet=is_stalled(session, now, known)):
            self.app.warn(warning)

    def _way_to_answer(self, room: int) -> SafeText:
        """Return where the user answers the agent's question, in at most `room` columns; empty if too few."""
        forms, keys = ["answer it in the agent's terminal"], ""
        if self._source.path is not None and has_both_directions(self._source.path):
            forms = ["answer it in the editor"]
        elif self._back_to:
            keys = " ".join(key_label(self._keys[name][0]) for name in ("back", "go-to-terminal"))
            forms = [f"answer it in its terminal: {keys}", f"{keys}: its terminal", keys]
        fitting = (SafeText(form) for form in forms if columns(SafeText(form)) <= room)
        return next(fitting, SafeText(keys) if self.has_class("-wide") else SafeText(""))

    def _load(self, swap: PreviewSwap) -> float | None:
        """Continue loading behind the preview, and show the whole session once it is loaded."""
        self.frame_scheduler.share = LOADING_SHARE
        wait, workspace = swap.load(self.workspace)
        if workspace is None:
            if monotonic() < self._progress_at + _STATUS_SECONDS:
                return wait
            self._progress_at, view = monotonic(), swap.words()
            room = self._status.size.width - columns(view) - 3
            words = cut(SafeText("showing the end while the rest loads"), room)
            self._status.show_status(words, view, self._integrity)
            return wait
        self._moment.shown = swap.feed
        self._take(swap.feed, workspace)
        self.call_next(swap.exchange, self, workspace, lambda: self.frame_scheduler.within(0))
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        swap = self._swap
        is_waiting = swap is not None and (swap.is_exchanging or (swap.is_loading and action in _MOVING))
        return None if is_waiting and action in _ACTIONS else super().check_action(action, parameters)

    def on_key(self, event: events.Key) -> None:
        """Let the preview swap delay keys. A key that moves also folds the summary of what happened; the
        mouse does not, so that the row under the pointer stays in place."""
        if self._swap is not None:
            self._swap.on_key(event)
        if self._happened is not None and self._moves(event.key):
            self._fold_happened()

    def _seconds_to_next_tick(self, status_wait: float) -> float | None:
        """Return when the next tick is due; the status line is due in `status_wait` seconds, 0 for now."""
        feed = self._feed
        if self.workspace.panes.transcript.viewport.is_unsettled or feed.backlog():
            return 0
        has_clock = bool(feed.session.runs) or self._source.agent_facts().started_ms is not None
        waits = [
            _FOLLOW_SECONDS if self._source.wakeup is None and not feed.is_over else None,
            _PLAY_SECONDS if self._moment.playhead.is_playing else None,
            status_wait or None,
            0 if self._has_more else None,
            self._calls_wait or None,
            _CALL_SECONDS if feed.session.open_calls and not self.is_earlier else None,
            _CLOCK_SECONDS if has_clock and not feed.is_over else None,
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    def _check_survivors(self) -> None:
        self._survivors = self._source.survivors()
        self.frame_scheduler.within(0)

    @on(events.TextSelected)
    def _copy_selection(self) -> None:
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)

    def app_blurred(self) -> None:
        """Mark the end of what the user has seen. At an earlier moment nothing counts as new."""
        is_preview = self._swap is not None and self._swap.is_loading
        if not is_preview and self.notices.app_blurred() and not self.is_earlier:
            self.workspace.panes.transcript.viewport.mark_new(now_ms())

    def app_focused(self) -> None:
        before = self.notices.missed
        if summary := self.notices.app_focused(key_label(self._keys["session-box"][0])):
            if self.notices.missed is not before:
                self._box_tab = "happened"
            self.notify(summary, timeout=15, markup=False)

    @on(HeaderLine.CountClicked)
    def _show_counted(self, event: HeaderLine.CountClicked) -> None:
        self.workspace.action_filter_calls(event.outcome)

    def go_to_call(self, call: Call) -> None:
        """Select a call, at the moment that is shown if the call has begun by then."""
        self._fold_happened()
        self.reach.show_call(call)
        self.workspace.show_call(call)

    def action_session_box(self, tab: str = "") -> None:
        from agentwatch.analysis.files import TouchedFiles
        from agentwatch.analysis.time import TimeBreakdown
        from agentwatch.analysis.unread import play_missed
        from agentwatch.screen.screens.session.box import BoxList, BoxState, SessionBox
        from agentwatch.screen.screens.session.box_files import FileList, VerdictList
        from agentwatch.screen.screens.session.box_reports import (
            ReportList,
            checks_report,
            happened_report,
            time_report,
        )

        moment, missed = self._moment, self.notices.missed
        state = self._box_state = self._box_state or BoxState()
        state.ms_at = moment.history.timeline.ms_at
        shown, since = moment.shown, missed or START
        touched, spent = TouchedFiles(shown.session), TimeBreakdown(shown.session)
        if not self.is_earlier:
            touched = self._touched = self._touched or touched
            spent = self._spent = self._spent or spent
        state.tab, self._box_tab = tab or self._box_tab or state.tab, ""
        read = moment.feed if missed else shown
        at = None if moment.is_live else moment.playhead.offset

        def play() -> Play | None:
            return play_missed(moment.history.timeline, since.offset, read.offset)

        happened = happened_report(read, since, play, self._source.agent_facts)
        tabs: dict[str, BoxList[Any]] = {
            "happened": ReportList("box-happened", state, happened, at_end=missed is not None),
            "time": ReportList("box-time", state, time_report(shown, spent)),
            "tests": VerdictList(moment.feed.session, self._marked.verdicts, state, at),
            "files": FileList(shown, touched, state, self._sought_file()),
            "checks": ReportList("box-checks", state, checks_report(shown)),
        }
        self.app.push_screen(SessionBox(tabs, state, play), self._act)

    def _sought_file(self) -> Sought | None:
        """Return the file of the failing line or call that the user has selected, if any."""
        from agentwatch.analysis.verdicts import FileLine, failing_files
        from agentwatch.screen.screens.session.box_files import Sought

        call, panes = self.workspace.call_in_view(), self.workspace.panes
        if call is None or (panes.calls.following and self._moment.is_live and not self._feed.is_over):
            return None
        if self.workspace.pane == "detail" and (files := panes.detail.failing_files()):
            return Sought(files, call)
        if call.path is not None:
            return Sought([FileLine(call.path)], call)
        place = call.result_place if call.kind is ToolKind.EXECUTE else None
        printed = [] if place is None else output_tail(self._moment.shown, place, call.call_id)
        return Sought(files, call) if (files := failing_files("\n".join(printed))) else None

    def action_open_file(self) -> None:
        """Open the selected call's file in the user's editor, at the line that the call is about."""
        if self._source.elsewhere is not None:
            self.notify("the files of this session are on another machine", markup=False)
            return
        call = self.workspace.call_in_view()
        places = (call.result_place, call.arguments_place) if call is not None and call.path else ()
        line = line_of(
            block
            for place in places
            if call is not None and place is not None
            for block in self._moment.shown.blocks(place, call.call_id)
        )
        open_in_editor(self.app, call, self._moment.shown.session, line)

    def action_export(self) -> None:
        from agentwatch.screen.screens.session.export import offer_export

        path = self._source.path
        offer_export(self.app, [] if path is None else [path])

    def action_copy(self) -> None:
        what, text = self.workspace.panes.copied(self.workspace.pane)
        address = _address(self._source)
        if address and self.workspace.panes.has_numbers and _is_call(what):
            text = SafeText(f"{safe_line(address)}{what} {text}")
            what = SafeText(f"{what} with its address")
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"copied {what}, {plural(text.count(chr(10)) + 1, 'line')}", markup=False)
        else:
            self.notify("nothing to copy here", markup=False)

    def _show_marked(self) -> None:
        moment, marked, bar = self._moment, self._marked, self._time_bar
        playhead = moment.playhead
        self._has_more = marked.update(self.workspace.panes.calls.newest)
        if moment.opening is not None and (notice := moment.opening.take_notice()):
            self.notify(notice, markup=False)
        # A bar that is hidden while it has the mouse never returns it.
        is_shown = self._shows_bar or not moment.is_live or (bar is not None and bar.is_dragged)
        if is_shown and bar is None:
            bar = self._make_bar()
            self.mount(bar, before=self._hints)
        if bar is None:
            return
        bar.display = is_shown
        if is_shown:
            from agentwatch.screen.panes.time_bar import playhead_words

            marked.update_failures(self.workspace.panes.calls.newest)
            words = playhead_words(
                playhead.speed, is_reversed=playhead.is_reversed, is_paused=playhead.is_paused
            )
            bar.show(
                moment.feed.session,
                moment.history.timeline,
                playhead.offset,
                SafeText("") if moment.is_live else words,
                [(each.offset, each.name) for each in marked.bookmarks],
                marked.verdicts.verdicts,
                playhead.now_ms,
                alarms=marked.alarms,
                failures=marked.failures,
            )

    def _make_bar(self) -> TimeBar:
        from agentwatch.screen.panes.time_bar import TimeBar

        self.app.read_styles("time_bar")
        self._time_bar = TimeBar()
        return self._time_bar

    def go_to(self, offset: int) -> None:
        self._moment.go_to(offset)
        self.frame_scheduler.at_once()

    def _go_to_end(self, call: Call | None) -> None:
        if call is not None:
            self._moment.go_to_call(call)
            self.frame_scheduler.at_once()

    def on_time_bar_sought(self, event: TimeBar.Sought) -> None:
        self.go_to(event.offset)

    @on(events.MouseUp)
    def _hide_bar(self) -> None:
        """Hide the time bar after a drag to the live moment."""
        self.frame_scheduler.at_once()

    def on_time_bar_verdict_chosen(self, event: TimeBar.VerdictChosen) -> None:
        self._go_to_end(self._moment.feed.session.calls[event.number - 1])

    def action_pause(self) -> None:
        self._moment.playhead.turn()
        self._moved()

    def action_step(self, direction: int) -> None:
        self._moment.step(direction)
        self._moved()

    def action_call(self, step: int) -> None:
        call = neighbour_call(self._moment.feed.session, self._moment.playhead.offset, step)
        if call is not None:
            self._go_to_end(call)
        else:
            self.notify("no later call" if step > 0 else "no earlier call", markup=False)

    def action_at_call(self) -> None:
        call = self.workspace.call_in_view()
        if call is None:
            self.notify("no call is selected", markup=False)
            return
        self._moment.go_to_selected(call.number)
        self.frame_scheduler.at_once()

    def action_move(self, seconds: int) -> None:
        self._moment.playhead.seek_by(seconds * 1000)
        self._moved()

    def action_pace(self, change: str) -> None:
        playhead = self._moment.playhead
        {"faster": playhead.faster, "slower": playhead.slower, "reverse": playhead.reverse}[change]()
        if playhead.is_live:
            self.notify(f"speed ×{playhead.speed:g}, once it plays", markup=False)
        self._moved()

    def action_live(self) -> None:
        """Return to the live moment, and say what has happened since the one that was shown."""
        moment = self._moment
        if not moment.is_live:
            from agentwatch.analysis.unread import since_words

            since = mark(moment.shown.session, self._moment.playhead.offset, moment.now_ms())
            self.notify(since_words(moment.feed.session, since), markup=False)
        self._moment.playhead.live()
        self._moved()

    def action_bar(self) -> None:
        self._shows_bar = not self._shows_bar
        self.frame_scheduler.at_once()

    def _sync_happened(self, session: Session) -> None:
        """Show what happened when a finished session is read; fold it when another turn has begun."""
        is_finished = session.calls and session.outcome not in (None, Outcome.RUNNING)
        if self._begins and is_finished:
            self._show_happened()
        elif not is_finished:
            self._fold_happened()
        self._begins = False

    def _show_happened(self) -> None:
        if self._happened is None:
            self._happened = _what_happened()
            self.mount(self._happened, before=self.workspace)
        self._happened.call_after_refresh(self._read_happened, self._happened)

    def _read_happened(self, happened: FinishSummary) -> None:
        from agentwatch.analysis.files import TouchedFiles

        self._touched = self._touched or TouchedFiles(self._feed.session)
        happened.read(self._feed, self.workspace.panes.calls.newest, self._touched)

    def _fold_happened(self) -> None:
        self._begins = False
        happened, self._happened = self._happened, None
        if happened is not None:
            happened.display = False
            happened.remove()
            self.frame_scheduler.within(0)  # the row above names what these lines named

    def _moves(self, key: str) -> bool:
        return any(key in self._keys[each.id] for each in shortcuts() if each.place in _PLACES)

    def on_finish_summary_line_clicked(self, event: FinishSummary.LineClicked) -> None:
        first = None if self._happened is None else self._happened.first_failure
        self._fold_happened()
        if event.line == 0 and first is not None:
            self.workspace.show_call(self._feed.session.calls[first - 1])
        elif event.line == 0:
            self.workspace.action_failure(1)  # it says that nothing has failed
        elif event.line == 1:
            self.action_session_box("files")
        else:
            self.workspace.action_pane("transcript")

    def _act(self, chosen: Opened | Play | None) -> None:
        from agentwatch.screen.screens.session.box import Opened

        if isinstance(chosen, Opened):
            if chosen.at_end:
                self._go_to_end(chosen.call)
            else:
                self.go_to_call(chosen.call)
        elif chosen is not None:
            self._moment.playhead.play_at(chosen.from_offset, chosen.speed, chosen.max_idle)
            self._moved()

    def _moved(self) -> None:
        self._moment.is_sought = True
        self.frame_scheduler.at_once()

    def action_bookmark(self) -> None:
        self.notify(self._marked.marks.toggle(self._moment.playhead.offset), markup=False)
        self.frame_scheduler.at_once()

    def action_goto(self) -> None:
        from agentwatch.screen.screens.session.goto import GotoScreen

        self.app.push_screen(GotoScreen(self._marked.marks, self._moment.playhead.offset), self._go)

    def _go(self, goal: Goal) -> None:
        if goal is None:
            return
        from agentwatch.analysis.moments import End

        if goal is End.LIVE:
            self._moment.playhead.live()
        else:
            self._moment.go_to(0 if goal is End.START else goal)
        self.frame_scheduler.at_once()


def _what_happened() -> FinishSummary:
    from agentwatch.screen.screens.session.finish_summary import FinishSummary

    return FinishSummary()


def _address(source: Source) -> str:
    """Return the address by which commands can open a session; empty if it has none."""
    if source.elsewhere is not None:
        return source.elsewhere.address
    return "" if source.path is None else os.path.abspath(source.path)


def _is_call(what: SafeText) -> bool:
    return what.startswith("#") and what[1:].isdecimal()
