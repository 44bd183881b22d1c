"""Decodes the lines of `opencode run --format json` (captures of 1.18.33 and the source of the command),
and those made of stored sessions.

In the stream, a call appears once, when it has ended; it may come before the text that preceded it, but
the texts are in order. Nothing ends the stream: the reason of the last step says how the turn ended. A
stored part may be in any state, and a line that repeats its id replaces it: an open call ends, a text
grows.
"""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.fields import Fields, Salvaged, cost, digest_of, in_words, items, mapping, number, text
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    Phrase,
    Result,
    Tool,
    command_in,
    counted,
    first_question,
    listed_entries,
    named,
    other_tool,
    path_in,
    remember,
)
from agentwatch.session.counts import known_sum
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    ToolKind,
    ToolProgress,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import plural

# The tools: the kind, phrase and target of each, and the facts in the state of an ended call.
# The names, arguments and metadata come from captures of 1.18.33, and from the sources of the tools. The
# tools of MCP servers are named `server_tool`, but so are the tools of plugins and of the user's own files.
# A line does not distinguish them, so all of them count as other tools.

QUESTION = "question"
_MOST_FILES = 1000
_PATCH_FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_PHRASES = {"add": Phrase.CREATED, "delete": Phrase.DELETED}


def metadata_of(state: Fields) -> Fields:
    return mapping(state.get("metadata"))


def plan_entries(state: Fields) -> tuple[PlanEntry, ...]:
    todos = metadata_of(state).get("todos")
    if not isinstance(todos, list):
        todos = items(mapping(state.get("input")).get("todos"))
    return tuple(entry for entry in listed_entries(todos, "content") if entry.text)


def file_changes(state: Fields) -> list[Fields]:
    """Each has `additions` and `deletions`, and a `patch` or `diff`."""
    metadata = metadata_of(state)
    if single := mapping(metadata.get("filediff")):
        return [single]
    if files := items(metadata.get("files")):
        return [change for change in map(mapping, files[:_MOST_FILES]) if change]
    steps = (mapping(step) for step in items(metadata.get("results"))[:_MOST_FILES])
    return [change for step in steps if (change := mapping(step.get("filediff")))]


def _patched(arguments: Fields) -> list[str]:
    lines = (text(arguments, "patchText") or "").splitlines()
    paths = (
        line.removeprefix(start).strip() for line in lines for start in _PATCH_FILES if line.startswith(start)
    )
    return list(dict.fromkeys(filter(None, paths)))[:_MOST_FILES]


def _read_facts(state: Fields) -> Facts:
    display = mapping(metadata_of(state).get("display"))
    total, first, last = (number(display, key) for key in ("totalLines", "lineStart", "lineEnd"))
    if total is None:
        return NO_FACTS
    if first is None or last is None or (first <= 1 and last >= total):
        return Facts(note=plural(total, "line"))
    return Facts(note=f"lines {first:,}-{last:,} of {total:,}")


def _counts(state: Fields) -> Facts:
    changes = file_changes(state)
    return Facts(lines_added=_total(changes, "additions"), lines_removed=_total(changes, "deletions"))


def _total(changes: list[Fields], key: str) -> int | None:
    return known_sum(number(change, key) for change in changes)


def _edit_facts(state: Fields) -> Facts:
    """Return the facts of an edit. One that replaces an empty text writes a whole file, mostly a new one."""
    facts = _counts(state)
    is_whole = mapping(state.get("input")).get("oldString") == ""
    return _created(facts) if is_whole and not facts.lines_removed else facts


def _write_facts(state: Fields) -> Facts:
    facts = _counts(state)
    if metadata_of(state).get("exists") is True:
        return facts._replace(phrase=Phrase.EDITED)
    content = mapping(state.get("input")).get("content")
    if facts.lines_added is None and isinstance(content, str):
        facts = facts._replace(lines_added=len(content.splitlines()))
    return _created(facts)


