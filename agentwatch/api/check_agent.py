"""Checks that the format of an agent keeps its promises: types, foreign values, and linear cost."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from types import NoneType, UnionType
from typing import Any, NamedTuple, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from agentwatch.agents.agent import Agent, AgentDecoder, LineRole
from agentwatch.agents.fields import Fields, in_words, line_object, parse
from agentwatch.agents.registry import detect, known_agents
from agentwatch.analysis.block_text import block_text
from agentwatch.session.blocks import Block
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Event,
    FormatDetected,
    Outcome,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    Unknown,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

# Types of fields. A number where a text is declared would fail much later, in the program that shows it.

EVENTS: tuple[type, ...] = get_args(Event)
_ENDS = (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED)
_SHORT = (str, int, float, NoneType)
_SHOWN = 60
"""The number of characters of a value that are shown."""


def problem_of(event: Any) -> str | None:
    """Return what is wrong with an event; None if it is as its class declares.

    Example:
        >>> from agentwatch import Channel, Text
        >>> problem_of(Text(Channel.ANSWER, 7))
        'Text.text is 7, not str'
        >>> problem_of(Text(Channel.ANSWER, "Done."))
    """
    kind: Any = type(event)
    if not isinstance(event, EVENTS):
        return f"{type(event).__name__} is not an event"
    for name, plain, declared in _declared(kind):
        value = getattr(event, name)
        if type(value) not in plain and not _fits(value, declared):
            words = getattr(declared, "__name__", None) or str(declared)
            shown = f"{value!r:.{_SHOWN}}" if isinstance(value, _SHORT) else f"a {type(value).__name__}"
            return f"{type(event).__name__}.{name} is {shown}, not {words}"
    if isinstance(event, TurnEnded) and event.outcome not in _ENDS:
        return f"TurnEnded.outcome is {event.outcome}, not one of {', '.join(_ENDS)}"
    return None


@cache
def _declared(kind: type) -> list[tuple[str, frozenset[type], Any]]:
    """Return the name of each field, the types that fit without a closer look, and the declared type."""
    return [(name, _plain(declared), declared) for name, declared in get_type_hints(kind).items()]


def _plain(declared: Any) -> frozenset[type]:
    parts = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return frozenset(part for part in parts if isinstance(part, type) and not hasattr(part, "_fields"))


def _fits(value: object, declared: Any) -> bool:
    origin, inner = get_origin(declared), get_args(declared)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin in (tuple, Sequence):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(_fits(each, inner[0]) for each in value)
        )
    if origin is Mapping:
        return isinstance(value, Mapping)
    if declared is None or declared is NoneType:
        return value is None
    if declared is object or declared is Any:
        return True
    if declared is int or declared is float:
        return isinstance(value, int if declared is int else int | float) and not isinstance(value, bool)
    if isinstance(value, tuple) and hasattr(value, "_fields") and isinstance(value, declared):
        return all(_fits(getattr(value, name), each) for name, _, each in _declared(type(value)))
    return isinstance(value, declared)


# Variants of a line: a field is absent, or has a value that nobody expects.

WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 1 << 63, "", "x" * 5000, "2026-13-45T99:99:99Z", "0001-01-01"),
    *([], [1], [[]], [{}], {}, {"": 1}, {"text": 1}, "{}", '{"a":1}', "\ud83d"),
)
"""Values that no field expects."""
ABSENT = object()
_MOST_DEPTH = 8
_MOST_COMPARED_DEPTH = 7
Path = tuple[Any, ...]


def paths(value: Any, most_items: int | None = None, depth: int = 0) -> Iterator[Path]:
    """Yield the path of each member and each item in a JSON value, at most 8 levels deep. `most_items` of
    each array count; None for all. `depth` is the number of levels above the value."""
    if depth == _MOST_DEPTH or not isinstance(value, dict | list):
        return
    for key in value if isinstance(value, dict) else range(len(value))[:most_items]:
        yield (key,)
        for inner in paths(value[key], most_items, depth + 1):
            yield (key, *inner)


def replaced(value: Any, path: Path, other: Any) -> Any:
    """Return a copy of a JSON value with another value at a path; `ABSENT` removes a member or an item."""
    if not path:
        return other
    key, *rest = path
    copied = copy.copy(value)
    if other is ABSENT and not rest:
        del copied[key]
    else:
        copied[key] = replaced(value[key], tuple(rest), other)
    return copied


def variants(value: Any, most_items: int | None = None) -> Iterator[Any]:
    """Yield copies of a JSON value; in each, one member or one item is absent or has another value.
    `most_items` of each array count; None for all."""
    for path in paths(value, most_items):
        for other in (ABSENT, *WRONG):
            yield replaced(value, path, other)


def shape(value: Any, depth: int = 0) -> Any:
    """Return the keys and types in a JSON value."""
    if depth > _MOST_COMPARED_DEPTH:
        return None
    if isinstance(value, dict):
        return tuple(sorted((key, repr(shape(each, depth + 1))) for key, each in value.items()))
    if isinstance(value, list):
        return (type(value).__name__, *(shape(each, depth + 1) for each in value[:2]))
    return type(value).__name__


def with_long_texts(value: Any, size: int) -> Any:
    """Return a JSON value in which each text of several words or lines is repeated, to about `size`."""
    if isinstance(value, dict):
        return {key: with_long_texts(inner, size) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_long_texts(inner, size) for inner in value]
    if isinstance(value, str) and (" " in value or "\n" in value):
        return value * (size // len(value) + 1)
    return value


def with_long_arrays(value: Any, size: int) -> Any:
    """Return a JSON value in which each innermost array is repeated, to about `size` characters of JSON."""
    if isinstance(value, dict):
        return {key: with_long_arrays(inner, size) for key, inner in value.items()}
    if not isinstance(value, list) or not value:
        return value
    longer = [with_long_arrays(inner, size) for inner in value]
    return longer if longer != value else value * (size // len(json.dumps(value)) + 1)


def nested(depth: int) -> Any:
    """Return an array in an array, and so on."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


