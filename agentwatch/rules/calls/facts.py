"""The facts about a call that rules use and the call itself does not contain.

The calls pane creates them before the first frame. What computes them is imported at the first rule.
"""

from __future__ import annotations

import math
from array import array
from functools import cached_property
from typing import TYPE_CHECKING

from agentwatch.feed.feed import Feed
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind

if TYPE_CHECKING:
    from agentwatch.analysis.episodes import Episodes, Repeats

_UNKNOWN = -1


class Silences:
    """The silences before the calls of a session, by the agent's clock; each entry is read once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before = array("q")
        """The silence before each call in milliseconds; -1 if it is unknown."""
        self._entries = 0
        self._quiet_since: int | None = None
        """The end of the last activity that was read; None after an entry whose time is unknown."""
        self._open: list[int] = []
        """The numbers of the calls that had not ended when their entries were read."""

    def before(self, call: Call) -> int | None:
        """Return the silence before a call in ms; None if unknown. Only entries before the call are read."""
        transcript = self._session.transcript
        while len(self._before) < call.number and self._entries < len(transcript):
            entry = transcript[self._entries]
            self._entries += 1
            if entry.call is not None:
                self._add_call(entry.call)
            elif entry.ended_ms is not None:
                self._extend_to(entry.ended_ms)
            elif entry.kind in (Kind.PROMPT, Kind.RESULT) and entry.parent is None:
                self._quiet_since = None  # the user may have been away
        if len(self._before) < call.number or self._before[call.number - 1] == _UNKNOWN:
            return None
        return self._before[call.number - 1]

    def _add_call(self, call: Call) -> None:
        self._end_calls()
        start = call.started_ms
        while len(self._before) < call.number:
            self._before.append(_UNKNOWN)
        if start is not None and self._open:
            self._before[call.number - 1] = 0
        elif start is not None and self._quiet_since is not None:
            self._before[call.number - 1] = max(start - self._quiet_since, 0)
        if start is not None:
            self._extend_to(start)
        if call.ended_ms is not None:
            self._extend_to(call.ended_ms)
        elif call.outcome is Outcome.RUNNING:
            self._open.append(call.number)

    def _end_calls(self) -> None:
        still: list[int] = []
        for number in self._open:
            call = self._session.calls[number - 1]
            if call.outcome is Outcome.RUNNING:
                still.append(number)
            elif call.ended_ms is not None:
                self._extend_to(call.ended_ms)
        self._open = still

    def _extend_to(self, at_ms: int) -> None:
        self._quiet_since = at_ms if self._quiet_since is None else max(at_ms, self._quiet_since)


_MOST_TEXT = 4096
_MOST_COUNT = 65535
_MOST_CHANGE = 1 << 20
"""Longer lines are not read for the lines that a call adds: that takes 4 ms per MiB."""


class CallFacts:
    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.now_ms: int | None = None
        """The present time, for the duration of running calls; None for a session that is not live."""
        self.is_over = False
        """Whether no call follows, so that later acts belong to the last call."""
        self._repeat = array("H")
        self._ended_calls, self._ended_ms = 0, 0
        """The calls before the first one that has not ended, and when the last of them ended."""
        self._first_started_ms: int | None = None
        self._added: tuple[int, tuple[str, ...] | None] | None = None
        """The call whose added lines were read last, and these lines."""

    @property
    def session(self) -> Session:
        return self._feed.session

    @cached_property
    def _repeats(self) -> Repeats:
        from agentwatch.analysis.episodes import Repeats

        return Repeats(self._feed)

    @cached_property
    def _silences(self) -> Silences:

        return Silences(self.session)

    @property
    def context_percent(self) -> float | None:
        """How full the context of the last run is; None if unknown."""
        found = self.session.run.tokens
        if not found.context_size or found.context_used is None:
            return None
        return 100 * found.context_used / found.context_size

    def duration_ms(self, call: Call) -> int | None:
        """Return the duration of a call, or of its present run; None if unknown."""
        known = call.duration_ms
        if known is None:
            known = call.seen_duration_ms
        if known is None and call.outcome is Outcome.RUNNING and self.now_ms is not None:
            start = call.started.seen_ms if call.started else None
            known = None if start is None else max(self.now_ms - start, 0)
        return known

    def started_ms(self, call: Call) -> int | None:
        if self._first_started_ms is None:
            self._first_started_ms = self.session.calls[0].started_ms
        if call.started_ms is not None and self._first_started_ms is not None:
            return max(call.started_ms - self._first_started_ms, 0)
        began, seen = self.session.runs[0].began_seen_ms, call.started.seen_ms if call.started else None
        return None if began is None or seen is None else max(seen - began, 0)

    def idle_ms(self, call: Call) -> int | None:
        """Return the silence before a call that no running call explains; None if unknown."""
        return self._silences.before(call)

    def counts(self, call: Call) -> Episodes | None:
        """Return the counts of tries, cycles and rereads; None while the call runs."""
        if call.ended is None:
            return None
        while not self.episodes.tries(call.number) and self.episodes.update():
            pass  # reads no further than this call, so that a list spreads the cost over its calls
        return self.episodes

    @cached_property
    def episodes(self) -> Episodes:
        """The calls that were tried again, among those that were read so far."""
        from agentwatch.analysis.episodes import Episodes

        return Episodes(self._feed)

    def repeat(self, call: Call) -> int | None:
        """Return how often in a row the identical call was made; None while the call runs."""
        if call.outcome is Outcome.RUNNING:
            return None
        calls = self.session.calls
        while len(self._repeat) < call.number:
            self._repeat.append(min(self._repeats.add(calls[len(self._repeat)]), _MOST_COUNT))
        return self._repeat[call.number - 1]

    def text(self, call: Call) -> str | None:
        """Return the end of the output of a call; None if no output is known."""
        if call.result_place is None:
            return call.output
        from agentwatch.feed.feed import output_tail

        return "\n".join(output_tail(self._feed, call.result_place, call.call_id))[-_MOST_TEXT:]

    def added_lines(self, call: Call) -> tuple[str, ...] | None:
        """Return the lines that a call adds to files; None while it runs, and if its line is too long."""
        if call.kind is not ToolKind.EDIT:
            return ()
        if call.ended is None:
            return None
        if self._added is None or self._added[0] != call.number:
            self._added = call.number, self._read_added(call)
        return self._added[1]

    def _read_added(self, call: Call) -> tuple[str, ...] | None:
        from agentwatch.analysis.block_text import named_places
        from agentwatch.session.blocks import ChangeBlock

        found: dict[str, None] = {}
        for _, place in named_places(call):
            if place.length > _MOST_CHANGE:
                return None
            for block in self._feed.blocks(place, call.call_id):
                if not isinstance(block, ChangeBlock):
                    continue
                if block.diff is not None:
                    lines = block.diff.split("\n")
                    new = [line[1:] for line in lines if line[:1] == "+" and line[:4] != "+++ "]
                else:
                    before = set((block.before or "").split("\n"))
                    new = [line for line in (block.after or "").split("\n") if line not in before]
                found.update(dict.fromkeys(new))
        return tuple(found)

    def verdict(self, call: Call) -> str | None:
        """Return `green`, `red` or `none`; None while the call runs."""
        if call.ended is None:
            return None
        from agentwatch.analysis.verdict_history import call_verdict

        found = call_verdict(self._feed, call)
        if found is None or not (found.is_red or found.is_green):
            return "none"
        return "red" if found.is_red else "green"

    def acted(self, call: Call) -> tuple[str, ...] | None:
        """Return what the user did while a call ran, or while none ran before it; None if it is unknown."""
        if self._feed.acts_of is None:
            return None
        if not (acts := self._feed.acts):
            return ()
        calls, started = self.session.calls, call.started
        since_ms = call.started_ms if started is None else started.seen_ms
        while self._ended_calls < call.number - 1 and (ended := calls[self._ended_calls].ended) is not None:
            self._ended_ms = max(self._ended_ms, ended.seen_ms or 0)
            self._ended_calls += 1
        if self._ended_calls == call.number - 1:
            since_ms = None if since_ms is None else min(since_ms, self._ended_ms)
        until_ms = None if call.ended is None else call.ended.seen_ms
        if since_ms is None or (until_ms is None and call.ended is not None):
            return None
        after_ms: float = math.inf
        if self.is_over and call.number == len(calls):
            after_ms = max(each.ended.seen_ms or 0 if each.ended else math.inf for each in calls)
        most_ms = math.inf if until_ms is None else until_ms
        return tuple(
            {each.act: None for each in acts if since_ms <= each.at_ms < most_ms or each.at_ms >= after_ms}
        )

    def model(self, call: Call) -> str | None:
        return self.session.runs[call.run - 1].model

    def cwd(self, call: Call) -> str | None:
        return self.session.runs[call.run - 1].cwd
