"""Decodes the stream of `pi --mode json`. Everything is reported three times: by the end of a message, by the
end of the model step (`turn_end`) and by the end of the turn (`agent_end`). Only the first is used. Each
`message_update` of versions before 0.84 repeats the message so far, twice; only the delta is read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from agentwatch.agents.blocks import binary_block, fields_block
from agentwatch.agents.changes import argument_blocks, line_count
from agentwatch.agents.delta_frames import SegmentText
from agentwatch.agents.fields import Fields, cost, in_words, items, mapping, number, text
from agentwatch.agents.named_calls import ModelDecoder
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    OpenCalls,
    Phrase,
    Result,
    Tool,
    command_in,
    named,
    other_tool,
    path_in,
    said,
    tokens_in,
)
from agentwatch.session.blocks import Block, ChangeBlock, ContentBlock, ErrorBlock, OutputBlock, TextBlock
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import plural

# Messages, which are the same in the stream and in session files.

_TEXT_KEYS = {"text": ("text", Channel.ANSWER), "thinking": ("thinking", Channel.REASONING)}
_TOO_LONG = "the model's answer was cut at its length limit"


def content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    found = (mapping(part) for part in items(content))
    return "".join(text(part, "text") or "" for part in found if part.get("type") == "text")


def prompt_text(message: Fields) -> str:
    content = message.get("content")
    images = sum(mapping(part).get("type") == "image" for part in items(content))
    return content_text(content) or (f"[{plural(images, 'image')}]" if images else "")


def texts(message: Fields) -> list[tuple[int, Channel, str]]:
    found = []
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    for index, part in enumerate(map(mapping, parts)):
        kind = part.get("type")
        key, channel = _TEXT_KEYS.get(kind if isinstance(kind, str) else "", ("", Channel.ANSWER))
        if words := text(part, key):
            found.append((index, channel, words))
    return found


def tool_calls(message: Fields) -> list[Fields]:
    """Pi does not run the calls of a message that failed or was interrupted."""
    if message.get("stopReason") in ("error", "aborted"):
        return []
    parts = map(mapping, items(message.get("content")))
    return [part for part in parts if part.get("type") == "toolCall"]


def model_of(message: Fields, key: str = "model") -> str | None:
    """Return the model as Pi's command line names it: `anthropic/claude-opus-4-5`."""
    model, provider = text(message, key), text(message, "provider")
    return f"{provider}/{model}" if model and provider else model


def usage(counts: Fields, *, has_context: bool = True, request: str | None = None) -> list[Event]:
    """Read the token counts of one request. `input` excludes what the cache was read and written.
    `has_context` is False for a request that failed: it does not show how much of the context is in use."""
    tokens = tokens_in(counts, "input", "cacheRead", "output", "cacheWrite", excludes_cache=True)
    if not any(tokens):
        return []
    used = (number(counts, "totalTokens") or None) if has_context else None
    tokens = tokens._replace(cost_usd=cost(mapping(counts.get("cost")).get("total")), context_used=used)
    return [Usage(tokens, UsageScope.REQUEST, request=request)]


def turn_ended(message: Fields) -> TurnEnded | None:
    match message.get("stopReason"):
        case "error":
            return TurnEnded(Outcome.FAILED, text(message, "errorMessage") or "the model's request failed")
        case "aborted":
            return TurnEnded(Outcome.CANCELLED, text(message, "errorMessage"))
        case "length":
            return TurnEnded(Outcome.FAILED, text(message, "errorMessage") or _TOO_LONG)
        case "toolUse":
            return None
        case None if tool_calls(message):
            return None
    return TurnEnded(Outcome.SUCCEEDED)


def own_command(message: Fields) -> Notice:
    """Read a command that the user ran with `!`. It is not a call of the agent."""
    command = in_words(text(message, "command") or "").partition("\n")[0]
    code = number(message, "exitCode")
    state = "cancelled" if message.get("cancelled") is True else None if code is None else f"exit {code}"
    return Notice(f"! {command}" if state is None else f"! {command} ({state})")


