"""The marked moments of a session: bookmarks, hits of rules, and test runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agentwatch.recording.alarms import alarms_of
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.screen.panes.moment import Moment
from agentwatch.sources.source import Source

if TYPE_CHECKING:
    from agentwatch.analysis.verdict_history import VerdictHistory
    from agentwatch.screen.screens.session.goto import Marks

_SLICE_SECONDS = 0.002


class MarkedMoments:
    """Finds the marked moments of a session, and follows new ones."""

    def __init__(self, moment: Moment, source: Source) -> None:
        """Read the bookmarks and the hits of rules that are stored beside a recording.

        Args:
            moment: The moment of the screen.
            source: Where the recording comes from.
        """
        self._moment, self._source = moment, source
        self._shown: object = None
        self.bookmarks = Bookmarks(source.bookmarks_path, partial(ends_a_line, source.reader.line_at))
        if moment.opening is not None:
            moment.opening.bookmarks = self.bookmarks
        self._alarms: list[tuple[int, str]] = [(each.offset, each.rule) for each in alarms_of(source.path)]

    @cached_property
    def verdicts(self) -> VerdictHistory:
        """The test runs of the session; created after the first frame, which does not show them."""
        from agentwatch.analysis.verdict_history import VerdictHistory

        return VerdictHistory(self._moment.feed)

    @cached_property
    def in_words(self) -> Marks:
        """The marked moments in words; created after the first frame, which does not show them."""
        from agentwatch.analysis.markers import Markers
        from agentwatch.screen.screens.session.goto import Marks

        session, timeline = self._moment.feed.session, self._moment.history.timeline
        return Marks(session, self.bookmarks, Markers(session, timeline.after), timeline)

    @property
    def alarms(self) -> Sequence[tuple[int, str]]:
        """The moment of each hit of a rule, and the name of the rule; later ones are appended."""
        watch, known = self._source.written.watch, self._alarms
        if watch is not None:
            known += [(each.offset, each.rule) for each in watch.alarms[len(known) :]]
        return known

    def update(self) -> None:
        """Read new calls for the marks, for 4 ms at most."""
        self.verdicts.update(_SLICE_SECONDS)
        self.in_words.update(_SLICE_SECONDS)
        verdicts = self.verdicts.verdicts
        if verdicts is not self._shown:
            from agentwatch.analysis.markers import VerdictMark

            self._shown = verdicts
            self.in_words.markers.show_verdicts(
                VerdictMark(each.moment, each.number, each.is_red, each.verdict.words) for each in verdicts
            )
