"""ATIF: the Agent Trajectory Interchange Format, version 1.8 (`rfcs/0001-trajectory-format.md` of
harbor-framework/harbor). Each subagent is a trajectory inside that of the session."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

import orjson

from agentwatch.agents.fields import line_object, whole_text
from agentwatch.agents.payloads import Payloads
from agentwatch.agents.registry import program_named
from agentwatch.analysis.block_text import block_text
from agentwatch.feed.feed import Feed
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.recording.lines import MOST_LINE_BYTES, LineReader, Until
from agentwatch.session.blocks import BinaryBlock, Block, ContentBlock, FieldsBlock, TextBlock
from agentwatch.session.call import Call, Pieces, Place
from agentwatch.session.counts import added
from agentwatch.session.events import Event, Outcome, Tokens, Usage, UsageScope
from agentwatch.session.reducers import apply_line, keep_few
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.session.storage import Content
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.safe_json import safe_json
from agentwatch.text.times import utc

# JSON that every reader accepts: no half surrogate pairs, no NaN, no deep nesting.

_MOST_JSON_LEVELS = 100
"""Levels of a value that is written as it was sent. The parser of pydantic refuses 200."""
_TOO_DEEP = "nested too deeply to be written"


def _json_of(value: object) -> bytes:
    """Return a value as JSON, with every character that could control a terminal as an escape."""
    try:
        return safe_json(orjson.dumps(value))
    except TypeError:  # half a surrogate pair, an integer over 64 bits, or over 254 levels
        return json.dumps(_mended(value, _MOST_JSON_LEVELS)).encode()


def _foreign_json(value: object) -> bytes:
    return _json_of(_mended(value, _MOST_JSON_LEVELS) if _may_be_deep(value) else value)


def text_json(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield a text that is given in pieces as a JSON string."""
    yield b'"'
    held = ""
    for piece in pieces:
        text = held + piece
        is_split = "\ud800" <= text[-1:] <= "\udbff"  # the other half may follow
        held, text = (text[-1:], text[:-1]) if is_split else ("", text)
        yield _json_of(whole_text(text))[1:-1]
    if held:
        yield _json_of(whole_text(held))[1:-1]
    yield b'"'


def pieces_of(content: Content) -> Iterator[str]:
    for start in range(0, len(content), _CHUNK):
        yield content.part(start, start + _CHUNK)


def known(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def members(fields: Mapping[str, object]) -> bytes:
    return _json_of(fields)[1:-1]


def timestamp(at_ms: int | None) -> str | None:
    """Return a time as ISO 8601, in UTC; None if it is unknown or outside the years 1970 to 9999."""
    at = utc(at_ms)
    return None if at is None or at_ms is None else f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}Z"