# Texts: their deltas, and the whole message that repeats them.

_MOST_BLOCKS = 64
"""Older texts and thoughts are not compared with the whole message. Most messages have a few."""


class _Streamed(NamedTuple):
    channel: Channel
    segment: SegmentText


class MessageText:
    """The texts and thoughts of the present message, by their index in its content."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Streamed] = {}
        self._last: int | None = None

    def begin(self) -> list[Event]:
        last = None if self._last is None else self._blocks.get(self._last)
        self._blocks.clear()
        self._last = None
        return [] if last is None else [TextEnded(last.channel)]

    def add(self, index: int, channel: Channel, text: str) -> list[Event]:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Streamed(channel, SegmentText())
            if len(self._blocks) > _MOST_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
        before = None if self._last in (None, index) else self._blocks.get(self._last or 0)
        self._last = index
        block.segment.add(text)
        delta = Text(block.channel, text)
        return [delta] if before is None else [TextEnded(before.channel), delta]

    def end_block(self, index: int, channel: Channel, whole: str) -> list[Event]:
        """A text that differs from its deltas is left to the end of the message, which repeats it."""
        block = self._blocks.get(index)
        if block is None:
            return self.add(index, channel, whole) if whole else []
        is_last = index == self._last or block.channel is Channel.REASONING
        said, rest = whole[: block.segment.length], whole[block.segment.length :]
        if not rest or not is_last or not block.segment.is_repeated_by(said):
            return []
        block.segment.add(rest)
        return [Text(block.channel, rest)]

    def end(self, texts: list[tuple[int, Channel, str]]) -> list[Event]:
        """Answers that differ from their deltas are replaced."""
        blocks = dict(self._blocks)
        first = next((index for index, channel, whole in texts if self._differs(index, channel, whole)), None)
        events = self.begin()
        if first is not None:
            answers = (blocks[index] for index in blocks if index >= first)
            if length := sum(each.segment.length for each in answers if each.channel is Channel.ANSWER):
                events.append(TextRetracted(length))
        for index, channel, whole in texts:
            is_said = index in blocks if channel is Channel.REASONING else first is None or index < first
            if not is_said:
                events += said(channel, whole)
        return events

    def _differs(self, index: int, channel: Channel, whole: str) -> bool:
        block = self._blocks.get(index)
        return channel is Channel.ANSWER and (block is None or not block.segment.is_repeated_by(whole))


# The diffs of edits, whose lines have numbers: `-12 old`, `+12 new`, ` 13 same`, ` ...`.

_MOST_DIGITS = 9


class _Line(NamedTuple):
    sign: str
    number: int
    text: str


def changed_lines(details: Fields) -> tuple[int | None, int | None]:
    diff = text(details, "diff")
    if diff is None:
        return None, None
    signs = [line[:1] for line in diff.split("\n")]
    return signs.count("+"), signs.count("-")


def unified(details: Fields) -> str | None:
    """Newer versions also write a unified diff, as `patch`. Another form is returned unchanged."""
    diff = text(details, "diff")
    if patch := text(details, "patch"):
        return patch
    if diff is None:
        return None
    lines = [_line(line) for line in diff.split("\n")]
    if all(line is None for line in lines):
        return diff
    shift = 0
    hunks: list[str] = []
    for is_hunk, group in groupby(lines, key=lambda line: line is not None):
        hunk = [line for line in group if line is not None]
        if is_hunk:
            hunks += _hunk(hunk, shift)
            shift += sum({"+": 1, "-": -1}.get(line.sign, 0) for line in hunk)
    return "\n".join(hunks)


def _line(line: str) -> _Line | None:
    number, _, rest = line[1:].lstrip(" ").partition(" ")
    if line[:1] not in ("+", "-", " ") or not number.isdecimal() or len(number) > _MOST_DIGITS:
        return None
    return _Line(line[0], int(number), rest)


def _hunk(lines: list[_Line], shift: int) -> list[str]:
    """Return lines as a hunk. Unchanged and removed lines have old numbers, added ones new numbers. `shift`
    is how many more lines the new file has than the old one before the hunk."""
    old = lines[0].number - (shift if lines[0].sign == "+" else 0)
    olds, news = (sum(line.sign != sign for line in lines) for sign in "+-")
    head = f"@@ -{max(old, 0)},{olds} +{max(old + shift, 0)},{news} @@"
    return [head, *(line.sign + line.text for line in lines)]


# The outcome of a call, from its result.

_EXITED = "Command exited with code "
_INTERRUPTED = ("Command aborted", "Operation aborted", "Skipped due to queued user message.")
_REFUSED = ("Tool execution was blocked", "Tool execution was blocked by an extension")
"""What Pi itself writes as the last line, or as the whole text, of a result."""
_MOST_CODE_DIGITS = 4


def read_result(tool: Tool, result: Fields, is_error: object) -> Result:
    """From Pi 0.99 on, the stream has the exit code in `structuredContent`; agents built on Pi, as
    OpenClaw, in `details`. Elsewhere only a command that failed has it, in Pi's own last line."""
    code = _exit_code(tool, result)
    if is_error is False and not code:
        return Result(Outcome.SUCCEEDED, exit_code=code, facts=_facts(tool, result))
    words = content_text(result.get("content"))
    if is_error is not True and not code:
        return Result(Outcome.RETURNED, "came back without an outcome", facts=_facts(tool, result))
    last = words.rstrip().rpartition("\n")[2]
    if last in _INTERRUPTED:
        return Result(Outcome.CANCELLED, last)
    if words in _REFUSED:
        return Result(Outcome.REJECTED, words)
    if code is not None:
        return Result(Outcome.FAILED, f"exit {code}" if code else last or "the tool failed", code)
    if tool.kind is ToolKind.EXECUTE and last.startswith(_EXITED):
        digits = last.removeprefix(_EXITED)
        if digits.removeprefix("-").isdecimal() and len(digits) <= _MOST_CODE_DIGITS:
            return Result(Outcome.FAILED, f"exit {int(digits)}", int(digits))
    if tool.kind is ToolKind.EXECUTE and last.startswith("Command timed out"):
        return Result(Outcome.FAILED, last)
    return Result(Outcome.FAILED, words or "the tool failed")


