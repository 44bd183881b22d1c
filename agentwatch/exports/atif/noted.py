"""What a session does not keep of each entry of its transcript: its time, its model, and its token counts.

They are noted while the recording is read once more.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentwatch.events import Event, Tokens, Usage, UsageScope
from agentwatch.feed import Feed
from agentwatch.recording import LineReader, Until
from agentwatch.session import Entry, Kind, Pieces, Place, Session, apply_line, keep_few
from agentwatch.session.usage_counts import added

_MOST_MODELS = 1000
_MOST_REQUESTS = 100_000
"""The requests whose counts are kept; of a session with more, the steps have none."""
_OF_THE_MODEL = (Kind.ANSWER, Kind.REASONING, Kind.CALL)


class Noted(NamedTuple):
    """What is known of the entries of a transcript, by their numbers."""

    seen_ms: array[int]
    """When the line arrived with which an entry began; 0 if unknown."""
    model: array[int]
    """The index of the model of the run at that time."""
    models: list[str | None]
    requests: dict[int, Tokens | None]
    """The counts in the lines with which entries began, each by the number of the last of these entries.
    None: the counts are not complete."""

    def ms_of(self, entry: Entry) -> int | None:
        """Return when an entry began: by the agent's clock, or else when its line arrived."""
        call, number = entry.call, entry.number
        own_ms = entry.started_ms if call is None else call.started_ms
        if own_ms is not None or number >= len(self.seen_ms):
            return own_ms
        return self.seen_ms[number] or None

    def model_of(self, number: int) -> str | None:
        """Return the model of the run at the time of an entry."""
        return self.models[self.model[number]] if number < len(self.model) else None

    def tokens_of(self, numbers: Iterable[int]) -> Tokens | None:
        """Return the token counts of the entries of a step; None if the agent does not give them.

        An agent gives them if a line has both the model's output and the counts of its request. Counts in a
        line of their own may belong to the step before it or to the one after it.
        """
        found = [self.requests[number] for number in numbers if number in self.requests]
        counts = [tokens for tokens in found if tokens is not None]
        return added(counts) if counts and len(counts) == len(found) else None


def noted(feed: Feed) -> Noted:
    """Return what is known of the entries of the session of a feed, which has read what is exported."""
    reader = feed.reader
    assert isinstance(reader, LineReader)
    growth = reader.growth if feed.is_over else Until(feed.offset)
    again = Feed(LineReader(reader.fd, growth, reader.times), feed.agent)
    keep_few(again.session)
    notes = _Notes(again.session)
    for events, place, count, pieces in again.decoded():
        notes.apply(events, place, count, pieces)
    if again.is_decoded:
        notes.apply(again.last_events(), Place(again.offset, 0, None), 0)
    return notes.noted


class _Notes:
    """Notes what the entries of a session do not keep, line by line."""

    def __init__(self, session: Session) -> None:
        self.noted = Noted(array("Q"), array("H"), [None], {})
        self._session = session
        self._last_request: int | None = None

    def apply(
        self, events: Sequence[Event], place: Place, physical_lines: int, pieces: Pieces | None = None
    ) -> None:
        """Apply the events of one line, and note what is known of the entries that begin with it."""
        begin = len(self._session.transcript)
        apply_line(self._session, events, place, physical_lines, pieces)
        if (end := len(self._session.transcript)) > begin:
            self.noted.seen_ms.extend([max(place.seen_ms or 0, 0)] * (end - begin))
            self.noted.model.extend([self._model()] * (end - begin))
        for event in events:
            if type(event) is Usage and event.scope is UsageScope.REQUEST:
                self._note(event.tokens, begin, end)

    def _model(self) -> int:
        """Return the index of the model of the run."""
        models, model = self.noted.models, self._session.run.model
        if model != models[-1] and len(models) < _MOST_MODELS:
            models.append(model)
        return len(models) - 1 if model == models[-1] else 0

    def _note(self, tokens: Tokens, begin: int, end: int) -> None:
        """Note the counts of a request that are in the line of the entries from `begin` up to `end`."""
        requests = self.noted.requests
        if tokens.input is None and tokens.output is None:
            return
        of_the_model = [
            number
            for number in range(begin, end)
            if (entry := self._session.transcript[number]).kind in _OF_THE_MODEL and entry.parent is None
        ]
        if not of_the_model:
            if self._last_request is not None:
                requests[self._last_request] = None
            return
        number = self._last_request = of_the_model[-1]
        is_known = number not in requests or requests[number] is not None
        if len(requests) < _MOST_REQUESTS:
            before = requests.get(number)
            both = [tokens] if before is None else [before, tokens]
            requests[number] = added(both) if is_known else None
        else:
            requests.clear()
