"""Decodes the JSON-RPC lines of the protocol, in both directions or only the agent's."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from agentwatch.agents.acp.calls import Calls, Owner, Terminals, command_line, plan_in
from agentwatch.agents.acp.messages import (
    ASKING,
    ELICITATION,
    INITIALIZE,
    NEW_PLAN,
    NEW_SESSION,
    PERMISSION,
    PROMPT,
    Answers,
    HeldTexts,
    Request,
    Requests,
    attachment,
    chunk_text,
    count_of,
    prompt_text,
    short,
    with_halves,
)
from agentwatch.agents.delta_frames import Burst
from agentwatch.agents.fields import Fields, cost, in_words, items, mapping, text, whole_text
from agentwatch.agents.tool import remember
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    Tokens,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)

# The facts about an agent and a session: names, versions, modes and models.

_CHOSEN = {"session/set_mode": "modeId", "session/set_model": "modelId"}


def agent_facts(result: Fields) -> RunInfo:
    info = mapping(result.get("agentInfo")) or mapping(result.get("info"))
    return RunInfo(
        agent_name=text(info, "name") or text(info, "title"),
        agent_version=text(info, "version"),
    )


def session_facts(result: Fields) -> RunInfo:
    options = option_facts(result)
    mode = text(mapping(result.get("modes")), "currentModeId")
    model = text(mapping(result.get("models")), "currentModelId")
    return options._replace(model=model or options.model, permission_mode=mode or options.permission_mode)


def option_facts(fields: Fields) -> RunInfo:
    found = RunInfo()
    for option in map(mapping, items(fields.get("configOptions"))):
        value = text(option, "currentValue")
        match text(option, "category") or text(option, "id") or text(option, "configId"):
            case "model":
                found = found._replace(model=value)
            case "mode":
                found = found._replace(permission_mode=value)
    return found


# Requests for permission, and their answers.

_MOST_OPTIONS = 64
_MOST_ANSWER = 100
_REPLIES = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
_ANSWERS = {
    "allow_once": "allowed",
    "allow_always": "always allowed",
    "reject_once": "rejected",
    "reject_always": "always rejected",
}


def asked_words(params: Fields) -> str | None:
    """Return the questions to the user; of a plan, its name or its first line."""
    asked = (text(mapping(each), "prompt") for each in islice(items(params.get("questions")), _MOST_OPTIONS))
    plan = text(params, "name") or (text(params, "plan") or "").strip().partition("\n")[0]
    return " ".join(filter(None, asked)) or text(params, "title") or text(params, "message") or plan or None


def asked_call(params: Fields) -> Fields:
    """Return the call that a request is about. It may be the only line that describes the call."""
    return mapping(params.get("toolCall")) or mapping(mapping(params.get("subject")).get("toolCall"))


def labels_of(params: Fields) -> dict[str, str]:
    questions = map(mapping, islice(items(params.get("questions")), _MOST_OPTIONS))
    labels = (
        (f"{short(text(question, 'id'))} {name}", label)
        for question in questions
        for name, label in _options(question, "id", "label").items()
    )
    return dict(islice(labels, _MOST_OPTIONS))


def _options(params: Fields, key: str, value: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for option in map(mapping, islice(items(params.get("options")), _MOST_OPTIONS)):
        name, word = short(text(option, key)), short(text(option, value))
        if name is not None and word is not None:
            options[name] = word
    return options


def answer_of(request: Request, result: Fields) -> tuple[str, Outcome | None]:
    """Return an answer in words, and the outcome of the call if it is refused; None if it is allowed."""
    outcome = mapping(result.get("outcome"))
    chosen = text(outcome, "optionId")
    kind = request.options.get(chosen or "", "")
    if outcome.get("outcome") == "cancelled":
        return "cancelled", Outcome.CANCELLED
    refusal = Outcome.REJECTED if kind.startswith("reject") else None
    return _ANSWERS.get(kind) or short(chosen) or "answered", refusal


def reply_of(request: Request, result: Fields) -> tuple[str, str | None]:
    """Return what the user did with a question, and what the user chose or entered, or why it was refused."""
    reply = mapping(result.get("outcome")) or mapping(result.get("action")) or result
    done = text(reply, "outcome") or text(reply, "action") or "answered"
    given = [("", each) for each in mapping(reply.get("content")).values()]
    given += [
        (f"{short(text(answer, 'questionId'))} ", items(answer.get("selectedOptionIds")))
        for answer in map(mapping, islice(items(reply.get("answers")), _MOST_OPTIONS))
    ]
    words = (
        request.options.get(question + in_words(each), in_words(each))
        for question, values in given
        for each in (values if isinstance(values, list) else [values])
    )
    reason = ", ".join(islice(words, _MOST_OPTIONS)) or text(reply, "reason")
    return _REPLIES.get(done, done[:_MOST_ANSWER]), reason


# The sessions of a log: the main one, those of subagents, and others at the same time.

_MOST_SESSIONS = 256
FORMAT = "acp"


class Sessions:
    """The sessions of a log, at most 256. Ids of more than 500 characters are not distinguished."""

    def __init__(self) -> None:
        self.main: str | None = None
        self.has_run = False
        self.is_used = False
        self.agent = RunInfo()
        self._facts: dict[str, RunInfo] = {}
        self._seen: dict[str, None] = {}
        self._children: dict[str, str] = {}
        self._sides: dict[str, None] = {}
        """Other sessions that have begun while the turn of the main one was open."""

    def describe(self, session: str | None, facts: RunInfo) -> list[Event]:
        if (session := short(session)) is None:
            return []
        known = self._facts.get(session, RunInfo())
        remember(self._facts, session, _merged(known, facts), _MOST_SESSIONS)
        return [facts] if session == self.main and self.has_run and any(facts) else []

    def begin(self, session: str | None, *, is_turn_open: bool) -> list[Event]:
        """Make a session the main one, unless the turn of another one is open."""
        session = short(session)
        if session is None or (session == self.main and self.has_run) or is_turn_open:
            return []
        facts = self._facts.get(session, RunInfo())._replace(session_id=session)
        if self.has_run and not self.is_used:
            self.main = session
            return [facts]
        self.main, self.has_run, self.is_used = session, True, False
        self._sides.pop(session, None)
        started = RunStarted(
            format=FORMAT,
            session_id=session,
            model=facts.model,
            cwd=facts.cwd,
            permission_mode=facts.permission_mode,
            agent_version=self.agent.agent_version,
        )
        named = RunInfo(agent_name=self.agent.agent_name)
        return [started, named] if named.agent_name else [started]

    def restart(self) -> None:
        self.is_used = self.is_used or self.main is not None
        self.main = None
        self._children.clear()
        self._sides.clear()

    def cwd(self, session: str | None) -> str:
        facts = self._facts.get(session or "") or self._facts.get(self.main or "")
        return ((facts and facts.cwd) or "").rstrip("/\\")

    def is_seen(self, session: str | None) -> bool:
        return session in self._seen

    def see(self, session: str | None) -> None:
        if (session := short(session)) is not None and session not in self._seen:
            remember(self._seen, session, None, _MOST_SESSIONS)

    def add_child(self, update: Fields) -> str | None:
        """Keep the session of a subagent. Return its title if the session is new."""
        child = short(text(update, "subagentSessionId") or text(update, "sessionId"))
        if child is None or child in self._children or child == self.main:
            return None
        remember(self._children, child, text(update, "toolCallId") or child, _MOST_SESSIONS)
        return text(update, "title") or text(update, "name") or text(update, "task") or "a subagent"

    def agent_of(self, session: str | None, update: Fields) -> str | None:
        claude = mapping(mapping(update.get("_meta")).get("claudeCode"))
        if parent := text(claude, "parentToolUseId"):
            return parent
        if session is None or session == self.main:
            return None
        return self._children.get(session) or session

    def is_other(self, session: str | None) -> bool:
        return session is not None and session != self.main and session not in self._children

    def is_side(self, session: str | None) -> bool:
        """Return whether a session is another one that runs at the same time as the main one."""
        return session in self._sides

    def add_side(self, session: str) -> None:
        if short(session) is not None:
            remember(self._sides, session, None, _MOST_SESSIONS)

    def end_side(self, session: str | None) -> None:
        self._sides.pop(session or "", None)


def _merged(first: RunInfo, second: RunInfo) -> RunInfo:
    return first._replace(**{name: value for name, value in second._asdict().items() if value is not None})


# Token counts, costs and the size of the context.


def context_usage(update: Fields) -> list[Event]:
    """Return the context and the cost of a session. The cost is that of the whole session, by the schema."""
    spent = mapping(update.get("cost"))
    tokens = Tokens(
        cost_usd=cost(spent.get("amount")) if text(spent, "currency") == "USD" else None,
        context_used=count_of(update, "used"),
        context_size=count_of(update, "size"),
    )
    return [] if tokens == Tokens() else [Usage(tokens, UsageScope.RUN)]


def prompt_usage(result: Fields) -> list[Event]:
    """Return the tokens in the response to a prompt. By the schema, `usage` counts all turns of the session.
    gemini-cli has the tokens of the turn in `_meta`; its input includes what was read from the cache."""
    usage = mapping(result.get("usage"))
    tokens = _tokens(usage)
    if tokens != Tokens():
        return [Usage(tokens, UsageScope.RUN)]
    counts = mapping(mapping(mapping(result.get("_meta")).get("quota")).get("token_count"))
    tokens = Tokens(count_of(counts, "input_tokens"), None, count_of(counts, "output_tokens"))
    return [] if tokens == Tokens() else [Usage(tokens, UsageScope.REQUEST)]


def _tokens(usage: Fields) -> Tokens:
    """Return the counts of a session. `inputTokens` excludes the cache, unless the total shows otherwise."""
    given, written = count_of(usage, "inputTokens"), count_of(usage, "outputTokens")
    cached, thought = count_of(usage, "cachedReadTokens"), count_of(usage, "thoughtTokens") or 0
    total = count_of(usage, "totalTokens")
    cache = (cached or 0) + (count_of(usage, "cachedWriteTokens") or 0)
    if cache and total == (given or 0) + (written or 0):
        cache = thought = 0
    return Tokens(
        input=None if given is None else given + cache,
        cached=cached,
        output=None if written is None else written + thought,
    )


# The updates of sessions: texts, calls, plans, modes and notices.

_CHUNKS = {"agent_message_chunk": Channel.ANSWER, "agent_thought_chunk": Channel.REASONING}
_MESSAGES = {"agent_message": Channel.ANSWER, "agent_thought": Channel.REASONING}
"""Whole messages, in version 2 of the protocol."""
_USERS = frozenset({"user_message_chunk", "user_message"})
_MOST_PROMPT = 1 << 20
"""The length of a prompt that is gathered or compared, in characters."""
_QUIET = frozenset(
    (
        *("available_commands_update", "session_info_update", "plan_removed", "state_update"),
        *("compaction_summary_chunk", "session_message", "session_message_chunk", "tool_call_content_chunk"),
        *("subagent_state_update", "async_task_spawned", "async_task_progress", "async_task_state_update"),
    )
)
"""Updates of the schema, and of published agents, that report nothing that is shown."""
_ERRORS = frozenset({"error", "critical"})


class Updates:
    def __init__(self, sessions: Sessions, calls: Calls, terminals: Terminals) -> None:
        self._sessions = sessions
        self._calls = calls
        self._terminals = terminals
        self._answers = Answers()
        self._texts = HeldTexts()
        self._user: tuple[str | None, str | None, list[str]] | None = None
        """The agent, the message id and the pieces of a user's message that has not ended."""
        self._user_size = 0
        self._echo = ""
        """The rest of the prompt that the agent may repeat."""
        self._is_open = False
        self._has_prompts = False
        self.streaming: Channel | None = None
        """The channel of the main agent's text, if the last line was a delta of it."""

    @property
    def is_implied(self) -> bool:
        """Whether a turn is open whose prompt is not in the log."""
        return self._is_open and not self._has_prompts

    def enter(self, session: str | None) -> list[Event]:
        events = self._sessions.begin(session, is_turn_open=self._is_open)
        if events:
            self._calls.clear()
        return events

    def prompted(self, session: str | None, words: str) -> list[Event]:
        self._has_prompts = True
        self._sessions.see(session)
        if session is not None and session != self._sessions.main and self._is_open:
            self._sessions.add_side(session)
            return [Prompt(words, parent_call=session)]
        self._is_open = self._sessions.is_used = True
        self._echo = words if len(words) <= _MOST_PROMPT else ""
        return [Prompt(words)]

    def turn_ended(self) -> None:
        self._is_open = False
        self._echo = ""

    def end_texts(self) -> list[Event]:
        """Return the texts that are held back."""
        self.streaming = None
        return [*self._answers.end(), *self._texts.end_all()]

    def end_prompt(self) -> list[Event]:
        """Return the user's message that was gathered from chunks, unless it repeats the prompt."""
        if self._user is None:
            return []
        parent_call, _, pieces = self._user
        words, self._user, self._user_size = whole_text("".join(pieces)), None, 0
        if not words:
            return []
        if parent_call is not None:
            return [Prompt(words, parent_call=parent_call)]
        if self._echo and self._echo.startswith(words):
            self._echo = self._echo[len(words) :]
            return []
        self._is_open = self._sessions.is_used = True
        return [Prompt(words)]

    def burst(self, burst: Burst) -> list[Event] | None:
        if self.streaming is not burst.channel or not self._answers.is_whole(burst.channel):
            return None
        return [Text(burst.channel, burst.text)]

    def call(self, session: str | None, call: Fields, *, announces: bool) -> list[Event]:
        parent_call, lead = self._place(session, call)
        if not text(call, "toolCallId"):
            return [*lead, Unknown("tool call without an id")]
        scope = session if self._sessions.is_other(session) else None
        owner = Owner(session, parent_call, scope, self._sessions.cwd(session))
        events = self._calls.update(call, owner, announces=announces)
        if events and parent_call is None:
            lead += [*self._implied(), *self._answers.end()]
        elif events and parent_call is not None:
            lead += self._texts.end(parent_call)
        todos = mapping(call.get("rawInput")).get("todos")
        plan: list[Event] = (
            [plan_in(todos)] if isinstance(todos, list) and parent_call is None and events else []
        )
        return [*lead, *events, *plan]

    def decode(self, session: str | None, update: Fields, fields: Fields) -> list[Event]:
        kind = text(update, "sessionUpdate") or ""
        self.streaming = None
        if kind in _USERS:
            return self._add_user(session, with_halves(fields, update))
        lead = self.end_prompt()
        if channel := _CHUNKS.get(kind):
            return [*lead, *self._add_chunk(session, channel, update, fields)]
        if kind in ("tool_call", "tool_call_update"):
            self._sessions.see(session)
            return [*lead, *self.call(session, update, announces=kind == "tool_call")]
        return [*lead, *self._other(kind, session, update, fields)]

    def _other(self, kind: str, session: str | None, update: Fields, fields: Fields) -> list[Event]:
        is_main = not self._sessions.is_other(session) and self._sessions.agent_of(session, update) is None
        match kind:
            case "plan":
                return [plan_in(update.get("entries"))] if is_main else []
            case "plan_update":
                entries = mapping(update.get("plan")).get("entries")
                return [plan_in(entries)] if is_main and isinstance(entries, list) else []
            case "usage_update":
                return context_usage(update) if is_main else []
            case "current_mode_update":
                mode = text(update, "currentModeId") or text(update, "modeId")
                return self._sessions.describe(session, RunInfo(permission_mode=mode))
            case "config_option_update":
                return self._sessions.describe(session, option_facts(update))
            case "subagent_update" | "subagent_spawned":
                title = self._sessions.add_child(update)
                return [] if title is None else [Notice(f"subagent started: {title}")]
            case "notice":
                return _notice(update)
            case "compaction_update":
                return _compaction(update)
            case "terminal_update":
                self._terminals.update(update)
                return []
            case "agent_message" | "agent_thought":
                return self._add_message(session, _MESSAGES[kind], update, fields)
        is_known = kind in _QUIET or kind.startswith("_")
        return [] if is_known else [Unknown(f"session update {in_words(update.get('sessionUpdate'))}")]

    def _place(self, session: str | None, update: Fields) -> tuple[str | None, list[Event]]:
        lead: list[Event] = []
        if self._sessions.is_other(session) and session is not None and not self._sessions.is_side(session):
            if self._is_open and self._sessions.main is not None:
                self._sessions.add_side(session)
            else:
                lead = self.enter(session)
        return self._sessions.agent_of(session, update), lead

    def _implied(self) -> list[Event]:
        self._sessions.is_used = True
        if self._is_open or self._has_prompts:
            return []
        self._is_open = True
        return [TurnStarted()]

    def _add_user(self, session: str | None, update: Fields) -> list[Event]:
        parent_call, lead = self._place(session, update)
        self._sessions.see(session)
        message = text(update, "messageId")
        if self._user is not None and self._user[:2] != (parent_call, message):
            lead = [*self.end_prompt(), *lead]
        if self._user is None:
            self._user = parent_call, message, []
        words = prompt_text(update.get("content"))[: max(_MOST_PROMPT - self._user_size, 0)]
        self._user_size += len(words)
        self._user[2].append(words)
        return lead

    def _add_chunk(
        self, session: str | None, channel: Channel, update: Fields, fields: Fields
    ) -> list[Event]:
        parent_call, lead = self._place(session, update)
        self._sessions.see(session)
        if chunk_text(update) is None:
            return [*lead, attachment(update)]
        if parent_call is not None:
            return [*lead, *self._texts.add(parent_call, channel, with_halves(fields, update))]
        lead += self._implied()
        self._echo = ""
        self.streaming = channel
        return [*lead, *self._answers.add(channel, fields, update)]

    def _add_message(
        self, session: str | None, channel: Channel, update: Fields, fields: Fields
    ) -> list[Event]:
        """Return the events of a whole message. One whose chunks were received is only ended by it."""
        if self._sessions.agent_of(session, update) is None and self._answers.has_message(channel, update):
            return [TextEnded(channel)]
        events: list[Event] = []
        for block in items(update.get("content")):
            events += self._add_chunk(session, channel, {**update, "content": block}, fields)
        return events