def _exit_code(tool: Tool, result: Fields) -> int | None:
    if tool.kind is not ToolKind.EXECUTE:
        return None
    code = number(mapping(result.get("structuredContent")), "exit_code")
    return number(mapping(result.get("details")), "exitCode") if code is None else code


def _facts(tool: Tool, result: Fields) -> Facts:
    if tool.kind is ToolKind.EDIT:
        added, removed = changed_lines(mapping(result.get("details")))
        return Facts(lines_added=added, lines_removed=removed)
    if tool.kind is not ToolKind.READ:
        return NO_FACTS
    if images := [part for part in map(mapping, items(result.get("content"))) if part.get("type") == "image"]:
        return Facts(note=plural(len(images), "image"))
    words = content_text(result.get("content"))
    has_remark = words.endswith("]") and "\n\n[" in words  # how many lines were left out
    return NO_FACTS if has_remark or not words else Facts(note=plural(line_count(words), "line"))


# The tools: the kind, phrase and target of each, by the captures and Pi's own schemas.

SHELLS = frozenset({"bash", "powershell", "cmd"})
_PATH = ("path", "file_path", "filePath")


def _edited_paths(arguments: Fields) -> list[str]:
    of_edits = (text(mapping(edit), "path") for edit in items(arguments.get("edits")))
    return path_in(*_PATH)(arguments) or list(dict.fromkeys(filter(None, of_edits)))


