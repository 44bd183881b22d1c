"""Counts of a session: its lines by how they were decoded, and its tokens."""

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple, TypeVar

from agentwatch.session.call import Place, bounded
from agentwatch.session.events import Malformed, Tokens, Unknown, Usage, UsageScope

_new = tuple.__new__
_MOST_ODD_LINES = 1000
_JSON_STARTS = ("{", "[")
"""How an event begins. A line that begins so and is not JSON is an event of which a part is missing."""


class OddLine(NamedTuple):
    """A malformed or unknown line, and its place in the recording.

    Example:
        >>> import agentwatch
        >>> odd = agentwatch.load("recordings/malformed.ndjson").lines.odd[0]
        >>> odd.event.reason, odd.place.offset
        ('not JSON', 0)
    """

    event: Malformed | Unknown
    place: Place


@dataclass(slots=True)
class LineCounts:
    """The number of lines of each kind. Every line that is not blank counts once.

    Example:
        >>> import agentwatch
        >>> lines = agentwatch.load("recordings/malformed.ndjson").lines
        >>> lines.total, lines.events, lines.malformed, lines.repaired
        (12, 9, 3, 1)
    """

    events: int = 0
    """The lines that were understood."""
    malformed: int = 0
    """The lines that are not JSON objects."""
    unknown: int = 0
    """JSON of a kind that this version does not know."""
    repaired: int = 0
    """The lines among `events` that were not valid JSON and were repaired."""
    oversize: int = 0
    """Lines over 16 MiB, of which only the head and the tail were read."""

    first_text: str = field(default="", compare=False, repr=False)
    """The beginning of the first line, if it was malformed or written by no known agent."""
    last_text: str = field(default="", compare=False, repr=False)
    """The beginning of the last line that is not JSON, since the last run started."""

    odd: list[OddLine] = field(default_factory=list, compare=False, repr=False)
    """The first 1,000 malformed or unknown lines."""

    @property
    def total(self) -> int:
        """The number of all lines that are not blank."""
        return self.events + self.malformed + self.unknown

    def count_odd(self, event: Malformed | Unknown, place: Place, physical_lines: int) -> None:
        if isinstance(event, Malformed):
            if not self.total:
                self.first_text = event.text
            if not event.text.startswith(_JSON_STARTS):
                self.last_text = event.text
            self.malformed += physical_lines
        else:
            if not self.total:
                self.first_text = event.line
            self.unknown += physical_lines
        if isinstance(event, Unknown):
            event = event._replace(what=bounded(event.what) or "")
        if len(self.odd) < _MOST_ODD_LINES:
            self.odd.append(OddLine(event, place))


_Number = TypeVar("_Number", int, float)
_NOTHING = Tokens()


@dataclass(slots=True)
class UsageCounts:
    """The token counts of one run, or of several."""

    before: Tokens = _NOTHING
    earlier: Tokens = _NOTHING
    turn: Tokens = _NOTHING

    @property
    def tokens(self) -> Tokens:
        return _sum(self.earlier, self.turn)

    @property
    def total(self) -> Tokens:
        return _sum(self.before, self.tokens)

    def begin_run(self) -> None:
        """Begin another run: its counts do not replace those of the runs before."""
        self.before, self.earlier, self.turn = self.total, _NOTHING, _NOTHING

    def begin_turn(self) -> None:
        """Begin a turn: a count of the turn does not replace those of the turns before."""
        self.earlier, self.turn = self.tokens, _NOTHING

    def add(self, event: Usage) -> None:
        if event.scope is UsageScope.REQUEST:
            self.turn = _sum(self.turn, event.tokens)
        elif event.scope is UsageScope.TURN:
            self.turn = _latest(self.turn, event.tokens)
        else:
            self.earlier, self.turn = _NOTHING, _latest(self.tokens, event.tokens)


class Use(NamedTuple):
    """What the price of tokens depends on."""

    model: str | None
    at_ms: int | None
    """When the span of time began in which they were counted, in milliseconds since the epoch."""
    size: int
    """The largest of `SIZES` that the input of the request exceeds; 0 for a smaller or an unknown one."""


SIZES = (32_000, 100_000, 128_000, 199_999, 200_000, 256_000, 272_000, 512_000, 524_288)
"""A request with more input than one of these may cost more per token."""
_FLOORS = (0, *SIZES)
_QUARTER_MS = 900_000
"""Every time zone is a whole number of quarters of an hour from UTC: a quarter is of one day everywhere."""
DAY_MS = 86_400_000
"""A price depends on nothing shorter."""
_MOST_USES = 1 << 14