def _notice(update: Fields) -> list[Event]:
    words = ": ".join(
        filter(None, (text(update, "title") or text(update, "message"), text(update, "description")))
    )
    return [Notice(words or "notice", is_error=text(update, "severity") in _ERRORS)]


def _compaction(update: Fields) -> list[Event]:
    """Return the events of a compaction. The token counts are an extension of Claude Code's adapter."""
    meta: Mapping[str, object] = mapping(mapping(mapping(update.get("_meta")).get("jetbrains")).get("air"))
    counts = mapping(meta.get("contextCompaction"))
    status = text(update, "status")
    if status == "failed":
        return [Notice(f"compaction failed: {text(update, 'error') or 'no reason given'}")]
    return [
        Compaction(
            is_over=status != "in_progress",
            trigger=text(counts, "trigger"),
            tokens_before=count_of(counts, "preTokens"),
            tokens_after=count_of(counts, "postTokens"),
        )
    ]


CURSORS = "cursor/"
"""The beginning of the methods that Cursor adds to the protocol."""
_ACTION, _ASKED = "your action", "asked"
_OPENS = frozenset({NEW_SESSION, "session/load", "session/resume", "session/fork"})
_KNOWN = ("session/", "fs/", "terminal/", "elicitation/", "mcp/", "authenticate", "logout", "$/", "_", "nes/")
"""The beginnings of the other methods of the schema. An underscore begins those that an agent adds."""
_STOPS = {
    "end_turn": Outcome.SUCCEEDED,
    "max_tokens": Outcome.FAILED,
    "max_turn_requests": Outcome.FAILED,
    "refusal": Outcome.FAILED,
    "cancelled": Outcome.CANCELLED,
}
_CANCELLED = -32800
"""The code of the error that answers a cancelled request."""