_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_edited_paths)
_FIND = Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern"))

TOOLS = {
    **dict.fromkeys(SHELLS, _SHELL),
    "read": Tool(ToolKind.READ, Phrase.READ, paths=path_in(*_PATH)),
    "edit": _EDIT,
    "write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in(*_PATH)),
    "grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "find": _FIND,
    "ls": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=lambda arguments: path_in(*_PATH)(arguments) or ["."]),
    # Tools of the forks, of OpenClaw, and of the examples of extensions that come with Pi.
    "exec": _SHELL,
    "glob": _FIND,
    "multi_edit": _EDIT,
    "subagent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "task", "agent")),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "agent")),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}


def tool_named(name: str) -> Tool:
    """Return the tool with a name. An extension may add any tool."""
    return TOOLS.get(name) or other_tool(name)


# Tool calls, in the stream and in session files.


class Calls:
    def __init__(self) -> None:
        self.cwd = ""
        self._notes = OpenCalls[str]()

    def begin_run(self, cwd: str | None) -> None:
        self.cwd = (cwd or "").rstrip("/\\")
        self._notes.clear()

    def started(
        self,
        call_id: str,
        name: str,
        arguments: Fields,
        *,
        group: str | None = None,
        at_ms: int | None = None,
    ) -> ToolStarted:
        tool = tool_named(name)
        written = text(arguments, "content")
        if tool.phrase == Phrase.CREATED and written is not None:
            self._notes.keep(call_id, plural(line_count(written), "line"))
        return tool.started(call_id, name, arguments, cwd=self.cwd, group=group, at_ms=at_ms)

    def ended(
        self, call_id: str, name: str, result: Fields, is_error: object, *, at_ms: int | None = None
    ) -> ToolEnded:
        """Return the end of a call, whose line does not repeat the arguments."""
        tool = tool_named(name)
        read = read_result(tool, result, is_error)
        note = self._notes.pop(call_id, None)
        if is_error is False and note:
            read = read._replace(facts=read.facts._replace(note=note))
        return tool.ended(call_id, name, read, at_ms=at_ms)


_SILENT = frozenset(
    {
        *("turn_start", "turn_end", "queue_update", "entry_appended", "session_info_changed"),
        *("thinking_level_changed", "bash_execution_update", "extension_ui_request"),
        *("summarization_retry_attempt_start", "summarization_retry_finished"),
    }
)
"""Types whose lines report nothing that is shown, or repeat other lines."""
_CHANNELS = {"text": Channel.ANSWER, "thinking": Channel.REASONING}
_GOOD = TurnEnded(Outcome.SUCCEEDED)


