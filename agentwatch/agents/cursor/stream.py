"""Decodes Cursor's `--output-format stream-json`. The format is taken from real captures of October 2025 to
October 2026. The documentation page omits these facts: thinking events occur; in partial mode every segment
of text occurs twice; the key of a tool call may have siblings; a call may complete without a start; ids may
contain a newline; numbers may be strings."""

from itertools import islice
from typing import NamedTuple

from agentwatch.agents.cursor.tools import (
    FUNCTION,
    TOOLS,
    Result,
    ToolUse,
    read_arguments,
    read_result,
    read_tool,
)
from agentwatch.agents.delta_frames import Burst, SegmentText
from agentwatch.agents.fields import (
    MOST_ID,
    Fields,
    Repaired,
    Salvaged,
    in_words,
    items,
    mapping,
    number,
    scalars,
    text,
    whole_text,
)
from agentwatch.agents.tool import MOST_ENTRIES, Tool, other_tool, plan_entry, remember, tokens_in
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.paths import relative_to

# The to-do list of the tool `updateTodos`.

_MOST_CALLS = 64
"""Fewer than other open calls: a plan may have 10,000 entries, and only a few calls wait for permission."""


class Plans:
    """Often only the line that starts a call contains the arguments, so they are kept until it completes."""

    def __init__(self) -> None:
        self._started: dict[str, Plan] = {}

    def start(self, call_id: str, arguments: Fields) -> None:
        if arguments:
            remember(self._started, call_id, _plan_in(arguments), _MOST_CALLS)

    def end(self, call_id: str, arguments: Fields, success: Fields) -> Plan | None:
        """Return the plan, or None. The list in the result is complete; without it, the arguments, which
        the line of the end often lacks, replace the list or are merged into it."""
        started = self._started.pop(call_id, None)
        if entries := plan_entries(success.get("todos")):
            return Plan(entries)
        return _plan_in(arguments) if arguments else started


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    return tuple(_entry(mapping(todo)) for todo in islice(items(value), MOST_ENTRIES))


def _plan_in(arguments: Fields) -> Plan:
    return Plan(plan_entries(arguments.get("todos")), is_update=arguments.get("merge") is True)


def _entry(fields: Fields) -> PlanEntry:
    status = (text(fields, "status") or "").removeprefix("TODO_STATUS_").lower()
    return plan_entry(text(fields, "content") or "", status)


# Texts: new ones and repetitions, and emoji that two lines split.


class Answer:
    """The assistant's text. A segment ends at a tool call, a query, an init or a result."""

    def __init__(self) -> None:
        self._segment = SegmentText()
        self._has_deltas = False
        self._is_flushed = False
        self.half = ""

    def add_line(self, fields: Fields) -> list[Event]:
        """Return new text, or the end of a segment that the line repeats (a flush), which can have the
        fields of a delta. A line with a timestamp and without a model_call_id is new; any other one is a
        flush if it repeats the deltas of this segment. This gave the result's text in 16 of 16 real runs;
        simpler filters failed on at least 12."""
        source = fields.halves if isinstance(fields, Repaired) else fields
        text = message_text(source)
        if text is None:
            return [Unknown("assistant message without text")]
        at_ms = time_of(fields)
        if at_ms is not None and fields.get("model_call_id") is None:
            lead = self.end_segment() if self._is_flushed else []
            text, self.half = _joined(self.half, text)
            self._has_deltas = True
            self._segment.add(text)
            return [*lead, Text(Channel.ANSWER, text, at_ms)]
        text = text if source is fields else whole_text(text)
        if self._has_deltas and self._segment.is_repeated_by(text, whole_text(self.half)):
            lone, self.half = whole_text(self.half), ""
            self._segment.add(lone)
            self._is_flushed = True
            ended = TextEnded(Channel.ANSWER, at_ms)
            return [Text(Channel.ANSWER, lone, at_ms), ended] if lone else [ended]
        self._segment.add(text)
        return [Text(Channel.ANSWER, text, at_ms)]

    def add_burst(self, burst: Burst) -> list[Event] | None:
        """Return None if the lines must be read one by one: the first one ends a flushed segment or
        completes an emoji, or without timestamps, each may be a flush."""
        is_timed = bool(burst.times_ms)
        if self.half or self._is_flushed or (self._has_deltas and not is_timed):
            return None
        self._has_deltas = is_timed
        self._segment.add(burst.text)
        return [_text(burst)]

    def end_segment(self) -> list[Event]:
        """Begin a new segment. If half an emoji is pending, return it as U+FFFD."""
        if self._segment.length:
            self._segment.clear()
        self._has_deltas = self._is_flushed = False
        if not self.half:
            return []
        lone, self.half = whole_text(self.half), ""
        return [Text(Channel.ANSWER, lone)]


