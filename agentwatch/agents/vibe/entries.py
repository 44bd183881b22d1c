"""Decodes the entries of Mistral Vibe: a line of its stream is one, and a line of its journal changes some. A
stream has an entry only when it is complete: nothing shows a call that runs, or the end of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, in_words, items, mapping, number, text
from agentwatch.agents.named_calls import NO_STATUS, LineDecoder, result_blocks
from agentwatch.agents.tool import (
    NEW_FILE,
    NO_FACTS,
    Phrase,
    Result,
    Tool,
    command_in,
    listed_entries,
    named,
    other_tool,
    path_in,
    remember,
    said,
    tokens_in,
)
from agentwatch.agents.vibe.agent import FORMAT, JOURNAL_FORMAT, RECORD, changes
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    PlanEntry,
    Prompt,
    RunInfo,
    RunStarted,
    Tokens,
    ToolKind,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)

_PATH = path_in("filePath", "file_path", "path")
TOOLS = {
    "bash": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "read_file": Tool(ToolKind.READ, Phrase.READ, paths=_PATH),
    "write_file": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "search_replace": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "todo": Tool(ToolKind.PLAN, Phrase.TODOS),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "task")),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "web_fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}
"""The tools by the last part of their names: `file_system.bash`."""
_OPEN = ("pending", "running", "blocked", "open")
_OUTCOMES = {"failed": Outcome.FAILED, "cancelled": Outcome.CANCELLED, "skipped": Outcome.REJECTED}
_ENDS = {"completed": Outcome.SUCCEEDED, "interrupted": Outcome.CANCELLED, "failed": Outcome.FAILED}
_MOST_QUESTIONS = 100
_MOST_ENTRIES = 1 << 14
"""Entries that are known to be complete. A checkpoint repeats all of them."""


def tool_named(name: str) -> Tool:
    return TOOLS.get(name.rpartition(".")[2]) or other_tool(name)


def _call(entry: Fields) -> tuple[str, Fields, tuple[PlanEntry, ...]]:
    """Return the name of a tool, its arguments, in which the texts that it replaces have other agents' names,
    and its to-do list."""
    detail = mapping(entry.get("detail"))
    name, given = text(detail, "toolName") or "tool", mapping(detail.get("input"))
    changed = map(mapping, items(given.get("changes")))
    edits = [{"old_string": each.get("oldString"), "new_string": each.get("newString")} for each in changed]
    rest = {key: value for key, value in given.items() if key != "changes"}
    todos = rest.get("todos") if tool_named(name).kind is ToolKind.PLAN else ()
    return name, ({**rest, "edits": edits} if edits else rest), listed_entries(todos, "content")


def _result(kind: ToolKind, state: Fields) -> Result:
    """Return how a call ended. The state of a command that failed is `completed`."""
    output, display, status = mapping(state.get("output")), mapping(state.get("display")), state.get("status")
    is_command = kind is ToolKind.EXECUTE
    code = number(mapping(output.get("structured_content")), "returncode") if is_command else None
    if isinstance(status, str) and status in _OUTCOMES:
        error = text(mapping(state.get("error")), "message") or text(state, "reason")
        return Result(_OUTCOMES[status], error or text(display, "message"), code)
    if status != "completed":
        return Result(Outcome.RETURNED, NO_STATUS, code)
    if code or display.get("success") is False:
        return Result(Outcome.FAILED, f"exit {code}" if code else _output(state)[:4096] or None, code)
    is_new = kind is ToolKind.EDIT and output.get("fileExisted") is False
    return Result(Outcome.SUCCEEDED, None, code, NEW_FILE if is_new else NO_FACTS)


def _output(state: Fields) -> str:
    output = mapping(state.get("output"))
    made = mapping(output.get("structured_content")) or output
    streams = (text(made, "stdout") or "") + (text(made, "stderr") or "")
    return text(state, "outputText") or streams or text(made, "content") or ""


class VibeDecoder(LineDecoder):
    format = FORMAT
    tool = staticmethod(tool_named)

    def __init__(self) -> None:
        super().__init__()
        self._session_id: str | None = None
        self._complete: dict[str, None] = {}

    def begin(self, session_id: str | None) -> Iterator[Event]:
        if session_id is not None and session_id != self._session_id:
            self._session_id = session_id
            self._calls.begin_run(None)
            yield RunStarted(self.format, session_id)

    def events(self, entry: Fields) -> Iterable[Event]:
        yield from self.begin(text(entry, "sessionId"))
        entry_id, at_ms = text(entry, "id") or "", number(entry, "updatedAt")
        state = mapping(entry.get("state"))
        if entry_id and entry_id in self._complete:
            return
        is_generated, is_open = entry.get("generationStatus") == "completed", state.get("status") in _OPEN
        if entry_id and is_generated and not is_open:
            remember(self._complete, entry_id[:200], None, _MOST_ENTRIES)
        match entry.get("type"):
            case "effect":
                name, arguments, entries = _call(entry)
                if not self._calls.is_open(entry_id):
                    began_ms, group = number(entry, "createdAt"), text(entry, "inputEntryId")
                    yield self._calls.started(entry_id, name, arguments, entries, group=group, at_ms=began_ms)
                if not is_open:
                    result = _result(self._calls.kind(entry_id, name), state)
                    yield from self._calls.ended(entry_id, name, result, at_ms=at_ms)
            case "callback":
                yield _question(entry, at_ms)
            case "message" | "reasoning":
                yield from _text(entry, at_ms) if is_generated else ()
            case "notice":
                if (level := entry.get("level")) in ("warning", "error"):
                    yield Notice(text(entry, "message") or "notice", at_ms, is_error=level == "error")
            case "checkpoint":
                if "compact" in (text(entry, "kind") or ""):
                    yield Compaction(is_over=True, at_ms=at_ms)
            case kind:
                yield Unknown(f"type {in_words(kind)}")


def _text(entry: Fields, at_ms: int | None) -> list[Event]:
    parts = (text(mapping(part), "text") for part in items(entry.get("content")))
    words, role = text(entry, "text") or "\n\n".join(filter(None, parts)), entry.get("role")
    if not words or mapping(entry.get("outcome")).get("type") == "discarded" or role == "system":
        return []
    if role == "user":
        return [Prompt(words)]
    return said(Channel.REASONING if entry.get("type") == "reasoning" else Channel.ANSWER, words, at_ms)


def _question(entry: Fields, at_ms: int | None) -> Permission:
    detail, state = mapping(entry.get("detail")), mapping(entry.get("state"))
    effect = mapping(detail.get("effect"))
    decision = mapping(mapping(state.get("output")).get("decision"))
    status = text(state, "status") or ""
    answer = None if status in _OPEN else text(decision, "type") or status
    subject = text(effect, "toolName") or text(entry, "title") or "question"
    target, _ = tool_named(subject).described(mapping(effect.get("input")))
    call_id = text(detail, "relatedEntryId") or text(entry, "relatedEntryId")
    key = text(entry, "callbackId") or text(entry, "id")
    return Permission(subject, answer, text(detail, "reason"), at_ms, key, call_id, target)


class JournalDecoder(VibeDecoder):
    format = JOURNAL_FORMAT

    def __init__(self) -> None:
        super().__init__()
        self._ended: str | None = None
        """The last turn that has ended."""
        self._tokens: Tokens | None = None
        self._asked: dict[str, str] = {}
        """The subject of each open question, by its id."""

    def events(self, fields: Fields) -> Iterable[Event]:
        if RECORD not in fields:
            return [Unknown(f"type {in_words(fields.get('type'))}")]
        if fields.get("type") in ("callback_registered", "callback_resolved"):
            return [self._callback(mapping(fields.get("payload")))]
        return (event for each in changes(fields) for event in self._change(each))

    def _change(self, change: Fields) -> Iterator[Event]:
        match change.get("op"):
            case "append_entry" | "replace_entry":
                yield from super().events(mapping(change.get("entry")))
            case "set_envelope":
                yield from self._state(mapping(change.get("state")))
            case "set_facts":  # what is beside the journal, which its store puts before it
                facts = mapping(change.get("facts"))
                yield from self.begin(text(facts, "session_id"))
                cwd = text(mapping(facts.get("environment")), "working_directory")
                self._calls.begin_run(cwd)
                model = text(mapping(facts.get("config")), "active_model")
                branch, title = text(facts, "git_branch"), text(facts, "title")
                yield RunInfo(cwd=cwd, model=model, branch=branch, title=title)
            case op:
                yield Unknown(f"op {in_words(op)}")

    def _state(self, state: Fields) -> Iterator[Event]:
        session, turn = mapping(state.get("session")), mapping(state.get("latestTurn"))
        yield from self.begin(text(session, "id"))
        usage = mapping(session.get("tokenUsage"))
        tokens = tokens_in(usage, "inputTokens", "cachedInputTokens", "outputTokens")
        if usage and tokens != self._tokens:
            self._tokens = tokens
            used = number(mapping(session.get("contextUsage")), "inputTokens")
            yield Usage(tokens._replace(context_used=used), UsageScope.RUN, number(session, "updatedAt"))
        turn_id, outcome = text(turn, "id"), _ENDS.get(text(turn, "status") or "")
        if outcome is not None and turn_id != self._ended:
            self._ended = turn_id
            error = text(mapping(turn.get("error")), "message") if outcome is Outcome.FAILED else None
            began_ms, ended_ms = number(turn, "startedAt"), number(turn, "completedAt")
            duration_ms = None if began_ms is None or ended_ms is None else max(ended_ms - began_ms, 0)
            yield TurnEnded(outcome, error, duration_ms=duration_ms)

    def _callback(self, payload: Fields) -> Permission:
        """Read a question, or its answer. The state of the session does not have it."""
        key, entry = text(payload, "callback_id") or "", mapping(payload.get("routing"))
        if entry:
            asked = _question(entry, number(entry, "updatedAt"))
            remember(self._asked, key, asked.subject, _MOST_QUESTIONS)
            return asked
        decision = mapping(mapping(mapping(payload.get("result")).get("output")).get("decision"))
        answer = text(decision, "type") or "answered"
        return Permission(self._asked.pop(key, "question"), answer, key=key or None)


def entry_blocks(entry: Fields, _call_id: str) -> Iterator[Block]:
    (name, arguments, entries), state = _call(entry), mapping(entry.get("state"))
    tool = tool_named(name)
    yield from argument_blocks(tool.kind, arguments, entries)
    if state.get("status") not in _OPEN:
        yield from result_blocks(tool, _output(state), _result(tool.kind, state).error)


def record_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    for each in changes(fields):
        if (entry := mapping(each.get("entry"))).get("id") == call_id:
            yield from entry_blocks(entry, call_id)