class PiDecoder(ModelDecoder):
    def __init__(self) -> None:
        self._calls = Calls()
        self._text = MessageText()
        self._is_open = False
        self._last: TurnEnded | None = None
        """How the turn ends by its last message; None if calls follow, or before its first message."""
        self._pending_end: TurnEnded | None = None
        """The end of a turn that failed, as long as the next line may retry it."""
        self._step = 0

    def decode(self, fields: Fields) -> list[Event]:
        kind = fields.get("type")
        held = self._settle(kind, fields) if self._pending_end is not None else []
        return [*held, *self._events(kind, fields)]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: nothing has retried a failed turn."""
        return self._ended()

    def _events(self, kind: object, fields: Fields) -> list[Event]:
        match kind:
            case "message_update":
                return self._update(mapping(fields.get("assistantMessageEvent")))
            case "message_start":
                return self._text.begin()
            case "message_end":
                return self._message(mapping(fields.get("message")))
            case "tool_execution_start":
                call_id, name = _call(fields)
                arguments = mapping(fields.get("args"))
                return [self._calls.started(call_id, name, arguments, group=f"{self._step}")]
            case "tool_execution_update":
                output = content_text(mapping(fields.get("partialResult")).get("content"))
                return [ToolProgress(_call(fields)[0], None, output or None, is_whole=True)]
            case "tool_execution_end":
                call_id, name = _call(fields)
                result = mapping(fields.get("result"))
                return [self._calls.ended(call_id, name, result, fields.get("isError"))]
            case "session":
                return [*self._text.begin(), self._run_started(fields)]
            case "agent_start":
                return self._turn_started()
            case "agent_end":
                return self._agent_ended(fields)
            case "agent_settled":
                return self._turn_over(self._last or _GOOD) if self._is_open else []
            case "turn_start":
                self._step += 1
                return []
        return self._incident(kind, fields)

    def _incident(self, kind: object, fields: Fields) -> list[Event]:
        match kind:
            case "auto_retry_start" | "summarization_retry_scheduled":
                return [_retry(fields)]
            case "auto_retry_end":
                if fields.get("success") is not False or not self._is_open:
                    return []
                failed = self._last or _GOOD
                return self._turn_over(failed._replace(result=text(fields, "finalError") or failed.result))
            case "auto_compaction_start" | "compaction_start":
                return [Compaction(is_over=False, trigger=text(fields, "reason"))]
            case "auto_compaction_end" | "compaction_end":
                return _compacted(fields)
            case "extension_error" | "notice":
                message = text(fields, "error") or text(fields, "message") or "an extension failed"
                return [Notice(message, is_error=kind == "extension_error")]
            case "response":
                return _response(fields)
            case str() if kind in _SILENT:
                return []
        return [Unknown(f"type {in_words(kind)}")]

    def _update(self, update: Fields) -> list[Event]:
        """Read an update. The texts of several blocks may end together, at the end of the message."""
        kind = text(update, "type") or ""
        index = number(update, "contentIndex") or 0
        block, _, step = kind.partition("_")
        channel = _CHANNELS.get(block)
        if channel is not None and step == "delta" and (delta := text(update, "delta")):
            return self._text.add(index, channel, delta)
        if channel is not None and step == "end" and (whole := text(update, "content")):
            return self._text.end_block(index, channel, whole)
        return []

    def _message(self, message: Fields) -> list[Event]:
        match message.get("role"):
            case "user":
                self._is_open = True
                self._last = None
                return [*self._text.begin(), Prompt(prompt_text(message))]
            case "assistant":
                self._last = turn_ended(message)
                is_whole = self._last is None or self._last.outcome is _GOOD.outcome
                counts = usage(mapping(message.get("usage")), has_context=is_whole)
                return [*self._text.end(texts(message)), *self.used(model_of(message)), *counts]
            case "bashExecution":
                return [own_command(message)]
        return []

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._calls.begin_run(cwd)
        self._model = self._last = None
        self._is_open = False
        return RunStarted("pi", session_id=text(fields, "id"), cwd=cwd)

    def _turn_started(self) -> list[Event]:
        self._last = None
        if self._is_open:
            return []
        self._is_open = True
        return [TurnStarted()]

    def _agent_ended(self, fields: Fields) -> list[Event]:
        """End the turn. A failure may be retried: versions before 0.84 say so only on the next line."""
        messages = map(mapping, items(fields.get("messages")))
        last = [each for each in messages if each.get("role") == "assistant"][-1:]
        ended = self._last or (turn_ended(last[0]) if last else None) or _GOOD
        if fields.get("willRetry") is True:
            self._last = ended
            return self._text.begin()
        if ended.outcome is not _GOOD.outcome and "willRetry" not in fields:
            self._pending_end = ended
            return self._text.begin()
        return self._turn_over(ended)

    def _settle(self, kind: object, fields: Fields) -> list[Event]:
        """Return the held end of a turn, unless this line retries the turn or may still do so."""
        if kind == "auto_retry_start" or (_is_overflow(kind, fields) and fields.get("willRetry") is True):
            self._last, self._pending_end = self._pending_end, None
            return []
        is_undecided = _is_overflow(kind, fields) and "willRetry" not in fields
        return [] if is_undecided else self._ended()

    def _ended(self) -> list[Event]:
        held, self._pending_end = self._pending_end, None
        return [] if held is None else self._turn_over(held)

    def _turn_over(self, ended: TurnEnded) -> list[Event]:
        self._is_open = False
        return [*self._text.begin(), ended]


def _call(fields: Fields) -> tuple[str, str]:
    return text(fields, "toolCallId") or "", text(fields, "toolName") or "tool"


def _response(fields: Fields) -> list[Event]:
    """Read the answer to a command of `pi --mode rpc`. Only that to `get_state` has the session's id."""
    if fields.get("success") is False:
        command = text(fields, "command") or "a command"
        return [Notice(f"{command} failed: {text(fields, 'error') or 'no reason given'}", is_error=True)]
    session_id = text(mapping(fields.get("data")), "sessionId")
    is_state = fields.get("command") == "get_state" and session_id is not None
    return [RunInfo(session_id=session_id)] if is_state else []


