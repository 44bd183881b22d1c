"""The spans of runs, calls, subagents and model steps. Attributes follow the GenAI conventions, others are
`agentwatch.…`; texts are only sent with `--content`, redacted."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from typing import NamedTuple

import orjson

from agentwatch.analysis.shell import first_program
from agentwatch.feed.feed import Feed
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices
from agentwatch.output.show import call_json
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.runs import Run
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.paths import is_windows
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text

Value = str | int | float | bool
_MOST_NAME_COLUMNS = 200
_MOST_INTEGER = (1 << 63) - 1
_MOST_SPANS = 512
_MOST_BYTES = 1_000_000
_BASE_BYTES = 120
"""The ids, the times and the kind of a span."""
_ATTRIBUTE_BYTES = 8
"""The tags and lengths of an attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span. All of its texts can be encoded as UTF-8, and its numbers as 64 bits."""

    trace_id: int
    span_id: int
    parent_id: int | None
    """The id of the span that it is part of; None for the first of a trace."""
    name: str
    start_ns: int
    """Nanoseconds since the epoch."""
    end_ns: int
    attributes: Mapping[str, Value]
    has_failed: bool = False
    failure: str = ""
    """The description of the status, if it has failed."""
    is_client: bool = False
    """Whether it is a request to another service; otherwise it is internal."""

    def size(self) -> int:
        """Return about how many bytes the span takes when it is encoded; never less than its texts take."""
        texts = chain([self.name, self.failure], self.attributes)
        size = _BASE_BYTES + _ATTRIBUTE_BYTES * len(self.attributes) + sum(map(_utf8_size, texts))
        return size + sum(
            _utf8_size(value) if isinstance(value, str) else 8 for value in self.attributes.values()
        )


def attributes(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the known attributes, with texts and numbers that every backend can store: no half a surrogate
    pair (the encoder fails), no NUL (some backends do), and no number over 64 bits."""
    known: dict[str, Value] = {}
    for name, value in values.items():
        if isinstance(value, str):
            known[name] = safe_text(value)
        elif value is not None and (isinstance(value, float) or abs(value) <= _MOST_INTEGER):
            known[name] = value
    return known


def name_of(*words: str) -> SafeText:
    """Return the name of a span: words in one line of at most 200 columns."""
    return cut(safe_line(" ".join(word for word in words if word)), _MOST_NAME_COLUMNS)


def batches(spans: Iterator[Span]) -> Iterator[list[Span]]:
    """Yield spans in groups of at most 512 spans, and of at most about 1 MB unless one span is larger."""
    batch: list[Span] = []
    size = 0
    for span in spans:
        more = span.size()
        if batch and (len(batch) == _MOST_SPANS or size + more > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += more
    if batch:
        yield batch


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


_TRACE_BYTES = 16
_SPAN_BYTES = 8


class _Ids:
    """The ids of the trace of a run. `began_ms` separates recordings of one session that was resumed."""

    def __init__(self, session_id: str, run: int, began_ms: int | None) -> None:
        self._run = (session_id, str(run), str(began_ms))
        self.trace = _id(_TRACE_BYTES, *self._run)
        self.run = self._span("run")

    def call(self, call_id: str, number: int) -> int:
        return self._span("call", call_id, str(number))

    def subagent(self, call_id: str, number: int) -> int:
        return self._span("subagent", call_id, str(number))

    def step(self, number: int) -> int:
        """Return the id of the span of a step of the model, by the number of its first entry."""
        return self._span("step", str(number))

    def _span(self, *words: str) -> int:
        return _id(_SPAN_BYTES, *self._run, *words)


def _id(size: int, *words: str) -> int:
    """Return the first bytes of the SHA-256 of some words as a number; 0 is not a valid id."""
    digest = sha256()
    for word in words:
        data = word.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest()[:size], "big") or 1


# Times, in nanoseconds since the epoch.