def _may_be_deep(value: object) -> bool:
    """Return whether a value has more than 50 levels, which real ones do not."""
    level = [value]
    for _ in range(_MOST_JSON_LEVELS // 2):
        level = [inner for each in level for inner in _inner(each) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _mended(value: Any, levels: int) -> Any:
    match value:
        case str():
            return whole_text(value)
        case float():
            return value if value - value == 0 else None
        case dict() | list() if levels == 0:
            return _TOO_DEEP
        case dict():
            return {whole_text(str(key)): _mended(inner, levels - 1) for key, inner in value.items()}
        case list() | tuple():
            return [_mended(inner, levels - 1) for inner in value]
    return value


# Calls.

_MOST_TEXTS = 10_000
_MOST_DECODED = 64 << 20
"""Bytes that are decoded of one line for the blocks of its calls, as it is decoded for each of them."""


class _CallWriter:
    """Writes the calls of a session, whose lines it reads from the recording. The calls with the numbers
    `trajectories` have subagents with trajectories of their own."""

    def __init__(self, feed: Feed, trajectories: Collection[int]) -> None:
        self._feed = feed
        self._trajectories = trajectories
        self._last: tuple[Place | None, Payloads | None] = None, None
        """The line that was read last: parallel calls may share one."""
        self._decoded = 0
        """The number of its bytes that were decoded for blocks."""

    def members(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the members of a step with these calls: its tool_calls, and its observation."""
        calls = self._feed.session.calls
        if not numbers:
            return
        names = _names(calls[number - 1].call_id for number in numbers)
        for at, number in enumerate(numbers):
            yield b',"tool_calls":[' if at == 0 else b","
            yield from self._call(calls[number - 1], next(names))
        yield b"]"
        names, lead = _names(calls[number - 1].call_id for number in numbers), b',"observation":{"results":['
        for number in numbers:
            call, name = calls[number - 1], next(names)
            if call.ended is not None:
                yield lead
                yield from self._result(call, name)
                lead = b","
        if lead == b",":
            yield b"]}"

    def _call(self, call: Call, name: str) -> Iterator[bytes]:
        extra = known(
            number=call.number,
            kind=call.kind,
            path=call.path,
            started_ms=call.started_ms,
            outcome=call.outcome if call.ended is None else None,
            subagent=trajectory_id(call.number) if self._has_subagent(call) and not call.ended else None,
        )
        yield b"{" + members({"tool_call_id": name, "function_name": call.tool or "unknown"})
        yield b',"arguments":' + self._arguments(call)
        yield b',"extra":' + _json_of(extra) + b"}"

    def _result(self, call: Call, name: str) -> Iterator[bytes]:
        yield b"{" + members({"source_call_id": name})
        place = call.result_place
        if place is not None and (content := self._content(call, place)) is not None:
            yield b',"content":'
            yield from text_json((content,))
        if self._has_subagent(call):
            yield b"," + members({"subagent_trajectory_ref": [{"trajectory_id": trajectory_id(call.number)}]})
        extra = known(
            outcome=call.outcome,
            error=call.error,
            exit_code=call.exit_code,
            ended_ms=call.ended_ms,
            duration_ms=call.duration_ms,
            lines_added=call.lines_added,
            lines_removed=call.lines_removed,
        )
        yield b',"extra":' + _json_of(extra) + b"}"

    def _has_subagent(self, call: Call) -> bool:
        return call.number in self._trajectories

    def _arguments(self, call: Call) -> bytes:
        place = call.arguments_place or call.result_place
        payloads = None if place is None else self._payloads(place)
        if place is None or payloads is None:
            return b"{}"
        if not payloads.names(call.call_id):
            return _foreign_json(_block_arguments(self._blocks(place, call)))
        value, is_named = payloads.arguments(call.call_id)
        if not is_named:
            value = payloads.request(call.call_id)
        elif isinstance(value, str):
            value = _object(value)
        return _foreign_json(value if isinstance(value, dict) else {"input": value})

    def _content(self, call: Call, place: Place) -> str | None:
        """Return the text of a result as it was sent, or else as it was shown; None if its line has none."""
        payloads = self._payloads(place)
        if payloads is not None and payloads.names(call.call_id):
            value, is_named = payloads.result(call.call_id)
            if is_named and isinstance(value, str):
                return value
            if is_named and not any(isinstance(block, BinaryBlock) for block in self._blocks(place, call)):
                text = _text(value)
                return _foreign_json(value).decode() if text is None else text
        return "\n".join(map(block_text, self._blocks(place, call))) or None

    def _blocks(self, place: Place, call: Call) -> list[Block]:
        """Return the blocks of a line for a call; none if too much of the line was decoded before."""
        self._payloads(place)
        self._decoded += place.length
        return [] if self._decoded > _MOST_DECODED else self._feed.blocks(place, call.call_id)

    def _payloads(self, place: Place) -> Payloads | None:
        """Return the payloads of a line; None of one that is over 16 MiB, or no JSON object."""
        last, payloads = self._last
        if last != place:
            payloads = None
            if place.length <= MOST_LINE_BYTES:
                line = line_object(*self._feed.line_at(place).split(b"\n"))
                payloads = None if line is None else Payloads(line)
            self._last, self._decoded = (place, payloads), 0
        return payloads


def trajectory_id(number: int) -> str:
    """Return the id of the trajectory of the subagent of a call; 0 of a call that is not in the recording."""
    return f"subagent-of-call-{number}" if number else "subagents-of-unknown-calls"


def _names(call_ids: Iterator[str]) -> Iterator[str]:
    """Yield the ids of the calls of a step, each made unique within the step."""
    seen: set[str] = set()
    for at, call_id in enumerate(call_ids, 1):
        name = call_id or "call"
        if name in seen:
            name = f"{name}#{at}"
        seen.add(name)
        yield name


def _block_arguments(blocks: Iterable[Block]) -> dict[str, object]:
    shown: dict[str, object] = {}
    for block in blocks:
        match block:
            case FieldsBlock():
                shown |= block.fields
            case TextBlock():
                shown[block.name] = block.text
            case ContentBlock():
                shown["content"] = block.text
    return shown


def _object(arguments: str) -> object:
    """Return arguments that were sent as a text of JSON; any other text unchanged."""
    value = line_object(arguments.encode("utf-8", "replace"))
    return arguments if value is None else value


def _text(value: Any) -> str | None:
    """Return the text of a value that is nothing but text: a string, or the parts of a message."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and [name for name, inner in value.items() if inner] == ["content"]:
        value = value["content"]
    if not isinstance(value, list) or len(value) > _MOST_TEXTS:
        return None
    parts = [part for part in value if isinstance(part, dict) and part.get("type") == "text"]
    texts = [text for part in parts if isinstance(text := part.get("text"), str)]
    return "\n".join(texts) if texts and len(texts) == len(value) else None


# Times, models and token counts of entries. A session does not keep them: the recording is read once more.

_MOST_MODELS = 1000
_MOST_REQUESTS = 100_000
"""The requests whose counts are kept; of a session with more, the steps have none."""
_OF_THE_MODEL = (Kind.ANSWER, Kind.REASONING, Kind.CALL)


class Noted(NamedTuple):
    seen_ms: array[int]
    """The time of arrival of the line with which an entry began; 0 if unknown."""
    model: array[int]
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
        return self.models[self.model[number]] if number < len(self.model) else None

    def tokens_of(self, numbers: Iterable[int]) -> Tokens | None:
        """Return the token counts of a step. They are None if no line has both an output and the counts of
        its request: counts in a separate line may belong to the step before or after."""
        found = [self.requests[number] for number in numbers if number in self.requests]
        counts = [tokens for tokens in found if tokens is not None]
        return added(counts) if counts and len(counts) == len(found) else None


def noted(feed: Feed) -> Noted:
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


# Steps: one for each prompt, notice and call of the model.


class Origin(StrEnum):
    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"


@dataclass(slots=True)
class Step:
    """One step, as the numbers of its entries and calls: a step may have any number of them."""

    origin: Origin
    numbers: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    reasoning: list[int] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    group: str | None = None
    first_end: int | None = None
    """The offset of the line that ended the first of its calls to end."""

    def add_call(self, entry: Entry, call: Call) -> None:
        self.numbers.append(entry.number)
        self.calls.append(call.number)
        self.group = call.group if self.group is None else self.group
        if call.ended is not None and (self.first_end is None or call.ended.offset < self.first_end):
            self.first_end = call.ended.offset

    def add_text(self, entry: Entry) -> None:
        self.numbers.append(entry.number)
        (self.reasoning if entry.kind is Kind.REASONING else self.texts).append(entry.number)

    def add_texts(self, other: Step | None) -> None:
        if other is not None:
            self.numbers += other.numbers
            self.texts += other.texts
            self.reasoning += other.reasoning

    def has_requested(self, call: Call) -> bool:
        """Return whether the model requested a call together with those of the step. Some agents name their
        model steps. For others, a call belongs to the step of a call that had not ended when it started: the
        model has not seen a result between the two."""
        if not self.calls:
            return True
        if self.group is not None or call.group is not None:
            return self.group == call.group
        started = call.started or call.ended
        return started is not None and (self.first_end is None or started.offset < self.first_end)


def _steps_of(entries: Iterable[Entry]) -> Iterator[Step]:
    """Yield the steps of the entries of one agent, in order. A notice between the calls of a step follows the
    step. The model reasons before it answers: reasoning after an answer begins a step."""
    step: Step | None = None
    after: Step | None = None
    """Texts after a call, which belong to its step if a call of the same model step follows."""
    notices: list[int] = []
    for entry in entries:
        call = entry.call
        if call is not None:
            if step is not None and step.has_requested(call) and (after is None or call.group is not None):
                step.add_texts(after)
            else:
                yield from _ended(step, notices)
                step = after or Step(Origin.AGENT)
            step.add_call(entry, call)
            after = None
        elif entry.kind in (Kind.ANSWER, Kind.REASONING):
            if step is None:
                step = Step(Origin.AGENT)
            elif entry.kind is Kind.REASONING and step.texts and not step.calls:
                yield from _ended(step, notices)
                step = Step(Origin.AGENT)
            elif step.calls and after is None:
                after = Step(Origin.AGENT)
            elif entry.kind is Kind.REASONING and after is not None and after.texts:
                yield from _ended(step, notices)
                yield after
                step, after = Step(Origin.AGENT), None
            (after or step).add_text(entry)
        elif entry.kind is Kind.NOTICE and step is not None and after is None:
            notices.append(entry.number)
        else:
            yield from _ended(step, notices)
            yield from _ended(after, [])
            step = after = None
            if (origin := _origin(entry)) is not None:
                yield Step(origin, [entry.number], [entry.number])
    yield from _ended(step, notices)
    yield from _ended(after, [])


def _ended(step: Step | None, notices: list[int]) -> Iterator[Step]:
    if step is not None:
        yield step
    for number in notices:
        yield Step(Origin.SYSTEM, [number], [number])
    notices.clear()


def _origin(entry: Entry) -> Origin | None:
    """Return who an entry comes from that is a step of its own; None if it is not a step. A result repeats
    the agent's text, unless the recording has nothing else, or it is an error message."""
    if entry.kind is Kind.PROMPT:
        return Origin.USER
    if (result := entry.result) is None:
        return Origin.SYSTEM
    if not result.length:
        return None
    if result.is_bare and result.outcome is Outcome.SUCCEEDED:
        return Origin.AGENT
    is_new = result.outcome is not Outcome.SUCCEEDED and not result.is_streamed
    return Origin.SYSTEM if is_new else None


VERSION = "ATIF-v1.8"
_PIECE_BYTES = 1 << 16
_CHUNK = 1 << 14
_MOST_LEVELS = 8
"""Trajectories within trajectories. Those of deeper subagents are in the list of the last of these levels."""
_MAIN = -1


class _Part(NamedTuple):
    entries: dict[int, array[int]]
    """The numbers of the entries of each subagent, by the number of its call; those of the main agent."""
    below: dict[int, list[int]]
    """The subagents whose calls an agent made, in order."""
    referenced: set[int]
    """The subagents whose calls refer to them."""


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for piece in _Document(exported, choices).trajectory(_MAIN):
        held.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join([*held, b"\n"])


class _Document:
    def __init__(self, exported: Exported, choices: Choices) -> None:
        self._exported = exported
        self._session = exported.session
        self._progress = choices.progress or (lambda _done, _total: None)
        self._noted: Noted = noted(exported.feed)
        self._model = self._session.run.model
        self._part = _part(exported)
        self._calls = _CallWriter(exported.feed, self._part.referenced)

    def trajectory(self, agent: int) -> Iterator[bytes]:
        """Yield the trajectory of an agent: of the main one, or of the subagent of a call."""
        is_main = agent == _MAIN
        session, run = self._session, self._session.run
        name = session.agent_name or session.format or "unknown"
        program = program_named(name)
        facts = known(cwd=run.cwd, permission_mode=run.permission_mode, branch=run.branch)
        described = known(
            name=(program and program.published_name) or name,
            version=run.agent_version or "unknown",
            model_name=self._model if is_main else None,
            extra=facts if is_main and facts else None,
        )
        ids = known(session_id=run.session_id) if is_main else known(trajectory_id=trajectory_id(agent))
        yield b"{" + members({"schema_version": VERSION, **ids, "agent": described}) + b',"steps":['
        count = 0
        for count, step in enumerate(_steps_of(self._entries(agent)), 1):
            yield b"{" if count == 1 else b",{"
            yield from self._step(step, count)
            yield b"}"
        if not count:
            nothing = {"step_id": 1, "source": Origin.SYSTEM, "message": "nothing of the session is exported"}
            yield _json_of(nothing)
        metrics = self._metrics() if is_main else {}
        yield b"]," + members({"final_metrics": {**metrics, "total_steps": max(count, 1)}})
        if is_main:
            yield b"," + members({"notes": self._notes(), "extra": self._about()})
        if below := self._part.below.get(agent):
            for at, each in enumerate(below):
                yield b"," if at else b',"subagent_trajectories":['
                yield from self.trajectory(each)
            yield b"]"
        yield b"}"

    def _entries(self, agent: int) -> Iterator[Entry]:
        transcript, offsets = self._session.transcript, self._session.transcript.offsets
        total = self._exported.feed.offset
        for number in self._part.entries.get(agent, ()):
            self._progress(offsets[number], total)
            yield transcript[number]

    def _step(self, step: Step, number: int) -> Iterator[bytes]:
        first = self._session.transcript[step.numbers[0]]
        is_main = step.origin is Origin.AGENT and first.parent is None
        model = self._noted.model_of(first.number) if is_main else None
        yield members(
            known(
                step_id=number,
                timestamp=timestamp(self._noted.ms_of(first)),
                source=step.origin,
                model_name=None if model == self._model else model,
            )
        )
        yield b',"message":'
        yield from self._text(step.texts)
        if step.reasoning:
            yield b',"reasoning_content":'
            yield from self._text(step.reasoning)
        yield from self._calls.members(step.calls)
        if (tokens := self._noted.tokens_of(step.numbers)) is not None:
            yield b"," + members({"metrics": _counts(tokens)})

    def _text(self, numbers: list[int]) -> Iterator[bytes]:
        transcript = self._session.transcript
        pieces = (chain(("\n\n",) if at else (), _pieces(transcript[n])) for at, n in enumerate(numbers))
        return text_json(chain.from_iterable(pieces))

    def _metrics(self) -> dict[str, object]:
        """Return the token counts of the session; nothing if only a part of it is exported."""
        if self._exported.start or self._exported.filter_words:
            return {}
        return {f"total_{name}": count for name, count in _counts(self._session.tokens).items()}

    def _notes(self) -> str:
        masked = self._exported.masked
        words = ["not redacted" if masked is None else f"redacted: {masked}"]
        if not self._exported.is_whole:
            words.append("a part of the session")
        return "; ".join(words)

    def _about(self) -> dict[str, object]:
        session = self._session
        return known(
            recording=self._exported.name,
            outcome=session.outcome,
            exit_code=session.exit_code,
            result_outcome=session.result_outcome if session.exit_code else None,
            runs=len(session.runs),
            turns=session.turns,
            duration_ms=session.duration_ms,
            calls_by_outcome={outcome.value: count for outcome, count in calls_by_outcome(session).items()},
            only=self._exported.filter_words or None,
            is_redacted=self._exported.report is not None,
        )


def _pieces(entry: Entry) -> Iterator[str]:
    if (result := entry.result) is None:
        yield from pieces_of(entry.content)
    else:
        for start in range(0, result.length, _CHUNK):
            yield result.part(start, start + _CHUNK)


def _counts(tokens: Tokens) -> dict[str, object]:
    """Return token counts by the names of the format. Its prompt tokens include the cached ones."""
    return known(
        prompt_tokens=tokens.input,
        completion_tokens=tokens.output,
        cached_tokens=tokens.cached,
        cost_usd=tokens.cost_usd,
    )


def _part(exported: Exported) -> _Part:
    entries: dict[int, array[int]] = {}
    is_shown = bytearray(len(exported.session.calls) + 1)
    for entry in exported.entries():
        agent = _MAIN if entry.parent is None else entry.parent
        entries.setdefault(agent, array("I")).append(entry.number)
        if entry.call is not None:
            is_shown[entry.call.number] = True
    part = _Part(entries, {}, set())
    owners, levels = {_MAIN: _MAIN}, {_MAIN: 0}
    for agent in sorted(entries.keys() - {_MAIN}):  # the call of a subagent comes before its own calls
        owner = _MAIN
        if agent and is_shown[agent] and (parent := exported.session.calls[agent - 1].parent) is not None:
            owner = parent
        if levels[owner] == _MOST_LEVELS:
            owner = owners[owner]
        elif is_shown[agent] and agent:
            part.referenced.add(agent)
        owners[agent], levels[agent] = owner, levels[owner] + 1
        part.below.setdefault(owner, []).append(agent)
    return part


EXPORTER = Exporter(name="atif", suffix=".atif.json", write=write)