@dataclass(slots=True)
class Uses:
    """The tokens of a session by request and quarter of an hour, or else by what their price depends on."""

    by_request: bool
    """Keep requests that have an id apart: a copy in another file has the same id."""
    model: str | None = None
    """The model of the run, for tokens that name none; None if it is unknown."""
    requests: dict[str, tuple[Use, Tokens]] = field(default_factory=dict)
    others: dict[Use, Tokens] = field(default_factory=dict)
    """The tokens without an id, or of which the id does not matter."""

    def count(self, counts: UsageCounts, event: Usage, seen_ms: int | None) -> None:
        before = None if event.scope is UsageScope.REQUEST else counts.tokens
        counts.add(event)
        self._add(event, event.tokens if before is None else less(counts.tokens, before), seen_ms)

    def priced(self) -> list[tuple[Use, Tokens]]:
        """Return what the price depends on; tokens that name no model are of the model of the last run."""
        model = self.model
        return [(use if use.model else use._replace(model=model), used) for use, used in self.others.items()]

    def _add(self, event: Usage, tokens: Tokens, seen_ms: int | None) -> None:
        if not any(tokens[:4]):
            return
        at_ms = seen_ms if event.at_ms is None else event.at_ms
        sent = tokens.input if event.scope is UsageScope.REQUEST else event.tokens.context_used
        began_ms = None if at_ms is None else at_ms - at_ms % (_QUARTER_MS if self.by_request else DAY_MS)
        size = _FLOORS[bisect_left(SIZES, sent or 0)]
        use = _new(Use, (bounded(event.model) or self.model, began_ms, size))
        if event.request is not None and self.by_request:
            use, before = self.requests.get(event.request, (use, _NOTHING))
            self.requests[event.request] = use, _sum(before, tokens)
            return
        if len(self.others) >= _MOST_USES:
            use = Use(None, None, 0)
        self.others[use] = _sum(self.others.get(use, _NOTHING), tokens)


def less(total: Tokens, part: Tokens) -> Tokens:
    """Return what a count has more than another, without a context."""
    return Tokens(
        _less(total.input, part.input),
        _less(total.cached, part.cached),
        _less(total.output, part.output),
        _less(total.cost_usd, part.cost_usd),
        written=_less(total.written, part.written),
        written_1h=_less(total.written_1h, part.written_1h),
    )


def added(counts: Iterable[Tokens]) -> Tokens:
    return reduce(_sum, counts, _NOTHING)


def known_sum(numbers: Iterable[_Number | None]) -> _Number | None:
    """Return the sum of the known numbers; None if no number is known.

    Example:
        >>> known_sum([3, None, 4]), known_sum([None])
        (7, None)
    """
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def complete_sum(counts: list[int | None]) -> int | None:
    """Return the sum of all counts; None without one, or if one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _sum(first: Tokens, second: Tokens) -> Tokens:
    if first is _NOTHING or second is _NOTHING:
        return first if second is _NOTHING else second
    sent, cached, output, cost_usd, used, size, written, written_1h = first
    more, more_cached, more_output, more_usd, new_used, new_size, more_written, more_1h = second
    return _new(
        Tokens,
        (
            more if sent is None else sent + (more or 0),
            more_cached if cached is None else cached + (more_cached or 0),
            more_output if output is None else output + (more_output or 0),
            more_usd if cost_usd is None else cost_usd + (more_usd or 0),
            used if new_used is None else new_used,
            size if new_size is None else new_size,
            more_written if written is None else written + (more_written or 0),
            more_1h if written_1h is None else written_1h + (more_1h or 0),
        ),
    )


def _less(total: _Number | None, part: _Number | None) -> _Number | None:
    return total if total is None or part is None else total - part


def _latest(first: Tokens, second: Tokens) -> Tokens:
    return _new(Tokens, [old if new is None else new for old, new in zip(first, second, strict=True)])


_LEAST = 5


def usually_under(lengths_ms: Collection[int]) -> int | None:
    """Return the 90th percentile of durations; None for fewer than five, which are too few to judge by."""
    if len(lengths_ms) < _LEAST:
        return None
    return sorted(lengths_ms)[-(-9 * len(lengths_ms) // 10) - 1]