_NS = 1_000_000
_MOST_MS = (1 << 63) // _NS - 1
"""The latest time, in the year 2262: OTLP has 64 bits for a time in nanoseconds."""
_MOST_TRIED = 1000
_STEP_NS = 1000


class _Period(NamedTuple):
    start: int
    end: int

    def around(self, other: _Period) -> _Period:
        return _Period(min(self.start, other.start), max(self.end, other.end))


class _Clock:
    """The times of a session by one clock: the agent's if it has one, otherwise that of the arrivals. Arrival
    times are shifted to the agent's clock by the difference at the first call that has both. Without any
    time, the recording ends when its file was last written, and its calls follow each other by 1 µs."""

    def __init__(self, exported: Exported) -> None:
        self._session = exported.session
        self._timeline = exported.timeline
        self._shift_ms = _shift(exported)
        self.has_times = exported.timeline.has_times
        written_ms = _valid(exported.modified_ms) or 1
        durations = (run.duration_of_turns_ms or 0 for run in self._session.runs)
        self._written = _Period(_before(written_ms, sum(durations)) * _NS, written_ms * _NS)

    def run(self, number: int) -> _Period:
        """Return when a run started and ended, by its own lines."""
        run = self._session.runs[number - 1]
        start_ms = self._shifted(run.began_seen_ms)
        end_ms = self._at(run.ended) if run.ended is not None else self._last_ms(number)
        if end_ms is None:
            return self._written
        if start_ms is None:
            start_ms = _before(end_ms, run.duration_of_turns_ms)
        return _Period(start_ms * _NS, max(start_ms, end_ms) * _NS)

    def call(self, call: Call) -> _Period:
        """Return when a call started and ended. One that never ended, ends with the last event of its run."""
        start_ms, end_ms = _valid(call.started_ms), _valid(call.ended_ms)
        start_ms = self._at(call.started) if start_ms is None else start_ms
        end_ms = self._at(call.ended) if end_ms is None else end_ms
        duration_ms = call.duration_ms
        if duration_ms is not None and 0 <= duration_ms < _MOST_MS:
            if start_ms is not None:
                end_ms = _valid(start_ms + duration_ms)
            elif end_ms is not None:
                start_ms = _valid(end_ms - duration_ms)
        if end_ms is None:
            end_ms = self._last_ms(call.run)
        start_ms = end_ms if start_ms is None else start_ms
        if start_ms is None or end_ms is None:
            start_ns = min(self._written.start + call.number * _STEP_NS, self._written.end)
            return _Period(start_ns, start_ns)
        return _Period(start_ms * _NS, max(start_ms, end_ms) * _NS)

    def text(self, started_ms: int | None, ended_ms: int | None) -> _Period | None:
        """Return when a text was written; None unless the agent gave two different times for it."""
        start_ms, end_ms = _valid(started_ms), _valid(ended_ms)
        if start_ms is None or end_ms is None or end_ms <= start_ms:
            return None
        return _Period(start_ms * _NS, end_ms * _NS)

    def _last_ms(self, number: int) -> int | None:
        """Return the time of the last event of a run: the start of the next one, or the last time of all."""
        if number < len(self._session.runs):
            began_ms = self._shifted(self._session.runs[number].began_seen_ms)
            if began_ms is not None:
                return began_ms
        return self._shifted(self._session.last_seen_ms)

    def _at(self, place: Place | None) -> int | None:
        """Return the time of a line; if it has none, that of the last line before it that has one."""
        if place is None:
            return None
        return self._shifted(self._timeline.ms_at(place.offset) if place.seen_ms is None else place.seen_ms)

    def _shifted(self, seen_ms: int | None) -> int | None:
        return None if seen_ms is None else _valid(seen_ms + self._shift_ms)


def began_ms(exported: Exported) -> list[int | None]:
    """Return when each run began, by its first time, unshifted: a part has the ids of the whole."""
    began = [run.began_seen_ms for run in exported.session.runs]
    if None in began:
        for call in exported.session.calls:
            if began[call.run - 1] is None and call.started_ms is not None:
                began[call.run - 1] = call.started_ms
    return began


