"""Decodes the updates of sessions: texts, calls, plans, modes and notices."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Prompt,
    RunInfo,
    Text,
    TextEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.wire.acp.calls.open_calls import Calls, Owner, plan_in
from agentwatch.wire.acp.calls.terminals import Terminals
from agentwatch.wire.acp.facts import option_facts
from agentwatch.wire.acp.sessions import Sessions
from agentwatch.wire.acp.text import (
    Answers,
    HeldTexts,
    attachment,
    chunk_text,
    count_of,
    prompt_text,
    with_halves,
)
from agentwatch.wire.acp.usage import context_usage
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, in_words, items, mapping, text
from agentwatch.wire.json_line import whole_text

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
    """Decodes updates, and keeps the turn and the texts that they belong to."""

    def __init__(self, sessions: Sessions, calls: Calls, terminals: Terminals) -> None:
        self._sessions = sessions
        self._calls = calls
        self._terminals = terminals
        self._answers = Answers()
        self._held = HeldTexts()
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
        """Make a session the main one if no turn is open."""
        events = self._sessions.begin(session, is_turn_open=self._is_open)
        if events:
            self._calls.clear()
        return events

    def prompted(self, session: str | None, words: str) -> list[Event]:
        """Return the events of a prompt that the client sent."""
        self._has_prompts = True
        self._sessions.see(session)
        if session is not None and session != self._sessions.main and self._is_open:
            self._sessions.add_side(session)
            return [Prompt(words, agent=session)]
        self._is_open = self._sessions.is_used = True
        self._echo = words if len(words) <= _MOST_PROMPT else ""
        return [Prompt(words)]

    def turn_ended(self) -> None:
        """Note that the turn of the main session has ended."""
        self._is_open = False
        self._echo = ""

    def end_texts(self) -> list[Event]:
        """Return the texts that are held back."""
        self.streaming = None
        return [*self._answers.end(), *self._held.end_all()]

    def end_prompt(self) -> list[Event]:
        """Return the user's message that was gathered from chunks, unless it repeats the prompt."""
        if self._user is None:
            return []
        agent, _, pieces = self._user
        words, self._user, self._user_size = whole_text("".join(pieces)), None, 0
        if not words:
            return []
        if agent is not None:
            return [Prompt(words, agent=agent)]
        if self._echo and self._echo.startswith(words):
            self._echo = self._echo[len(words) :]
            return []
        self._is_open = self._sessions.is_used = True
        return [Prompt(words)]

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return the text of consecutive deltas of the text that the line before continued."""
        if self.streaming is not burst.channel or not self._answers.is_whole(burst.channel):
            return None
        return [Text(burst.channel, "".join(burst.texts))]

    def call(self, session: str | None, call: Fields, *, announces: bool) -> list[Event]:
        """Return the events of a tool call or of its update."""
        agent, lead = self._place(session, call)
        if not text(call, "toolCallId"):
            return [*lead, Unknown("tool call without an id")]
        scope = session if self._sessions.is_other(session) else None
        owner = Owner(session, agent, scope, self._sessions.cwd(session))
        events = self._calls.update(call, owner, announces=announces)
        if events and agent is None:
            lead += [*self._implied(), *self._answers.end()]
        elif events and agent is not None:
            lead += self._held.end(agent)
        todos = mapping(call.get("rawInput")).get("todos")
        plan: list[Event] = [plan_in(todos)] if isinstance(todos, list) and agent is None and events else []
        return [*lead, *events, *plan]

    def decode(self, session: str | None, update: Fields, fields: Fields) -> list[Event]:
        """Return the events of one update.

        Args:
            session: The session that it is about.
            update: The update.
            fields: The whole line.
        """
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
                return _plan_update(mapping(update.get("plan"))) if is_main else []
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
        """Return the agent that content belongs to, and the start of its run if it begins one."""
        lead: list[Event] = []
        if self._sessions.is_other(session) and session is not None and not self._sessions.is_side(session):
            if self._is_open and self._sessions.main is not None:
                self._sessions.add_side(session)
            else:
                lead = self.enter(session)
        return self._sessions.agent_of(session, update), lead

    def _implied(self) -> list[Event]:
        """Return the start of a turn whose prompt is not in the log."""
        self._sessions.is_used = True
        if self._is_open or self._has_prompts:
            return []
        self._is_open = True
        return [TurnStarted()]

    def _add_user(self, session: str | None, update: Fields) -> list[Event]:
        agent, lead = self._place(session, update)
        self._sessions.see(session)
        message = text(update, "messageId")
        if self._user is not None and self._user[:2] != (agent, message):
            lead = [*self.end_prompt(), *lead]
        if self._user is None:
            self._user = agent, message, []
        words = prompt_text(update.get("content"))[: max(_MOST_PROMPT - self._user_size, 0)]
        self._user_size += len(words)
        self._user[2].append(words)
        return lead

    def _add_chunk(
        self, session: str | None, channel: Channel, update: Fields, fields: Fields
    ) -> list[Event]:
        agent, lead = self._place(session, update)
        self._sessions.see(session)
        if chunk_text(update) is None:
            return [*lead, attachment(update)]
        if agent is not None:
            return [*lead, *self._held.add(agent, channel, with_halves(fields, update))]
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


def _plan_update(plan: Fields) -> list[Event]:
    return [plan_in(plan.get("entries"))] if isinstance(plan.get("entries"), list) else []


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