def _retry(fields: Fields) -> Retry:
    return Retry(
        text(fields, "errorMessage") or "",
        attempt=number(fields, "attempt"),
        most_attempts=number(fields, "maxAttempts"),
        delay_ms=number(fields, "delayMs"),
    )


def _is_overflow(kind: object, fields: Fields) -> bool:
    if kind in ("auto_compaction_end", "compaction_end"):
        return True
    return kind in ("auto_compaction_start", "compaction_start") and fields.get("reason") == "overflow"


def _compacted(fields: Fields) -> list[Event]:
    result = mapping(fields.get("result"))
    if not result:
        words = text(fields, "errorMessage") or ("aborted" if fields.get("aborted") is True else "no result")
        return [Compaction(is_over=True), Notice(f"compaction failed: {words}")]
    return [
        Compaction(
            is_over=True,
            trigger=text(fields, "reason"),
            tokens_before=number(result, "tokensBefore"),
            tokens_after=number(result, "estimatedTokensAfter"),
        )
    ]


# The arguments and the result of a call, divided into blocks.

_SHOWN_DETAILS = ("diff", "patch")


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """An assistant's message may have several calls."""
    message = mapping(fields.get("message"))
    if message.get("role") == "toolResult":
        yield from _result_blocks(message.get("toolName"), message, message.get("isError"))
    elif message:
        for call in tool_calls(message):
            if (text(call, "id") or "") == call_id:
                yield from _argument_blocks(call.get("name"), mapping(call.get("arguments")))
    elif "result" in fields:
        yield from _result_blocks(fields.get("toolName"), mapping(fields["result"]), fields.get("isError"))
    else:
        yield from _argument_blocks(fields.get("toolName"), mapping(fields.get("args")))


def _argument_blocks(name: object, arguments: Fields) -> Iterator[Block]:
    """Yield the arguments: the content of a written file as a change, because its result has no diff."""
    yield from argument_blocks(tool_named(name if isinstance(name, str) else "").kind, arguments)


def _result_blocks(name: object, result: Fields, is_error: object) -> Iterator[Block]:
    tool = tool_named(name if isinstance(name, str) else "")
    words = content_text(result.get("content"))
    details = mapping(result.get("details"))
    diff = unified(details)
    if tool.kind is ToolKind.EXECUTE:
        yield from [OutputBlock("stdout", words)] if words else []
    elif is_error is True:
        yield ErrorBlock(words or "the tool failed")
    elif diff is not None:
        yield ChangeBlock(diff)
    elif words:
        yield TextBlock("result", words) if tool.kind is ToolKind.EDIT else ContentBlock(words)
    for part in map(mapping, items(result.get("content"))):
        if part.get("type") == "image":
            yield binary_block(text(part, "mimeType") or "image", text(part, "data"))
    rest = {key: value for key, value in details.items() if key not in _SHOWN_DETAILS}
    yield from fields_block("result", rest)