def _shift(exported: Exported) -> int:
    """Return by how much the agent's clock is ahead of that of the arrivals, in milliseconds."""
    for call in islice(exported.session.calls, _MOST_TRIED):
        started_ms = _valid(call.started_ms)
        if started_ms is not None and call.started is not None and call.started.seen_ms is not None:
            return started_ms - call.started.seen_ms
    return 0


def _before(end_ms: int, duration_ms: int | None) -> int:
    """Return when something started, by its duration as the agent measured it; its end if it is unknown."""
    return end_ms - duration_ms if duration_ms is not None and 0 < duration_ms < end_ms else end_ms


def _valid(at_ms: int | None) -> int | None:
    """Return a time that OTLP can express; None for any other, since the agent's times are foreign."""
    return at_ms if at_ms is not None and 0 < at_ms < _MOST_MS else None


# Texts, for `--content`.

MOST_BYTES = 8192
"""The longest value. Backends cut or refuse longer ones, and 512 spans must fit into a request."""
_PART_OF_NAME = "._-~"
_TOO_DEEP = "nested too deeply"


def message_list(role: str, texts: Iterable[str]) -> str:
    """Return messages in the JSON of the GenAI conventions, of at most 8 kB together.

    Example:
        >>> message_list("user", ["Fix the tests."])
        '[{"role":"user","parts":[{"type":"text","content":"Fix the tests."}]}]'
    """
    messages: list[str] = []
    room = MOST_BYTES - 2
    for text in texts:
        message = _fitting(role, safe_text(text[:MOST_BYTES]), room)
        if message is None:
            break
        messages.append(message)
        room -= len(message.encode()) + 1
    return f"[{','.join(messages)}]"


def _payloads(feed: Feed, call: Call, cwd: str | None) -> tuple[str | None, str | None]:
    """Return the arguments and the result, as text or JSON cut to 8 kB, with paths relative to the cwd."""
    try:
        members = orjson.loads(call_json(feed, call))
    except orjson.JSONDecodeError:  # Python's own encoder nests deeper than orjson decodes
        return _TOO_DEEP, _TOO_DEEP
    return _payload(members["arguments"], cwd), _payload(members["result"], cwd)


def shortened(text: str) -> str:
    """Return a text of at most 8 kB in UTF-8; a longer one is cut and ends in `…`."""
    text = safe_text(text[: MOST_BYTES + 1])
    data = text.encode()
    if len(data) <= MOST_BYTES:
        return text
    return data[: MOST_BYTES - 3].decode("utf-8", "ignore") + "…"


def relative(text: str, cwd: str | None, *, is_json: bool = False) -> str:
    """Return a text in which paths inside the cwd are relative to it; the cwd itself is `.`. In JSON
    (`is_json`) a backslash is written twice.

    Example:
        >>> relative("cat /srv/ada/app/src/a.py in /srv/ada/app, not /srv/ada/application", "/srv/ada/app")
        'cat src/a.py in ., not /srv/ada/application'
    """
    if cwd is None or len(cwd) < 2:
        return text
    folder = json.dumps(cwd, ensure_ascii=False)[1:-1] if is_json else cwd
    separators = ("/", "\\\\" if is_json else "\\") if is_windows(cwd) else ("/",)
    is_short = cwd.count("/") == 1  # `/app` may be the end of another path
    done, *others = text.split(folder)
    parts = [done]
    for other in others:
        separator = next((each for each in separators if other.startswith(each)), None)
        if (is_short and _continues_name(parts[-1][-1:])) or _continues_name(other[:1]):
            parts.append(folder + other)
        else:
            parts.append(f".{other}" if separator is None else other[len(separator) :])
    return "".join(parts)