def _created(facts: Facts) -> Facts:
    note = None if facts.lines_added is None else plural(facts.lines_added, "line")
    return facts._replace(note=note, phrase=Phrase.CREATED, is_new_file=True)


def _patch_facts(state: Fields) -> Facts:
    facts, kinds = _counts(state), {text(change, "type") for change in file_changes(state)}
    phrase = _PHRASES.get(kinds.pop() or "") if len(kinds) == 1 else None
    return _created(facts) if phrase == Phrase.CREATED else facts._replace(phrase=phrase)


def _counted(key: str, noun: str) -> Callable[[Fields], Facts]:
    note = counted(key, noun)
    return lambda state: note(metadata_of(state))


def _todo_facts(state: Fields) -> Facts:
    entries = plan_entries(state)
    done = sum(entry.status is PlanStatus.COMPLETED for entry in entries)
    return Facts(note=f"{done} of {len(entries)} done") if entries else NO_FACTS


def _other(name: str, argument: Callable[[Fields], str | None]) -> Tool:
    return Tool(
        ToolKind.OTHER, Phrase.USED, lambda arguments: " ".join(filter(None, (name, argument(arguments))))
    )


_FILE = path_in("filePath", "path")
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_FILE, facts=_edit_facts)
_PATCH = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched, facts=_patch_facts)
_LIST = Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path"), facts=_counted("count", "file"))
_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))

TOOLS = {
    "read": Tool(ToolKind.READ, Phrase.READ, paths=_FILE, facts=_read_facts),
    "write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_FILE, facts=_write_facts),
    "edit": _EDIT,
    "multiedit": _EDIT._replace(facts=_counts),
    "apply_patch": _PATCH,
    "patch": _PATCH,
    "bash": _SHELL,
    "shell": _SHELL,
    "grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern"), facts=_counted("matches", "match")),
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern"), facts=_counted("count", "file")),
    "list": _LIST,
    "ls": _LIST,
    "codesearch": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "websearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "webfetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "todowrite": Tool(ToolKind.PLAN, Phrase.TODOS, facts=_todo_facts),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    QUESTION: _other(QUESTION, first_question),
    "skill": _other("skill", named("name")),
    "lsp": _other("lsp", named("operation", "filePath")),
    "invalid": _other("invalid", named("tool")),
}
"""The tools by their name."""


def tool_named(name: str) -> Tool:
    return TOOLS.get(name) or other_tool(name)


# The outcome of a call, from its state.

IS_OPEN = ("pending", "running")
_REFUSED = (
    "The user rejected",
    "The user has specified a rule which prevents",
    "The user dismissed this question",
)
"""How the error of a call begins that a person or a rule refused; taken from the sources."""
_REFUSED_WITHOUT_WORDS = "The user rejected permission to use this specific tool call."
"""The whole error of a call that the user refused without a word: opencode asks the model no more, unless the
setting `experimental.continue_loop_on_deny` says so. Then another step begins."""
_ABORTED = frozenset({"Tool execution aborted", "Task cancelled", "Aborted", "The operation was aborted."})
_REMARK_END = "metadata>"
"""How the output of a command ends to which opencode has added a remark, inside a tag `<bash_metadata>`."""
_REMARK_CHARACTERS = 600
"""The part of an output, from its end, in which the remark is searched. The longest known has 300."""
_COMMAND_ABORTED = "User aborted the command"
_TIMED_OUT = "exceeding timeout"


_SUCCEEDED = Result(Outcome.SUCCEEDED, exit_code=0)


