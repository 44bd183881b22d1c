"""The marked moments of a session: bookmarks, hits of rules, acts of the user, and test runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from agentwatch.recording.acts import act_words
from agentwatch.recording.alarms import Alarm, alarms_of, rule_words
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.screen.panes.moment import Moment
from agentwatch.session.events import Outcome
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.analysis.open_work import ChangeHistory
    from agentwatch.analysis.verdict_history import VerdictHistory
    from agentwatch.feed.feed import RecordedTimes
    from agentwatch.screen.panes.calls.list import CallList
    from agentwatch.screen.screens.session.goto import Marks

_SLICE_SECONDS = 0.002
_MOST_ACTS = 100
_MOST_ROUNDS = 250
"""The rounds of reading without a green verdict: half a second to find the newest verdicts of tests."""


def _nearest(timeline: RecordedTimes, at_ms: int) -> int:
    """Return the moment of the line that arrived nearest to a time: an act is mostly just before a line."""
    offset, (before_ms, after_ms) = timeline.offset_at(at_ms), timeline.around(at_ms)
    is_after = after_ms is not None and (before_ms is None or after_ms - at_ms < at_ms - before_ms)
    return timeline.after(offset) if is_after else offset


def _alarm_mark(alarm: Alarm) -> tuple[int, SafeText]:
    return alarm.offset, rule_words(alarm.rule)


class MarkedMoments:
    def __init__(self, moment: Moment, source: Source) -> None:
        self._moment, self._source = moment, source
        self._shown: object = None
        self._rounds = 0
        self._is_behind = True
        """Whether calls are left to read for what is left of the work."""
        self._open = lru_cache(2)(lambda calls, *_version: calls.open_failures())
        """The open failures of the calls that are shown, and of all calls."""
        self.failures: Sequence[int] = ()
        """The moments of all calls that failed and were not tried again, unchanged while calls are read."""
        self.bookmarks = Bookmarks(source.bookmarks_path, partial(ends_a_line, source.reader.line_at))
        if moment.opening is not None:
            moment.opening.bookmarks = self.bookmarks
        self._alarms = [*map(_alarm_mark, alarms_of(source.path))]

    @cached_property
    def verdicts(self) -> VerdictHistory:
        """The verdicts of the session, created after the first frame, which does not need them."""
        from agentwatch.analysis.verdict_history import VerdictHistory

        return VerdictHistory(self._moment.feed)

    @cached_property
    def marks(self) -> Marks:
        """The marks of the session, created after the first frame, which does not need them."""
        from agentwatch.analysis.markers import Markers
        from agentwatch.screen.screens.session.goto import Marks

        session, timeline = self._moment.feed.session, self._moment.history.timeline
        return Marks(session, self.bookmarks, Markers(session, timeline.after), timeline)

    @property
    def alarms(self) -> Sequence[tuple[int, SafeText]]:
        """The moment of each hit of a rule and of what the user did last, in words; never fewer."""
        watch, known = self._source.written.watch, self._alarms
        if watch is not None:
            known += map(_alarm_mark, watch.alarms[len(known) :])
        acts, timeline = self._moment.feed.acts, self._moment.history.timeline
        if not acts or not timeline.has_times:
            return known
        return [*known, *((_nearest(timeline, each.at_ms), act_words(each)) for each in acts[-_MOST_ACTS:])]

    @cached_property
    def _changes(self) -> ChangeHistory:
        from agentwatch.analysis.open_work import ChangeHistory

        return ChangeHistory(self._moment.feed.session)

    def left(self, calls: CallList, *, tests_only: bool) -> list[tuple[SafeText, Outcome | None]]:
        """Return the remaining work at the moment that is shown; nothing before that moment is read."""
        if not self._rounds or self._is_behind:
            return []
        from agentwatch.analysis.open_work import Changed, remaining_words

        verdicts = self.verdicts.verdicts
        if not self._moment.is_live:
            offset = self._moment.playhead.offset
            verdicts = [each for each in verdicts if each.moment <= offset]
        if tests_only:
            return [*remaining_words(verdicts, (), Changed())]
        open_calls = self._open(calls, calls.revision, calls.facts.episodes.calls_read)
        ended = len(self._moment.shown.session.ended_calls)
        return [*remaining_words(verdicts, open_calls, self._changes.at(ended))]

    def update_failures(self, calls: CallList) -> None:
        """Read the moments of the failures among all calls. Only a visible time bar needs them."""
        if not self._is_behind:
            from agentwatch.analysis.time_bar import moment_after

            found = self._open(calls, calls.revision, calls.facts.episodes.calls_read)
            self.failures = [moment_after(call.ended) for call in found]

    def update(self, calls: CallList) -> bool:
        """Read new calls for 6 ms at most; return whether `left` has changed, or needs more calls."""
        self._rounds += 1
        was_behind = self._is_behind or self._rounds == 1
        is_more = self.verdicts.update(_SLICE_SECONDS)
        self._is_behind = self._changes.update(_SLICE_SECONDS) | calls.facts.episodes.update()
        self.marks.update(_SLICE_SECONDS)
        verdicts = self.verdicts.verdicts
        has_news = verdicts is not self._shown or (was_behind and not self._is_behind)
        if verdicts is not self._shown:
            from agentwatch.analysis.markers import VerdictMark

            self._shown = verdicts
            self.marks.markers.show_verdicts(
                VerdictMark(each.moment, each.number, each.is_red, each.verdict.words) for each in verdicts
            )
        is_known = any(not each.is_red for each in verdicts) or self._rounds > _MOST_ROUNDS
        return self._is_behind or has_news or (is_more and not is_known)
