"""The checks of a format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from agentwatch.events import Event, FormatDetected, ToolEnded, ToolStarted, Unknown
from agentwatch.session import Place, Session, apply_line
from agentwatch.testing.costs import check_number, check_sizes
from agentwatch.testing.subject import Subject, Where
from agentwatch.testing.variants import ABSENT, WRONG, nested, paths, replaced, shape
from agentwatch.wire.agent import Agent
from agentwatch.wire.agents import detect, known_agents
from agentwatch.wire.json_line import parse

_MOST_KINDS = 60
"""The number of lines that are changed, each of another kind."""
_MOST_ITEMS = 2
"""The number of items of an array that are changed."""
_DEPTH = 500
_STEPS = (2, 3, 7)
"""Of the lines, each second, third and seventh is left out, or doubled."""


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
        >>> from agentwatch.events import Channel, Text, Traits
        >>> from agentwatch.wire import Agent, LineRole
        >>> class TernDecoder:
        ...     def decode(self, fields):
        ...         return [Text(Channel.ANSWER, fields.get("say"))]
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
    """Return the lines that are JSON objects."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            fields = parse(line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line)
        except ValueError:
            continue
        if isinstance(fields, dict):
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
    """Check that the sample is decoded, to the same events by each decoder, and can be applied.

    Returns:
        One line of each kind: lines of one kind have the same fields, and become the same types of events.
    """
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