class Thoughts:
    """The model's reasoning. Its text is a top-level field of the line."""

    def __init__(self) -> None:
        self.half = ""

    def add_line(self, fields: Fields) -> list[Event]:
        source = fields.halves if isinstance(fields, Repaired) else fields
        text = source.get("text")
        whole, self.half = _joined(self.half, text if isinstance(text, str) else "")
        return [Text(Channel.REASONING, whole, time_of(fields))]

    def add_burst(self, burst: Burst) -> list[Event] | None:
        return None if self.half else [_text(burst)]

    def end_block(self) -> list[Event]:
        """End a block of reasoning. If half an emoji is pending, return it as U+FFFD."""
        if not self.half:
            return []
        lone, self.half = whole_text(self.half), ""
        return [Text(Channel.REASONING, lone)]


def message_text(fields: Fields) -> str | None:
    content = mapping(fields.get("message")).get("content")
    if isinstance(content, str):
        return content
    found = [mapping(part).get("text") for part in items(content)]
    texts = [piece for piece in found if isinstance(piece, str)]
    return "".join(texts) if texts else None


def time_of(fields: Fields) -> int | None:
    return number(fields, "timestamp_ms")


def _joined(half: str, text: str) -> tuple[str, str]:
    """Also return the half of an emoji in which the text ends, if any."""
    text = half + text
    if "\ud800" <= text[-1:] <= "\udbff":
        return whole_text(text[:-1]), text[-1]
    return whole_text(text), ""


def _text(burst: Burst) -> Text:
    channel, _, _, text, times_ms = burst
    first_ms, last_ms = (times_ms[0], times_ms[-1]) if times_ms else (None, None)
    return _new(Text, (channel, text, first_ms, last_ms, None, times_ms))


# Queries for permission, which may have the target of their call.

_MAX_TARGET = 10_000


class _Asked(NamedTuple):
    tool: str
    target: str


class Queries:
    """Keeps the target in the arguments of each query until its call completes. A query's `toolCallId` is the
    id of its call. The lines of a rejected web search may not contain the search term, which is in the query.
    The query may come before or after the line that starts the call. Both were seen in captures."""

    def __init__(self) -> None:
        self.asked: dict[str, _Asked] = {}
        """The open questions by the ids of their calls; at most 64."""

    def request(self, fields: Fields) -> Permission:
        subject = _subject(fields)
        query = mapping(fields.get("query"))
        inner = mapping(query.get(text(fields, "query_type") or ""))
        arguments = mapping(inner.get("args"))
        ids = (text(each, "toolCallId") for each in (arguments, inner, query))
        call_id = next(filter(None, ids), None)
        tool: Tool = TOOLS.get(subject) or other_tool(subject)
        target = tool.target(arguments)
        if target == subject and subject not in TOOLS:
            target = None  # without arguments, it is only the name of the tool
        if call_id is not None and target is not None and max(len(call_id), len(subject)) <= MOST_ID:
            remember(self.asked, call_id, _Asked(subject, target[:_MAX_TARGET]), _MOST_CALLS)
        return Permission(subject, answer=None, at_ms=time_of(fields), is_automatic=True)

    def target(self, call_id: str, tool: str) -> str | None:
        asked = self.asked.get(call_id)
        return asked.target if asked is not None and asked.tool == tool else None


def response(fields: Fields) -> Permission:
    """Read a response to a query. `approved` or `rejected`, with its reason, may be inside `result`."""
    answer: str | None = None
    reason = None
    for key, value in mapping(fields.get("response")).items():
        body = mapping(value)
        body = mapping(body.get("result")) or body
        if key != "id" and body:
            answer = next(iter(body))
            reason = text(mapping(body[answer]), "reason")
    return Permission(_subject(fields), answer or "answered", reason, time_of(fields))


def _subject(fields: Fields) -> str:
    """Return the subject of a query: `webFetchRequestQuery` is about `webFetch`."""
    name = text(fields, "query_type") or "interaction"
    for ending in ("RequestQuery", "InteractionQuery", "Query"):
        name = name.removesuffix(ending)
    return name


# The result line that ends a run.