class AcpDecoder:
    def __init__(self) -> None:
        self._requests = Requests()
        self._sessions = Sessions()
        self._terminals = Terminals()
        self._calls = Calls(self._terminals)
        self._updates = Updates(self._sessions, self._calls, self._terminals)
        self._blocked: dict[str | None, None] = {}
        """The sessions that wait for the user, without a request that says for what."""
        self._loading: str | None = None
        """The session whose history is being replayed although the log contains it."""
        self._replays = False
        """Whether a history is being replayed that the log does not contain: another log has counted it."""

    def decode(self, fields: Fields) -> list[Event]:
        method = fields.get("method")
        if method == "session/update":
            return self._update(fields, mapping(fields.get("params")))
        lead = self._updates.end_prompt()
        self._updates.streaming = None
        if isinstance(method, str):
            return [*lead, *self._called(method, mapping(fields.get("params")), fields)]
        if "result" in fields or "error" in fields:
            return [*lead, *self._answered(fields)]
        what = "message without a method" if "jsonrpc" in fields else f"type {in_words(fields.get('type'))}"
        return [*lead, Unknown(what)]

    def streams(self, fields: Fields) -> bool:
        """Return whether a line is a delta of the main agent's text, and the next one may be read with it."""
        return fields.get("method") == "session/update" and self._updates.streaming is not None

    def burst(self, burst: Burst) -> list[Event] | None:
        return self._updates.burst(burst)

    def end(self) -> list[Event]:
        return [*self._updates.end_prompt(), *self._updates.end_texts()]

    def _update(self, fields: Fields, params: Fields) -> list[Event]:
        session, update = text(params, "sessionId"), mapping(params.get("update"))
        if self._loading is not None and session == self._loading:
            return []
        if update.get("sessionUpdate") == "state_update":
            return self._state_changed(short(session), update)
        return self._updates.decode(session, update, fields)

    def _state_changed(self, session: str | None, update: Fields) -> list[Event]:
        """Read the state of a session: it waits for the user, or its turn has ended; version 2 only."""
        state, lead = update.get("state"), self._updates.end_prompt()
        if state != "requires_action":
            lead += self._unblocked(session, "done")
        elif session not in self._blocked and not self._requests.has_question(session):
            remember(self._blocked, session, None, _MOST_SESSIONS)
            lead.append(Permission(_ACTION, None, key=f"state {session}"))
        if state == "idle" and "stopReason" in update:
            return [*lead, *self._turn_ended(session, update)]
        return lead

    def _unblocked(self, session: str | None, answer: str) -> list[Event]:
        if session not in self._blocked:
            return []
        del self._blocked[session]
        return [Permission(_ACTION, answer, key=f"state {session}")]

    def _called(self, method: str, params: Fields, fields: Fields) -> list[Event]:
        session = short(text(params, "sessionId"))
        if method == PERMISSION:
            return self._asked(session, params, fields)
        value = (
            text(params, "cwd")
            or text(params, _CHOSEN.get(method, ""))
            or text(params, "terminalId")
            or command_line(params)
        )
        if method == INITIALIZE:
            self._requests.clear()
            self._blocked.clear()
            self._sessions.restart()
        self._requests.add(fields, Request(method, session, value=value and value[:4096]))
        if method == INITIALIZE:
            self._updates.turn_ended()
            return []
        if method == PROMPT:
            words = prompt_text(params.get("prompt"))
            return [*self._replayed(), *self._updates.enter(session), *self._updates.prompted(session, words)]
        if method == "session/load" and session is not None:
            return self._load(session, params)
        if method.startswith(CURSORS) or method == ELICITATION:
            return self._extended(method, session, params, fields)
        if method == "session/cancel":
            self._calls.cancel(session)
            return [Notice("the client cancels the turn")]
        return [] if method.startswith(_KNOWN) else [Unknown(f"method {in_words(method)}")]

    def _extended(self, method: str, session: str | None, params: Fields, fields: Fields) -> list[Event]:
        """Read a question, or a method that Cursor adds to report."""
        match method:
            case "cursor/ask_question" | "cursor/create_plan" | "elicitation/create":
                lead = self._unblocked(session, _ASKED)
                call_id, target = short(text(params, "toolCallId")), asked_words(params)
                subject = "plan" if method == NEW_PLAN else "question"
                self._requests.add(fields, Request(method, session, 0, call_id, subject, labels_of(params)))
                key = _question_key(fields)
                todos = [plan_in(params["todos"])] if isinstance(params.get("todos"), list) else []
                return [*lead, *todos, Permission(subject, None, key=key, call_id=call_id, target=target)]
            case "cursor/update_todos":
                plan = plan_in(params.get("todos"))
                return [plan._replace(is_update=params.get("merge") is True)]
            case "cursor/task":
                ended = " ended" if "durationMs" in params else ""
                return [Notice(f"subagent{ended}: {text(params, 'description') or 'no description'}")]
            case "cursor/generate_image" | "cursor/list_available_models":
                return []
        return [Unknown(f"method {in_words(method)}")]

    def _load(self, session: str, params: Fields) -> list[Event]:
        """Read a request to load a session. Its history follows as updates, before the response."""
        facts = self._sessions.describe(session, RunInfo(session_id=session, cwd=text(params, "cwd")))
        if self._sessions.is_seen(session):
            self._loading = session
            return facts
        self._replays = True
        return [*facts, *self._updates.enter(session), RunInfo(repeats_history=True)]

    def _replayed(self) -> list[Event]:
        ended, self._replays = self._replays, False
        return [RunInfo(repeats_history=False)] if ended else []

    def _asked(self, session: str | None, params: Fields, fields: Fields) -> list[Event]:
        call = asked_call(params)
        events = [*self._unblocked(session, _ASKED), *self._updates.call(session, call, announces=True)]
        tool, target = self._calls.asked(session, text(call, "toolCallId") or "")
        subject = (tool or text(call, "title") or text(params, "title") or "permission")[:4096]
        options = _options(params, "optionId", "kind")
        request = Request(PERMISSION, session, 0, text(call, "toolCallId"), subject, options)
        self._requests.add(fields, request)
        key = _question_key(fields)
        return [*events, Permission(request.subject, None, key=key, call_id=request.call_id, target=target)]

    def _answered(self, fields: Fields) -> list[Event]:
        request = self._requests.answered(fields)
        result, error = mapping(fields.get("result")), fields.get("error")
        if request is None:
            return self._failed_unasked(error) if error is not None else []
        session = request.session
        if request.method in ASKING:
            reason = refusal = None
            if error is not None:
                answer = "not answered"
            elif request.method == PERMISSION:
                answer, refusal = answer_of(request, result)
            else:
                answer, reason = reply_of(request, result)
            if refusal is not None:
                self._calls.refuse(session, request.call_id, refusal)
            subject, key = request.subject or "permission", _question_key(fields)
            return [Permission(subject, answer, reason, key=key, call_id=request.call_id)]
        if request.method == PROMPT:
            if error is None and "stopReason" not in result:
                return []  # version 2 of the protocol: an update ends the turn
            return self._turn_ended(session, result, error, has_next=self._requests.has_prompt(request))
        if error is not None:
            is_load = request.method == "session/load"
            self._loading = None if is_load else self._loading
            lead = self._replayed() if is_load else []
            return [
                *lead,
                Notice(f"{request.method}: {_error_text(error)}", is_error=request.method in _OPENS),
            ]
        return self._confirmed(request, result)

    def _confirmed(self, request: Request, result: Fields) -> list[Event]:
        session = request.session
        match request.method:
            case "initialize":
                self._sessions.agent = agent_facts(result)
            case method if method in _OPENS:
                given = short(text(result, "sessionId"))
                session = given or (None if method == NEW_SESSION else session)
                facts = session_facts(result)._replace(session_id=session, cwd=request.value)
                known = self._sessions.describe(session, facts)
                self._loading = None
                if method == "session/load":
                    self._updates.turn_ended()
                    known = [*self._replayed(), *known]
                return known + self._updates.enter(session)
            case "terminal/create":
                self._terminals.created(text(result, "terminalId"), request.value)
            case "terminal/wait_for_exit":
                self._terminals.exited(request.value, result)
            case "terminal/output":
                self._terminals.exited(request.value, mapping(result.get("exitStatus")))
            case "session/set_config_option":
                return self._sessions.describe(session, option_facts(result))
            case method:
                mode = request.value if method == "session/set_mode" else None
                model = request.value if method == "session/set_model" else None
                return self._sessions.describe(session, RunInfo(model=model, permission_mode=mode))
        return []

    def _turn_ended(
        self, session: str | None, result: Fields, error: object = None, *, has_next: bool = False
    ) -> list[Event]:
        """Return the events of a response to a prompt; `has_next` means that another prompt is waiting."""
        events = self._updates.end_texts()
        if self._sessions.is_side(session):
            self._sessions.end_side(session)
            return events
        events += self._calls.end_refused(session or self._sessions.main)
        events += prompt_usage(result)
        if has_next:
            return events
        self._updates.turn_ended()
        reason = text(result, "stopReason")
        outcome = _STOPS.get(reason or "", Outcome.FAILED)
        if error is not None:
            is_cancelled = mapping(error).get("code") == _CANCELLED
            outcome = Outcome.CANCELLED if is_cancelled else Outcome.FAILED
        why = _error_text(error) if error is not None else reason
        ended = TurnEnded(
            outcome=outcome,
            result=why if outcome is Outcome.FAILED else None,
            session_id=session,
            usage=mapping(result.get("usage")) or None,
        )
        is_known = error is not None or reason in _STOPS
        return [*events, ended] if is_known else [*events, ended, Unknown(f"stop reason {in_words(reason)}")]

    def _failed_unasked(self, error: object) -> list[Event]:
        """Return the events of an error whose request is not in the log: only the agent's lines are."""
        notice = Notice(_error_text(error), is_error=True)
        return [notice] if not self._updates.is_implied else [notice, *self._turn_ended(None, {}, error)]


def _question_key(fields: Fields) -> str:
    return f"permission {in_words(fields.get('id'))}"


def _error_text(error: object) -> str:
    body = mapping(error)
    data = body.get("data")
    details = (
        data if isinstance(data, str) else text(mapping(data), "details") or text(mapping(data), "message")
    )
    message = text(body, "message") or "error"
    return f"{message}: {details}" if details and details != message else message