def _payload(value: object, cwd: str | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return shortened(relative(value, cwd))
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # it nests over 254 levels
        return _TOO_DEEP
    return shortened(relative(text, cwd, is_json=True))


def _continues_name(char: str) -> bool:
    return bool(char) and (char.isalnum() or char in _PART_OF_NAME)


def _fitting(role: str, text: str, room: int) -> str | None:
    """Return a message of at most this number of bytes, with the text cut; None if the room is too small."""
    message = _message(role, text)
    if len(message.encode()) <= room:
        return message

    def size(kept: int) -> int:
        return len(_message(role, f"{text[:kept]}…").encode())

    kept = bisect_right(range(len(text)), room, key=size) - 1
    return _message(role, f"{text[:kept]}…") if kept > 0 else None


def _message(role: str, text: str) -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


# Attributes.

_ERRORS = frozenset({Outcome.FAILED, Outcome.REJECTED, Outcome.CANCELLED})
_UNKNOWN = "unknown"


class _Facts:
    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._session = exported.session

    def run(self, number: int) -> dict[str, Value | None]:
        run = self._session.runs[number - 1]
        tokens = run.tokens
        outcome = self._session.outcome if run is self._session.run else run.outcome
        return self._agent(run) | {
            "gen_ai.agent.name": self.agent(run),
            "gen_ai.agent.version": run.agent_version,
            "gen_ai.usage.input_tokens": tokens.input,
            "gen_ai.usage.cache_read.input_tokens": tokens.cached,
            "gen_ai.usage.output_tokens": tokens.output,
            "error.type": str(outcome) if outcome in _ERRORS else None,
            "agentwatch.outcome": str(outcome),
            "agentwatch.run": number,
            "agentwatch.turns": run.turns,
            "agentwatch.redacted": self._exported.report is not None,
            "agentwatch.whole": self._exported.is_whole,
        }

    def subagent(self, call: Call) -> dict[str, Value | None]:
        run = self._session.runs[call.run - 1]
        return self._agent(run) | {
            "gen_ai.agent.name": f"{self.agent(run)} subagent",
            "gen_ai.agent.id": call.call_id,
            "gen_ai.request.model": None,
            "error.type": _error_of(call),
            "agentwatch.outcome": call.outcome.value,
        }

    def call(self, call: Call) -> dict[str, Value | None]:
        run = self._session.runs[call.run - 1]
        return self._ids(run) | {
            "openinference.span.kind": "TOOL",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool or _UNKNOWN,
            "gen_ai.tool.call.id": call.call_id or None,
            "gen_ai.tool.type": "extension" if call.kind is ToolKind.MCP else "function",
            "process.executable.name": _program_of(call),
            "process.exit.code": call.exit_code,
            "error.type": _error_of(call),
            "agentwatch.call": call.number,
            "agentwatch.kind": call.kind.value,
            "agentwatch.outcome": call.outcome.value,
            "agentwatch.lines_added": call.lines_added,
            "agentwatch.lines_removed": call.lines_removed,
        }

    def call_content(self, call: Call) -> dict[str, Value | None]:
        arguments, result = _payloads(self._exported.feed, call, self._session.runs[call.run - 1].cwd)
        return {"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result}

    def step(self, number: int) -> dict[str, Value | None]:
        run = self._session.runs[number - 1]
        return self._agent(run) | {"gen_ai.operation.name": "chat", "openinference.span.kind": "LLM"}

    def agent(self, run: Run) -> str:
        is_last = run.format is None or run.format == self._session.format
        return (self._session.agent_name if is_last else run.format) or _UNKNOWN

    def _agent(self, run: Run) -> dict[str, Value | None]:
        return self._ids(run) | {
            "openinference.span.kind": "AGENT",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": self.agent(run),
            "gen_ai.request.model": run.model,
        }

    @staticmethod
    def _ids(run: Run) -> dict[str, Value | None]:
        return {"gen_ai.conversation.id": run.session_id, "session.id": run.session_id}


def _program_of(call: Call) -> str | None:
    """Return the first program of a command; None for other calls, and if the command does not name one."""
    return first_program(call.target) if call.kind is ToolKind.EXECUTE and call.target else None


def _error_of(call: Call) -> str | None:
    """Return the kind of error of a call; None without an error. An exit code other than 0 is one."""
    if call.exit_code:
        return f"exit_{call.exit_code}" if abs(call.exit_code) < 1 << 32 else "exit"
    return call.outcome.value if call.outcome in _ERRORS else None


class _RunTexts:
    """The prompts of a run and its last answer; paths inside the cwd become relative to it."""

    def __init__(self, cwd: str | None) -> None:
        self._cwd = cwd
        self._prompts: list[str] = []
        self._room = MOST_BYTES
        self._answer: Entry | None = None

    def add(self, entry: Entry) -> None:
        if entry.kind is Kind.ANSWER:
            self._answer = entry
        elif entry.kind is Kind.PROMPT and self._room > 0:
            text = relative(entry.content.part(0, MOST_BYTES), self._cwd)
            self._prompts.append(text)
            self._room -= len(text) + 1

    def attributes(self) -> dict[str, Value | None]:
        answers = [] if self._answer is None else [self._answer]
        return {
            "gen_ai.input.messages": message_list("user", self._prompts) if self._prompts else None,
            "gen_ai.output.messages": output(answers, self._cwd),
        }


def output(entries: Sequence[Entry], cwd: str | None) -> str | None:
    """Return the answers among some entries as messages of the assistant; None without any."""
    answers = (entry.content.part(0, MOST_BYTES) for entry in entries if entry.kind is Kind.ANSWER)
    texts = [relative(text, cwd) for text in answers]
    return message_list("assistant", texts) if texts else None


_TEXTS = (Kind.REASONING, Kind.ANSWER)


class _Step(NamedTuple):
    run: int
    parent: int | None
    entries: list[Entry]


class Spans:
    """Makes the spans of a session, in the order of its transcript."""

    def __init__(self, exported: Exported, choices: Choices) -> None:
        self._exported = exported
        self._runs = exported.session.runs
        self._with_content, self._progress = choices.content, choices.progress
        self._clock, self._facts = _Clock(exported), _Facts(exported)
        began = began_ms(exported)
        self._ids = [
            _Ids(run.session_id or "", number, began[number - 1]) for number, run in enumerate(self._runs, 1)
        ]
        self._periods: dict[int, _Period] = {}
        """The periods of the exported runs, by their numbers; unknown ones are left out."""
        self._texts: dict[int, _RunTexts] = {}
        self._run = 1
        self._step: _Step | None = None
        """The last texts, while no other entry has followed."""
        self._calls: set[int] = set()
        self._subagents: dict[int, int] = {}
        """The ids of the spans of subagents, by the numbers of the calls that started them."""

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans. Those of the runs are last, because their times include those of the others."""
        exported = self._exported
        if exported.is_whole:
            numbers = range(1, len(self._runs) + 1)
            self._periods.update((number, self._clock.run(number)) for number in numbers)
        offsets, size = exported.session.transcript.offsets, max(exported.timeline.size, 1)
        for entry in exported.entries():
            self._enter_run(entry)
            yield from self._of_entry(entry)
            if self._progress is not None:
                self._progress(offsets[entry.number], size)
        yield from self._of_step()
        for number in sorted(self._periods):
            yield self._of_run(number)

    def _enter_run(self, entry: Entry) -> None:
        """Find the run of an entry. Calls and prompts show it; other entries belong to the last one."""
        if entry.call is not None:
            self._run = max(self._run, entry.call.run)
        while self._run < len(self._runs):
            starts = self._runs[self._run].turn_starts
            if not starts or starts[0] > entry.number:
                break
            self._run += 1

    def _of_entry(self, entry: Entry) -> Iterator[Span]:
        step = self._step
        if entry.kind in _TEXTS and step is not None and (step.run, step.parent) == (self._run, entry.parent):
            step.entries.append(entry)
        else:
            yield from self._of_step()
            if entry.kind in _TEXTS:
                self._step = _Step(self._run, entry.parent, [entry])
            elif entry.call is not None:
                yield from self._of_call(entry.call)
        if self._with_content and entry.parent is None and self._run <= len(self._runs):
            self._texts.setdefault(self._run, _RunTexts(self._cwd(self._run))).add(entry)

    def _of_step(self) -> Iterator[Span]:
        """Yield the span of the last texts, if the agent gave two different times for one of them."""
        step, self._step = self._step, None
        if step is None:
            return
        written = (self._clock.text(entry.started_ms, entry.ended_ms) for entry in step.entries)
        periods = [period for period in written if period is not None]
        if not periods or step.run > len(self._runs):
            return
        period = self._extend(step.run, _Period(periods[0].start, periods[-1].end))
        facts = self._facts.step(step.run)
        if self._with_content:
            facts["gen_ai.output.messages"] = output(step.entries, self._cwd(step.run))
        ids, model = self._ids[step.run - 1], self._runs[step.run - 1].model
        yield Span(
            trace_id=ids.trace,
            span_id=ids.step(step.entries[0].number),
            parent_id=self._parent(step.run, step.parent),
            name=name_of("chat", model or ""),
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            is_client=True,
        )

    def _of_call(self, call: Call) -> Iterator[Span]:
        if call.parent in self._calls and call.parent not in self._subagents:
            yield self._of_subagent(self._exported.session.calls[call.parent - 1])
        self._calls.add(call.number)
        ids, facts = self._ids[call.run - 1], self._facts.call(call)
        if self._with_content:
            facts |= self._facts.call_content(call)
        yield self._operation(
            call,
            ids.call(call.call_id, call.number),
            self._parent(call.run, call.parent),
            name_of("execute_tool", call.tool, _program_of(call) or ""),
            facts,
        )
        if call.kind is ToolKind.DELEGATE:
            yield self._of_subagent(call)

    def _of_subagent(self, call: Call) -> Span:
        """Return the span of the subagent that a call has started. It is part of that of the call."""
        ids, facts = self._ids[call.run - 1], self._facts.subagent(call)
        self._subagents[call.number] = span_id = ids.subagent(call.call_id, call.number)
        name = name_of("invoke_agent", str(facts["gen_ai.agent.name"]))
        return self._operation(call, span_id, ids.call(call.call_id, call.number), name, facts)

    def _operation(
        self, call: Call, span_id: int, parent_id: int, name: str, facts: Mapping[str, Value | None]
    ) -> Span:
        period = self._extend(call.run, self._clock.call(call))
        has_failed = facts["error.type"] is not None
        error = (call.error or "") if has_failed and self._with_content else ""
        return Span(
            trace_id=self._ids[call.run - 1].trace,
            span_id=span_id,
            parent_id=parent_id,
            name=name,
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            has_failed=has_failed,
            failure=shortened(relative(error, self._cwd(call.run))),
        )

    def _of_run(self, number: int) -> Span:
        """Return the span of a run, which is the first of its trace."""
        ids, period, facts = self._ids[number - 1], self._periods[number], self._facts.run(number)
        if number in self._texts:
            facts |= self._texts[number].attributes()
        return Span(
            trace_id=ids.trace,
            span_id=ids.run,
            parent_id=None,
            name=name_of("invoke_agent", self._facts.agent(self._runs[number - 1])),
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            has_failed=facts["error.type"] is not None,
        )

    def _parent(self, run: int, caller: int | None) -> int:
        """Return the id of the span of the subagent that a call has started; without one, that of the run."""
        return (
            self._ids[run - 1].run if caller is None else self._subagents.get(caller, self._ids[run - 1].run)
        )

    def _extend(self, run: int, period: _Period) -> _Period:
        known = self._periods.get(run)
        self._periods[run] = period if known is None else known.around(period)
        return period

    def _cwd(self, run: int) -> str | None:
        return self._runs[run - 1].cwd
