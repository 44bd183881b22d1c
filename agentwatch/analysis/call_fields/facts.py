"""What a rule needs to know about a call beyond the call itself."""

from __future__ import annotations

from array import array

from agentwatch.analysis.call_fields.paths import paths_of
from agentwatch.analysis.episodes import Episodes
from agentwatch.analysis.episodes.repeats import Repeats
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.feed.output_tail import output_tail
from agentwatch.session import Call, Session

_MOST_TEXT = 4096
_UNKNOWN = -1
_MOST_COUNT = 65535


class CallFacts:
    """The facts about the calls of one session that are computed for rules, each when it is first needed."""

    def __init__(self, feed: Feed) -> None:
        """Create facts about the session that a feed reads."""
        self._feed = feed
        self.now_ms: int | None = None
        """The present time, for how long a call has been running; None for a session that is not live."""
        self._episodes: Episodes | None = None
        self._repeats = Repeats(feed)
        self._repeat = array("H")
        self._paths: tuple[tuple[object, ...], tuple[str, ...] | None] = ((), None)
        """The paths of the last call, which several terms of a rule ask for."""
        self._idle = array("q")
        """The silence before each call in milliseconds; -1 if it is unknown."""
        self._entries = 0
        self._quiet_since: int | None = None
        """The end of the last activity that was read."""

    @property
    def session(self) -> Session:
        """The session as far as it was read."""
        return self._feed.session

    def duration_ms(self, call: Call) -> int | None:
        """Return how long a call took, or has been running; None if unknown."""
        known = call.duration_ms
        if known is None:
            known = call.seen_duration_ms
        if known is None and call.outcome is Outcome.RUNNING and self.now_ms is not None:
            start = call.started.seen_ms if call.started else None
            known = None if start is None else max(self.now_ms - start, 0)
        return known

    def started_ms(self, call: Call) -> int | None:
        """Return when a call started, from the first call or line with a time of the same clock."""
        calls = self.session.calls
        if call.started_ms is not None and calls[0].started_ms is not None:
            return max(call.started_ms - calls[0].started_ms, 0)
        began, seen = self.session.runs[0].began_seen_ms, call.started.seen_ms if call.started else None
        return None if began is None or seen is None else max(seen - began, 0)

    def idle_ms(self, call: Call) -> int | None:
        """Return the silence before a call that no running call explains; None if unknown."""
        self._read_entries()
        if call.number > len(self._idle) or self._idle[call.number - 1] == _UNKNOWN:
            return None
        return self._idle[call.number - 1]

    def counts(self, call: Call) -> Episodes | None:
        """Return the counts of tries, cycles, rereads and repeats; None while the call runs."""
        if call.ended is None:
            return None
        if self._episodes is None:
            self._episodes = Episodes(self._feed)
        while self._episodes.update():
            pass
        return self._episodes

    def repeat(self, call: Call) -> int | None:
        """Return how often in a row the identical call was made; None while the call runs.

        `Episodes` has this count too, and reads the outputs of test runs for the others.
        """
        if call.outcome is Outcome.RUNNING:
            return None
        calls = self.session.calls
        while len(self._repeat) < call.number:
            self._repeat.append(min(self._repeats.add(calls[len(self._repeat)]), _MOST_COUNT))
        return self._repeat[call.number - 1]

    def paths(self, call: Call) -> tuple[str, ...] | None:
        """Return the paths of a call, as `paths_of` does."""
        key = (call.number, call.path, call.target, call.kind, len(call.more_paths))
        if self._paths[0] != key:
            self._paths = key, paths_of(call, self.cwd(call))
        return self._paths[1]

    def text(self, call: Call) -> str | None:
        """Return the end of what a call printed; None if it has printed nothing that is known."""
        if call.result_place is None:
            return call.output
        return "\n".join(output_tail(self._feed, call.result_place, call.call_id))[-_MOST_TEXT:]

    def verdict(self, call: Call) -> str | None:
        """Return `green`, `red` or `none`; None while the call runs."""
        if call.ended is None:
            return None
        found = call_verdict(self._feed, call)
        if found is None or not (found.is_red or found.is_green):
            return "none"
        return "red" if found.is_red else "green"

    def model(self, call: Call) -> str | None:
        """Return the model of the run of a call; None if unknown."""
        return self.session.runs[call.run - 1].model

    def cwd(self, call: Call) -> str | None:
        """Return the folder of the run of a call; None if unknown."""
        return self.session.runs[call.run - 1].cwd

    def _read_entries(self) -> None:
        """Read the silences before the calls of the transcript that are new."""
        transcript = self.session.transcript
        for index in range(self._entries, len(transcript)):
            entry = transcript[index]
            call = entry.call
            start, end = entry.started_ms, entry.ended_ms
            if call is not None:
                start, end = call.started_ms, call.ended_ms
                while len(self._idle) < call.number:
                    self._idle.append(_UNKNOWN)
                if start is not None and self._quiet_since is not None:
                    self._idle[call.number - 1] = max(start - self._quiet_since, 0)
            latest = end if end is not None else start
            if latest is not None:
                self._quiet_since = max(latest, self._quiet_since or latest)
        self._entries = len(transcript)