def read_result(name: str, tool: Tool, state: Fields, line: Fields) -> Result:
    """A command that has failed is `completed`, with its exit code in the metadata; one that was stopped
    has a remark in its output. The line may have been read only partly."""
    status, metadata = state.get("status"), metadata_of(state)
    exit_code = number(metadata, "exit") if tool.kind is ToolKind.EXECUTE else None
    if status == "error":
        return _failure(state, metadata, exit_code)
    if status != "completed":
        if isinstance(line, Salvaged):
            return Result(Outcome.RETURNED, "its line is too large to be read")
        word = in_words(status)
        return Result(Outcome.RETURNED, f"unknown outcome {word}", exit_code, unknown_status=word)
    if name == "invalid":
        return Result(Outcome.FAILED, text(mapping(state.get("input")), "error") or "an invalid call")
    if tool.kind is ToolKind.EXECUTE:
        return _command(state, exit_code)
    if metadata.get("background") is True:
        return Result(Outcome.RETURNED, facts=Facts(note="in the background"))
    return Result(Outcome.SUCCEEDED, None, None, tool.facts(state))


def _command(state: Fields, exit_code: int | None) -> Result:
    output = (text(state, "output") or "").rstrip()
    remark = output[-_REMARK_CHARACTERS:] if output.endswith(_REMARK_END) else ""
    if _COMMAND_ABORTED in remark:
        return Result(Outcome.CANCELLED, "aborted", exit_code)
    if _TIMED_OUT in remark:
        return Result(Outcome.FAILED, "timed out", exit_code)
    if exit_code is None:
        return Result(Outcome.RETURNED, "no exit code")
    return Result(Outcome.FAILED, f"exit {exit_code}", exit_code) if exit_code else _SUCCEEDED


def _failure(state: Fields, metadata: Fields, exit_code: int | None) -> Result:
    error = text(state, "error") or "the tool says so"
    if error.startswith(_REFUSED):
        return Result(Outcome.REJECTED, error, exit_code)
    if error in _ABORTED or metadata.get("interrupted") is True:
        return Result(Outcome.CANCELLED, error, exit_code)
    return Result(Outcome.FAILED, error, exit_code)


# The end of a step: its reason, its tokens, and the errors that end a turn.

_OUTCOMES = {
    "stop": Outcome.SUCCEEDED,
    "end_turn": Outcome.SUCCEEDED,
    "length": Outcome.FAILED,
    "content-filter": Outcome.FAILED,
    "error": Outcome.FAILED,
}
"""How the turn ends with a step, by the reason of the step. After another reason it continues, or nothing is
known about its end: `tool-calls`, `unknown`, `other`."""


def error_message(error: object) -> str | None:
    """Return None without one. An error has a name, and a message in its `data`; some have none."""
    if isinstance(error, str):
        return error or None
    fields = mapping(error)
    return text(mapping(fields.get("data")), "message") or text(fields, "message") or text(fields, "name")


def usage(part: Fields, *, is_main: bool = True) -> Usage:
    """`input` excludes the cache, `output` the reasoning. A subagent's context is not the session's."""
    tokens = mapping(part.get("tokens"))
    cache = mapping(tokens.get("cache"))
    cached = number(cache, "read")
    inputs = (number(tokens, "input"), cached, number(cache, "write"))
    outputs = (number(tokens, "output"), number(tokens, "reasoning"))
    counts = Tokens(
        input=known_sum(inputs),
        cached=cached,
        output=known_sum(outputs),
        cost_usd=cost(part.get("cost")),
        context_used=known_sum((*inputs, *outputs)) if is_main else None,
        written=inputs[2],
    )
    return Usage(counts, UsageScope.REQUEST)


# Texts, which may be repeated as they grow.

_MOST_KNOWN = 64
"""The number of parts whose text is compared with a later one. A text grows while it is the newest."""