def run_ended(fields: Fields) -> list[Event]:
    """`is_error` decides whether the run failed: the subtype may be translated."""
    is_error = fields.get("is_error")
    failed = is_error if isinstance(is_error, bool) else fields.get("subtype") != "success"
    result = fields.get("result")
    usage = mapping(fields.get("usage"))
    ended = TurnEnded(
        outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
        result=result if isinstance(result, str) else None,
        session_id=text(fields, "session_id"),
        request_id=text(fields, "request_id"),
        duration_ms=number(fields, "duration_ms"),
        duration_api_ms=number(fields, "duration_api_ms"),
        usage=scalars(fields.get("usage")),
    )
    if not usage:
        return [ended]
    # Summed over the model calls of the invocation. Cursor gives no cost and no context.
    keys = ("inputTokens", "cacheReadTokens", "outputTokens", "cacheWriteTokens")
    return [ended, Usage(tokens_in(usage, *keys, excludes_cache=True), UsageScope.TURN)]


FORMAT = "cursor"

_new = tuple.__new__
"""Makes an event from all of its fields, in a quarter of the time that keywords take."""
_PLAN = ToolKind.PLAN
_ID_KEYS = ("call_id", "session_id", "model_call_id")
_MOST_SHOWN_PATHS = 512
_MOST_SHOWN_CHARACTERS = 1024
_FAILS_AFTER_OUTPUT = ("shell", "mcp")
"""Whether it failed follows the output, and may be missing from a line that was only partly read."""