# The calls of a format, and checks of their results.

_BLOCKS: tuple[type, ...] = get_args(Block)
_MOST_CALLS = 3
_MOST_WORDS = 300

_Value = TypeVar("_Value")


class Where(NamedTuple):
    """A sample line, and how it was changed."""

    number: int
    """The number of the line, counted from 1."""
    path: Path = ()
    """The field that was changed; empty for no field."""
    other: object = None
    """The value in its place."""
    change: str = ""
    """Another change, in words."""

    def words(self) -> str:
        """Return the place for a message: `line 3 without message.content`."""
        if self.path:
            name = ".".join(map(str, self.path))
            is_absent = self.other is ABSENT
            change = f" without {name}" if is_absent else f" with {name} = {in_words(self.other)}"
            return f"line {self.number}{change}"
        return f"line {self.number}{self.change}"


class Subject:
    """The functions of a format. An exception, and a value of another type, is a failed check."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def fail(self, words: str) -> NoReturn:
        """Raise an `AssertionError` that names the format."""
        raise AssertionError(f"format {self.agent.name}: {words}")

    def decoder(self) -> AgentDecoder:
        """Return a new decoder."""
        return self._asked("decoder", Where(0), self.agent.decoder)

    def decode(self, decoder: AgentDecoder, fields: Fields, where: Where) -> list[Event]:
        """Return the events of a line."""
        events = self._asked("decode", where, lambda: list(decoder.decode(fields)))
        return self._checked("decode", events, where)

    def end(self, decoder: AgentDecoder, where: Where) -> list[Event]:
        """Return the events of the end, after a line."""
        return self._checked("end", self._asked("end", where, lambda: list(decoder.end())), where)

    def recognises(self, fields: Fields, where: Where) -> bool:
        """Return whether only the agent can have written a line."""
        return self._typed("recognises", where, lambda: self.agent.recognises(fields), bool)

    def role(self, fields: Fields, where: Where) -> LineRole:
        """Return the role of a line."""
        return self._typed("role", where, lambda: self.agent.role(fields), LineRole)

    def show(self, fields: Fields, call_ids: Iterable[str], where: Where) -> None:
        """Make the text of the blocks of a line, for its first calls and for one that it does not have."""
        for call_id in (*islice(call_ids, _MOST_CALLS), "call-of-another-line"):
            blocks = self._asked("blocks", where, partial(self._blocks, fields, call_id))
            for block in blocks:
                if not isinstance(block, _BLOCKS):
                    kind = type(block).__name__
                    self.fail(f"blocks returned a {kind}, which is not a block ({where.words()})")
                self._asked("the text of the blocks", where, partial(block_text, block))

    def use(self, decoder: AgentDecoder, fields: Fields, where: Where) -> None:
        """Call the functions that the program calls for each line, and check nothing but exceptions."""
        self._asked("recognises", where, lambda: self.agent.recognises(fields))
        self._asked("role", where, lambda: self.agent.role(fields))
        self._asked("decode", where, lambda: list(decoder.decode(fields)))
        self._asked("blocks", where, lambda: self._blocks(fields, "call-of-another-line"))

    def _blocks(self, fields: Fields, call_id: str) -> list[Block]:
        return list(self.agent.blocks(fields, call_id))

    def ask_others(self, fields: Fields, where: Where) -> None:
        """Call the optional functions."""
        agent = self.agent
        if agent.time_of is not None:
            time_of = agent.time_of
            self._typed("time_of", where, lambda: time_of(fields), int | None)
        if agent.may_write is not None:
            may_write = agent.may_write
            self._typed("may_write", where, lambda: may_write(fields), bool)
        if agent.unknown_fields is not None:
            unknown_fields = agent.unknown_fields
            names = self._asked("unknown_fields", where, lambda: [name for name, _ in unknown_fields(fields)])
            if not all(isinstance(name, str) for name in names):
                self.fail(f"unknown_fields yielded a name that is not a text ({where.words()})")

    def ask_all(self, decoder: AgentDecoder, fields: Fields, where: Where) -> list[Event]:
        """Call every function with a line, and return its events."""
        self.recognises(fields, where)
        self.role(fields, where)
        self.ask_others(fields, where)
        events = self.decode(decoder, fields, where)
        self.show(fields, call_ids(events), where)
        return events

    def _checked(self, name: str, events: list[Event], where: Where) -> list[Event]:
        for event in events:
            if (problem := problem_of(event)) is not None:
                self.fail(f"{name} returned a wrong event: {problem} ({where.words()})")
        return events

    def _typed(self, name: str, where: Where, ask: Callable[[], _Value], expected: Any) -> _Value:
        value = self._asked(name, where, ask)
        if not isinstance(value, expected):
            words = getattr(expected, "__name__", str(expected))
            self.fail(f"{name} returned a {type(value).__name__}, not {words} ({where.words()})")
        return value

    def _asked(self, name: str, where: Where, ask: Callable[[], _Value]) -> _Value:
        try:
            return ask()
        except Exception as error:
            words = f"{type(error).__name__}: {error}"[:_MOST_WORDS]
            raise AssertionError(
                f"format {self.agent.name}: {name} raised {words} ({where.words()})"
            ) from error


def call_ids(events: Iterable[Event]) -> set[str]:
    """Return the ids of the calls that events are about."""
    return {each.call_id for each in events if isinstance(each, ToolStarted | ToolProgress | ToolEnded)}


# Linear cost.

_MOST_SECONDS = 1.0
"""The CPU time that a line may take. A line of 256 Ki characters takes the built-in formats 10 ms."""
_SIZES = (1 << 12, 1 << 14, 1 << 16, 1 << 18)
"""Characters, from few to many: quadratic cost is found while it still takes seconds."""
_TIMES = (4, 32)
"""How often all lines are repeated."""
_MOST_GROWTH = 3 * _TIMES[1] / _TIMES[0]


def check_sizes(subject: Subject, number: int, fields: dict[str, Any]) -> None:
    """Check the time that a line takes when its texts, or its arrays, get long."""
    for size in _SIZES:
        words = f" of {size:,} characters"
        _check_line(subject, with_long_texts(fields, size), Where(number, change=f" with texts{words}"))
        _check_line(subject, with_long_arrays(fields, size), Where(number, change=f" with arrays{words}"))


def check_number(subject: Subject, lines: Sequence[Fields]) -> None:
    """Check that the time to decode many lines grows with their number."""
    few, many = (_seconds(partial(_use, subject, lines, times)) for times in _TIMES)
    if many > _MOST_SECONDS and many > _MOST_GROWTH * few:
        count, less = len(lines) * _TIMES[1], len(lines) * _TIMES[0]
        subject.fail(
            f"{count:,} lines take {many:.1f} s, and {less:,} take {few:.2f} s: more than linear time"
        )


def _check_line(subject: Subject, fields: Fields, where: Where) -> None:
    seconds = _seconds(partial(subject.use, subject.decoder(), fields, where))
    if seconds > _MOST_SECONDS:
        subject.fail(f"its functions take {seconds:.1f} s ({where.words()})")


def _use(subject: Subject, lines: Sequence[Fields], times: int) -> None:
    decoder = subject.decoder()
    for _ in range(times):
        for number, fields in enumerate(lines, 1):
            subject.use(decoder, fields, Where(number))


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


_MOST_KINDS = 60
"""The number of lines that are changed, each of another kind."""
_MOST_ITEMS = 2
"""The number of items of an array that are changed."""
_DEPTH = 500
_STEPS = (2, 3, 7)
"""Each second, third and seventh line is left out, or doubled."""


class _Line(NamedTuple):
    """A line of the sample."""

    number: int
    fields: dict[str, Any]


def check_agent(agent: Agent, lines: Iterable[bytes | str]) -> None:
    """Check a format with sample lines of its agent.

    The functions of the format get each sample line, and many changed ones: each field absent and of every
    other type, nested deeply, and with long texts; lines that are lost, doubled and in another order. None of
    this may raise, the events must have the types that their classes declare, and the time must grow with the
    size only. The checks are the same each time, and take some seconds.

    Args:
        agent: The format.
        lines: A whole session, as its agent wrote it. More kinds of lines make a better check.

    Raises:
        AssertionError: A check fails. The message names the function, the line and the field.

    Example:
        >>> from agentwatch import Agent, Channel, LineRole, Text, Traits
        >>> from agentwatch.testing import check_agent
        >>> class TernDecoder:
        ...     def decode(self, fields):
        ...         return [Text(Channel.ANSWER, fields.get("say"))]
        ...
        ...     def end(self):
        ...         return []
        >>> tern = Agent(
        ...     name="tern",
        ...     recognises=lambda fields: "say" in fields,
        ...     role=lambda fields: LineRole.OTHER,
        ...     decoder=TernDecoder,
        ...     blocks=lambda fields, call_id: [],
        ...     traits=Traits(),
        ... )
        >>> check_agent(tern, ['{"say": "Done."}'])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        AssertionError: format tern: decode returned a wrong event: Text.text is None... (line 1 without say)
    """
    subject, sample = Subject(agent), _objects(lines)
    if not sample:
        subject.fail("no line of the sample is a JSON object")
    _check_detection(subject, sample)
    kinds = _check_sample(subject, sample)
    _check_changes(subject, kinds)
    _check_order(subject, sample)
    for line in kinds:
        check_sizes(subject, *line)
    check_number(subject, [line.fields for line in sample])


def _objects(lines: Iterable[bytes | str]) -> list[_Line]:
    found = []
    for number, line in enumerate(lines, 1):
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if (fields := line_object(data)) is not None:
            found.append(_Line(number, fields))
    return found


def _check_detection(subject: Subject, sample: list[_Line]) -> None:
    """Check that the format is detected: by a line that it recognises, and no built-in format does."""
    agent, is_built_in = subject.agent, subject.agent in known_agents()
    for number, fields in sample:
        if subject.recognises(fields, Where(number)):
            other = None if is_built_in else detect(fields, is_first=False, asks_plugins=False)
            if other is not None:
                subject.fail(f"line {number} is recognised by the built-in format {other.name}, asked first")
            return
    if agent.may_write is None or not agent.may_write(sample[0].fields):
        subject.fail("recognises returns False for every line of the sample")


def _check_sample(subject: Subject, sample: list[_Line]) -> list[_Line]:
    """Check that the sample is decoded, to the same events by each decoder, and can be applied. Return one
    line of each kind: lines of one kind have the same fields, and become the same types of events."""
    first, second, session = subject.decoder(), subject.decoder(), _new_session(subject)
    kinds: dict[str, _Line] = {}
    is_known = False
    subject.end(subject.decoder(), Where(0))
    for line in sample:
        where = Where(line.number)
        events = subject.ask_all(first, line.fields, where)
        if subject.decode(second, line.fields, where) != events:
            subject.fail(f"two decoders return different events for the same lines (line {line.number})")
        is_known = is_known or any(type(event) is not Unknown for event in events)
        _apply(subject, session, events, where)
        if len(kinds) < _MOST_KINDS:
            kinds.setdefault(repr((shape(line.fields), *map(_kind, events))), line)
    if not is_known:
        subject.fail("every line of the sample is Unknown")
    where = Where(sample[-1].number)
    _apply(subject, session, subject.end(first, where), where)
    return list(kinds.values())


def _kind(event: Event) -> tuple[str, str]:
    return type(event).__name__, event.kind if isinstance(event, ToolStarted | ToolEnded) else ""


def _check_changes(subject: Subject, lines: list[_Line]) -> None:
    """Check lines in which one field is absent, has another type, or is nested deeply."""
    decoder, session = subject.decoder(), _new_session(subject)
    deep = nested(_DEPTH)
    for number, fields in lines:
        for path in paths(fields, _MOST_ITEMS):
            for other in (ABSENT, *WRONG, deep):
                where = Where(number, path, other)
                changed = parse(json.dumps(replaced(fields, path, other)).encode())
                assert isinstance(changed, dict)
                events = subject.ask_all(decoder, changed, where)
                _apply(subject, session, events, where)
        subject.decode(decoder, fields, Where(number))
    subject.end(decoder, Where(0))


def _check_order(subject: Subject, sample: list[_Line]) -> None:
    """Check sessions that have lost lines, or have them twice or in another order, and that end early."""
    orders = [
        (" of the sample backwards", sample[::-1]),
        (" of the sample twice over", sample * 2),
        *(
            (f" without each {step}. line", [each for at, each in enumerate(sample) if at % step])
            for step in _STEPS
        ),
        *((f" doubled at each {step}. line", _doubled(sample, step)) for step in _STEPS),
    ]
    for words, lines in orders:
        decoder, session = subject.decoder(), _new_session(subject)
        where = Where(0, change=words)
        for number, fields in lines:
            where = Where(number, change=words)
            _apply(subject, session, subject.decode(decoder, fields, where), where)
        _apply(subject, session, subject.end(decoder, where), where)
    for count in range(1, len(sample), max(1, len(sample) // 20)):
        decoder = subject.decoder()
        for number, fields in sample[:count]:
            subject.decode(decoder, fields, Where(number))
        subject.end(decoder, Where(count, change=" as the last one"))


def _doubled(sample: list[_Line], step: int) -> list[_Line]:
    return [line for at, each in enumerate(sample) for line in ([each] if at % step else [each, each])]


def _new_session(subject: Subject) -> Session:
    agent, session = subject.agent, Session()
    apply_line(session, [FormatDetected(agent.name, agent.traits, agent.agent)], Place(0, 0, None), 0)
    return session


def _apply(subject: Subject, session: Session, events: list[Event], where: Where) -> None:
    """Apply events to a session. Values of the declared types may still be impossible."""
    try:
        apply_line(session, events, Place(0, 1, None))
    except Exception as error:  # noqa: BLE001 - a plugin's events may break anything
        names = ", ".join(type(event).__name__ for event in events)
        subject.fail(f"a session cannot apply {names}: {type(error).__name__}: {error} ({where.words()})")