class Texts:
    """Turns parts with text into events. A part that repeats its id replaces its text."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._open: tuple[Channel, str | None] | None = None
        self._last: str | None = None

    def add(self, part: Fields, channel: Channel, parent_call: str | None) -> list[Event]:
        part_id, words, time = text(part, "id") or "", text(part, "text") or "", mapping(part.get("time"))
        at_ms, until_ms = number(time, "start"), number(time, "end")
        length, digest = self._known.get(part_id, (0, 0)) if part_id else (0, 0)
        events: list[Event] = []
        is_grown = not length or (len(words) >= length and digest_of(words[:length]) == digest)
        is_answer = channel is Channel.ANSWER and parent_call is None
        if not is_grown:
            if not is_answer or self._last != part_id:
                return []  # only the last text of the answer can be replaced
            events.append(TextRetracted(length))
            self._open = None
            length = 0
        if words[length:]:
            if self._open != (channel, parent_call):
                events += self.close()
            elif not length:
                events.append(TextEnded(channel, parent_call=parent_call))
            events.append(Text(channel, words[length:], at_ms, until_ms, parent_call))
            self._open = channel, parent_call
            self._last = part_id if is_answer else self._last
            self._keep(part_id, words)
        if until_ms is not None and self._open == (channel, parent_call):
            events.append(TextEnded(channel, until_ms, parent_call))
            self._open = None
        return events

    def close(self) -> list[Event]:
        if self._open is None:
            return []
        channel, parent_call = self._open
        self._open = None
        return [TextEnded(channel, parent_call=parent_call)]

    def _keep(self, part_id: str, words: str) -> None:
        if part_id:
            self._known.pop(part_id, None)
            remember(self._known, part_id, (len(words), digest_of(words)), _MOST_KNOWN)


FORMAT = "opencode"
_WITHOUT_EVENTS = ("snapshot", "patch", "agent", "file")
"""Parts that repeat what other parts report, and the files that the user attached."""
_NO_TITLE = "New session - "
"""The beginning of the title of a session that has none yet; the time follows."""
_PART_OF = {
    "step_start": "step-start",
    "step_finish": "step-finish",
    "tool_use": "tool",
    "text": "text",
    "reasoning": "reasoning",
}
"""The type of the part in a line of the stream, if the part does not name it."""
_MOST_PROMPTS = 1000


class OpencodeDecoder(AgentDecoder):
    def __init__(self) -> None:
        self._session_id: str | None = None
        self._cwd = ""
        self._texts = Texts()
        self._is_over = False
        self._calls_in_step = False
        """Whether the model has requested calls in this step: another step follows, whatever its reason."""
        self._is_refused = False
        """Whether the user has refused a call of this step: none follows."""
        self._prompts: list[str | None] = []
        """The ids of the last messages whose text was a prompt."""
        self._created_ms = 0
        self._repeats_history = False
        """Whether the newest line is a copy of one of the session from which this one was forked."""

    def decode(self, fields: Fields) -> list[Event]:
        parent_call = text(fields, "agent")
        events = [] if parent_call is not None else [*self._begin(fields), *self._copied(fields)]
        match fields.get("type"):
            case "session":
                self._created_ms = number(fields, "timestamp") or self._created_ms
                info = mapping(fields.get("info"))
                return [*events, self._info(info), *self._rewound(mapping(info.get("revert")))]
            case "message" if "info" in fields:
                return [*events, *self._message(mapping(fields.get("info")), parent_call)]
            case "error":
                return [*events, self._failed(fields.get("error"))]
            case "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" | "part":
                return [*events, *self._part(fields, mapping(fields.get("part")), parent_call)]
        return [*events, Unknown(f"type {in_words(fields.get('type'))}")]

    def _begin(self, fields: Fields) -> list[Event]:
        session_id = text(fields, "sessionID")
        if session_id is None or session_id == self._session_id:
            return []
        events = self._texts.close()
        self._session_id, self._cwd, self._texts = session_id, "", Texts()
        self._is_over = self._calls_in_step = self._repeats_history = False
        self._created_ms = 0
        self._prompts.clear()
        events.append(RunStarted(FORMAT, session_id))
        is_stored = fields.get("type") in ("session", "message", "part")
        return events if is_stored else [*events, TurnStarted()]

    def _copied(self, fields: Fields) -> list[Event]:
        """Return whether a stored line is older than its session: a fork keeps the times of its copies."""
        at_ms = number(fields, "timestamp") if fields.get("type") in ("message", "part") else None
        if at_ms is None or (at_ms < self._created_ms) is self._repeats_history:
            return []
        self._repeats_history = not self._repeats_history
        return [RunInfo(repeats_history=self._repeats_history)]

    def _info(self, info: Fields) -> RunInfo:
        cwd = text(info, "directory")
        self._cwd = (cwd or self._cwd).rstrip("/\\")
        model = text(mapping(info.get("model")), "id")
        title = text(info, "title")
        if title is not None and title.startswith(_NO_TITLE):
            title = None
        return RunInfo(model=model, cwd=cwd, agent_version=text(info, "version"), title=title)

    def _rewound(self, revert: Fields) -> list[Event]:
        message_id = text(revert, "messageID")
        if message_id not in self._prompts or message_id is None:
            return []
        kept = self._prompts.index(message_id)
        turns = len(self._prompts) - kept
        del self._prompts[kept:]
        return [*self._texts.close(), Rewound(turns)]

    def _message(self, info: Fields, parent_call: str | None) -> list[Event]:
        if info.get("role") != "assistant":
            return []
        if parent_call is not None:
            message = error_message(info.get("error"))
            return [] if message is None else [Notice(f"subagent: {message}")]
        path = mapping(info.get("path"))
        cwd = text(path, "cwd") or text(info, "path")
        self._cwd = (self._cwd or cwd or "").rstrip("/\\")
        model = text(info, "modelID") or text(mapping(info.get("model")), "modelID")
        events: list[Event] = [RunInfo(model=model, cwd=self._cwd or None)]
        error = info.get("error")
        if error and isinstance(error, (dict, str)):
            return [*events, self._failed(error)]
        if number(mapping(info.get("time")), "completed") is None:
            return events
        if info.get("summary") is True:
            return [*events, Compaction(is_over=True)]
        if "finish" in info or number(mapping(info.get("tokens")), "output") != 0:
            return events
        self._is_over = True  # the user has stopped the tries of a request
        return [*events, TurnEnded(Outcome.CANCELLED, None, self._session_id)]

    def _failed(self, error: object) -> TurnEnded:
        self._is_over = True
        is_aborted = mapping(error).get("name") == "MessageAbortedError"
        outcome = Outcome.CANCELLED if is_aborted else Outcome.FAILED
        return TurnEnded(outcome, error_message(error) or "an error without a message", self._session_id)

    def _part(self, line: Fields, part: Fields, parent_call: str | None) -> list[Event]:
        message = mapping(line.get("message"))
        match part.get("type", _PART_OF.get(in_words(line.get("type")))):
            case "text" if message.get("role") == "user":
                return self._prompt(part, message, parent_call)
            case "text":
                is_summary = message.get("summary") is True
                return self._texts.add(part, Channel.REASONING if is_summary else Channel.ANSWER, parent_call)
            case "reasoning":
                return self._texts.add(part, Channel.REASONING, parent_call)
            case "tool":
                self._calls_in_step = self._calls_in_step or parent_call is None
                return [*self._texts.close(), *self._tool(line, part, parent_call)]
            case "step-start":
                return self._step_started(message, parent_call)
            case "step-finish":
                return self._step_finished(part, message, parent_call)
            case "compaction":
                trigger = "auto" if part.get("auto") is True else "manual"
                return [] if parent_call is not None else [Compaction(is_over=False, trigger=trigger)]
            case "retry":
                return [Retry(error_message(part.get("error")) or "", number(part, "attempt"))]
            case "subtask":
                return self._prompt({**part, "text": part.get("prompt")}, message, parent_call)
            case str(kind) if kind in _WITHOUT_EVENTS:
                return []
        return [Unknown(f"part {in_words(part.get('type'))}")]

    def _prompt(self, part: Fields, message: Fields, parent_call: str | None) -> list[Event]:
        """Return the user's text, without what opencode adds to a message, such as the content of a file."""
        words = text(part, "text")
        if words is None or part.get("synthetic") is True or part.get("ignored") is True:
            return []
        message_id = text(message, "id")
        if parent_call is not None:
            return [*self._texts.close(), Prompt(words, parent_call)]
        if message_id is not None and message_id in self._prompts[-1:]:
            return [Notice(words)]
        self._prompts = [*self._prompts[1 - _MOST_PROMPTS :], message_id]
        self._is_over = False
        return [*self._texts.close(), Prompt(words)]

    def _step_started(self, message: Fields, parent_call: str | None) -> list[Event]:
        events = self._texts.close()
        if parent_call is not None or message.get("summary") is True:
            return events
        self._calls_in_step = self._is_refused = False
        if not self._is_over:
            return events
        self._is_over = False
        return [*events, TurnStarted()]

    def _step_finished(self, part: Fields, message: Fields, parent_call: str | None) -> list[Event]:
        events: list[Event] = self._texts.close()
        if not self._repeats_history:
            events.append(usage(part, is_main=parent_call is None))
        if parent_call is not None:
            return events
        if self._is_refused:
            self._is_over = True
            return [*events, TurnEnded(Outcome.CANCELLED, None, self._session_id)]
        outcome = _OUTCOMES.get(text(part, "reason") or "")
        if outcome is None or self._calls_in_step or message.get("summary") is True:
            return events
        self._is_over = True
        words = None if outcome is Outcome.SUCCEEDED else f"the model stopped: {in_words(part.get('reason'))}"
        return [*events, TurnEnded(outcome, words, self._session_id)]

    def _tool(self, line: Fields, part: Fields, parent_call: str | None) -> list[Event]:
        name, state = text(part, "tool") or "", mapping(part.get("state"))
        tool, call_id = tool_named(name), text(part, "callID") or text(part, "id") or ""
        arguments, time = mapping(state.get("input")), mapping(state.get("time"))
        started = tool.started(
            call_id,
            name,
            arguments,
            cwd=self._cwd,
            group=text(part, "messageID"),
            limit_ms=number(arguments, "timeout"),
            at_ms=number(time, "start"),
            parent_call=parent_call,
        )
        if state.get("status") in IS_OPEN:
            events: list[Event] = [started._replace(is_update=True)]
            if name == QUESTION and parent_call is None:
                words = first_question(arguments)
                events.append(Permission(name, None, None, started.at_ms, call_id, call_id, words))
            if output := text(metadata_of(state), "output"):
                events.append(ToolProgress(call_id, None, output, is_whole=True))
            return events
        result = read_result(name, tool, state, line)
        if parent_call is None and text(state, "error") == _REFUSED_WITHOUT_WORDS:
            self._is_refused = True
        ended = tool.ended(
            call_id, name, result, at_ms=number(time, "end"), parent_call=parent_call
        )._replace(
            has_arguments=bool(arguments),
            target=started.target,
            path=started.path,
            group=started.group,
            more_paths=started.more_paths,
            started_ms=started.at_ms,
        )
        return [ended, *self._plan(tool, state, result, parent_call), *_unknown(name, result)]

    @staticmethod
    def _plan(tool: Tool, state: Fields, result: Result, parent_call: str | None) -> list[Event]:
        is_written = (
            tool.kind is ToolKind.PLAN and result.outcome is Outcome.SUCCEEDED and parent_call is None
        )
        return [Plan(plan_entries(state))] if is_written else []


def _unknown(name: str, result: Result) -> list[Event]:
    if result.unknown_status is None:
        return []
    return [Unknown(f"state {result.unknown_status} of tool {in_words(name)}")]