class CursorDecoder:
    def __init__(self) -> None:
        self._cwd = ""
        self._answer = Answer()
        self._thoughts = Thoughts()
        self._plans = Plans()
        self._queries = Queries()
        self._shown_paths: dict[str, str] = {}

    def decode(self, fields: Fields) -> list[Event]:
        kind = fields.get("type")
        if kind == "thinking":
            return self._events(fields)
        if kind == "tool_call" and not (self._thoughts.half or self._answer.half):
            subtype = fields.get("subtype")
            if subtype in ("started", "completed"):
                self._answer.end_segment()
                return self._tool_started(fields) if subtype == "started" else self._tool_ended(fields)
        return self._thoughts.end_block() + self._events(fields)

    def streams(self, fields: Fields) -> bool:
        """Return whether a line of text is a delta. Only a whole segment has a model_call_id."""
        return fields.get("type") == "thinking" or "model_call_id" not in fields

    def burst(self, burst: Burst) -> list[Event] | None:
        if burst.channel is Channel.REASONING:
            return self._thoughts.add_burst(burst)
        events = self._answer.add_burst(burst)
        return None if events is None else self._thoughts.end_block() + events

    def _events(self, fields: Fields) -> list[Event]:
        match fields.get("type"), fields.get("subtype"):
            case "tool_call", "started":
                return [*self._answer.end_segment(), *self._tool_started(fields)]
            case "tool_call", "completed":
                return [*self._answer.end_segment(), *self._tool_ended(fields)]
            case "assistant", _:
                return self._answer.add_line(fields)
            case "thinking", "delta":
                return self._thoughts.add_line(fields)
            case "thinking", "completed":
                ended = _new(TextEnded, (Channel.REASONING, time_of(fields), None))
                return [*self._thoughts.end_block(), ended]
            case "user", _:
                prompt = message_text(fields)
                return [Unknown("user message without text")] if prompt is None else [Prompt(prompt)]
            case "system", "init":
                return [*self._answer.end_segment(), self._run_started(fields)]
            case "result", _:
                return [*self._answer.end_segment(), *run_ended(fields)]
            case "interaction_query", "request":
                return [*self._answer.end_segment(), self._queries.request(fields)]
            case "interaction_query", "response":
                return [*self._answer.end_segment(), response(fields)]
            case "connection" | "retry" as kind, str(step):
                attempt = number(fields, "attempt")
                nth = "" if attempt is None else f", attempt {attempt}"
                return [Notice(f"{kind} {in_words(step)}{nth}", time_of(fields))]
            case "system", "task_notification":
                words = " · ".join(filter(None, (text(fields, "title"), text(fields, "status"))))
                return [Notice(f"background task {words}", time_of(fields))]
            case "system", "background_shell_timeout":
                return [Notice("background shell timed out", time_of(fields))]
            case kind, None:
                return [Unknown(f"type {in_words(kind)}")]
        return [Unknown(f"type {in_words(fields.get('type'))}/{in_words(fields.get('subtype'))}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: half an emoji may still be pending."""
        return [*self._thoughts.end_block(), *self._answer.end_segment()]

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._cwd = (cwd or "").rstrip("/\\")
        self._shown_paths.clear()
        self._queries.asked.clear()  # another run may use their ids again
        return RunStarted(
            format=FORMAT,
            session_id=text(fields, "session_id"),
            model=text(fields, "model"),
            cwd=cwd,
            permission_mode=text(fields, "permissionMode"),
            api_key_source=text(fields, "apiKeySource"),
        )

    def _tool_started(self, fields: Fields) -> list[Event]:
        use = read_tool(fields.get("tool_call"))
        name, tool, body, _ = use
        arguments, (call_id, session_id, group) = read_arguments(body), _ids(fields)
        target, path = self._described(use, call_id, arguments)
        # `Tool.started` and `Tool.ended` would take two more Python calls for each line of a call: 528 of the
        # 23,600 for a session of 2 MB (bench/counts.py).
        started = _new(
            ToolStarted,
            (
                call_id,
                session_id,
                name,
                tool.kind,
                tool.phrase,
                target,
                path,
                group,
                number(arguments, "timeout"),
                number(fields, "timestamp_ms"),
                None,
                (),
                False,
            ),
        )
        if tool.kind is _PLAN:
            self._plans.start(call_id, arguments)
        return [started] if name in TOOLS or use.is_known else [started, *_unknown(use)]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        use = read_tool(fields.get("tool_call"))
        name, tool, body, key = use
        result = read_result(tool, body.get("result"), is_free=key == FUNCTION)
        if isinstance(fields, Salvaged):
            result = _salvaged(name, result)
        outcome, result_body, error, exit_code, facts, unknown_variant = result
        arguments, (call_id, session_id, group) = read_arguments(body), _ids(fields)
        target, path = self._described(use, call_id, arguments)
        self._queries.asked.pop(call_id, None)
        is_described = not (target is None or (target == name and name not in TOOLS))
        if not is_described:
            target, path = self._target(tool, result_body)
        ended = _new(
            ToolEnded,
            (
                call_id,
                session_id,
                name,
                tool.kind,
                outcome,
                facts.phrase or tool.phrase,
                is_described,
                target,
                path,
                group,
                error,
                facts.note,
                exit_code,
                facts.is_new_file,
                facts.lines_added,
                facts.lines_removed,
                number(fields, "timestamp_ms"),
                None,
                (),
                None,
                None,
                True,
                None,
            ),
        )
        events: list[Event] = [ended]
        if tool.kind is _PLAN:
            plan = self._plans.end(call_id, arguments, result_body)
            events += [plan] if plan is not None and outcome is Outcome.SUCCEEDED else []
        if unknown_variant is None and (name in TOOLS or use.is_known):
            return events
        return [*events, *_unknown(use, result)]

    def _described(self, use: ToolUse, call_id: str, arguments: Fields) -> tuple[str | None, str | None]:
        """Return the target and the file in the arguments of a call, or else the target in its query."""
        target, path = self._target(use.tool, arguments)
        if target is None or (target == use.name and use.name not in TOOLS):
            return self._queries.target(call_id, use.name) or target, path
        self._queries.asked.pop(call_id, None)
        return target, path

    def _target(self, tool: Tool, arguments: Fields) -> tuple[str | None, str | None]:
        paths = tool.paths(arguments)
        if len(paths) == 1:
            return self._shown_paths.get(paths[0]) or self._relative(paths[0]), paths[0]
        if paths:
            return ", ".join(map(self._relative, paths)), paths[0]
        return tool.target(arguments), None

    def _relative(self, path: str) -> str:
        shown = self._shown_paths.get(path)
        if shown is None:
            shown = relative_to(path, self._cwd) or path
            if len(path) <= _MOST_SHOWN_CHARACTERS:
                if len(self._shown_paths) >= _MOST_SHOWN_PATHS:
                    self._shown_paths.clear()
                self._shown_paths[path] = shown
        return shown


def _ids(fields: Fields) -> tuple[str, str | None, str | None]:
    """Return the ids of a call, of its session and of its model step; the first may be beside the tool."""
    call_id, session_id, group = map(fields.get, _ID_KEYS)
    return (
        call_id
        if call_id and type(call_id) is str
        else text(mapping(fields.get("tool_call")), "toolCallId") or "",
        session_id if session_id and type(session_id) is str else None,
        group if group and type(group) is str else None,
    )


def _salvaged(name: str, result: Result) -> Result:
    """Return the result of a call whose line was only partly read: it may lack what decides the outcome."""
    is_open = result.outcome is Outcome.SUCCEEDED and name in _FAILS_AFTER_OUTPUT
    if is_open or (result.outcome is Outcome.RETURNED and result.unknown_variant is None):
        return Result(Outcome.RETURNED, error="its line is too large to be read")
    return result


def _unknown(use: ToolUse, result: Result | None = None) -> list[Unknown]:
    """Return what this version does not know about a call's line: the tool, and the variant of its result."""
    found = [] if use.is_known else [Unknown(f"tool {in_words(use.name)}")]
    if result is not None and result.unknown_variant is not None:
        found.append(Unknown(f"result {in_words(result.unknown_variant)} of tool {in_words(use.name)}"))
    return found
