"""Decodes Claude Code's `--output-format stream-json`, and the same grammar of other agents.

The format is taken from captures of Claude Code 2.0 to 2.1, Qwen Code 0.15 and Amp, and from the vendor's
published types. The documentation omits these facts: an init line starts each turn; lines of hooks come
before it; a message comes as one line per block; a full block repeats its deltas; a turn that failed may say
`success`.
"""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.events import (
    Channel,
    Event,
    FormatDetected,
    Notice,
    Prompt,
    RunInfo,
    Text,
    TextEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.wire.agent import Agent
from agentwatch.wire.claude.calls import Calls
from agentwatch.wire.claude.dialect import CLAUDE_CODE, Dialect
from agentwatch.wire.claude.incidents import Incidents, authentication, rate_limit
from agentwatch.wire.claude.permissions import Permissions, denials_in, denied
from agentwatch.wire.claude.text import (
    MainText,
    blocks_of,
    delta_text,
    ends_with,
    line_ms,
    model_in,
    texts_of,
    words_in,
)
from agentwatch.wire.claude.turns import (
    INTERRUPTED,
    is_aborted,
    is_agents_own,
    more_output,
    output_so_far,
    run_info,
    run_started,
    tokens_in,
    turn_ended,
)
from agentwatch.wire.fields import Fields, in_words, mapping, text
from agentwatch.wire.oversize import Salvaged

_QUIET = frozenset(
    ("tool_progress", "tool_use_summary", "prompt_suggestion", "keep_alive", "conversation_reset")
)
_MOST_MODEL = 200


class Decoder:
    """Decodes the lines of one recording, and keeps the state that later lines depend on."""

    def __init__(self, dialect: Dialect, detect: Callable[[Fields], Agent | None] | None = None) -> None:
        """Create a decoder.

        Args:
            dialect: The agent's variant of the grammar.
            detect: Returns the agent that wrote a line, if the variant is only known to be one of the family.
        """
        self.dialect = dialect
        self._detect = detect
        self._calls = Calls(dialect.tool_named, dialect.details_in)
        self._text = MainText()
        self._incidents = Incidents(self._calls)
        self._permissions = Permissions()
        self._session_id: str | None = None
        self._has_run = False
        self._has_turn = False
        """Whether a turn has started and its result has not arrived."""
        self._has_content = False
        """Whether the agent has written anything in this turn."""
        self._is_compacting = False
        """Whether the conversation is being shortened: another init may come before it is."""
        self._is_interrupted = False
        self._model: str | None = None
        self._output = 0
        """The tokens that the main agent's newest message has written so far."""
        self._message: str | None = None
        """The id of the main agent's newest message."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        return self._events(fields) if self._detect is None else self._detecting(self._detect, fields)

    def _detecting(self, detect: Callable[[Fields], Agent | None], fields: Fields) -> list[Event]:
        """Return the events of a line of the family. The first line of a known agent decides its variant."""
        agent = detect(fields)
        decoder = None if agent is None else agent.decoder()
        if agent is None or not isinstance(decoder, Decoder) or decoder.dialect is self.dialect:
            return self._events(fields)
        self._detect, self.dialect = None, decoder.dialect
        self._calls.tool_named = decoder.dialect.tool_named
        return [FormatDetected(agent.name, agent.traits, agent.agent), *self._events(fields)]

    def _events(self, fields: Fields) -> list[Event]:
        match fields.get("type"):
            case "stream_event":
                return self._stream_event(fields)
            case "assistant":
                return self._assistant(fields)
            case "user":
                return self._user(fields)
            case "system":
                return self._system(fields)
            case "result":
                return self._result(fields)
            case "rate_limit_event":
                return rate_limit(fields)
            case "control_request":
                return [*self._permissions.ask(fields, self._calls)]
            case "control_response" | "control_cancel_request":
                return [*self._permissions.answer(fields, self._calls)]
            case "auth_status":
                return authentication(fields)
            case str(kind) if kind in _QUIET:
                return []
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def may_batch(self, line: bytes) -> bool:
        """Return whether a line may be a delta or a count of thinking tokens, and cannot start a turn."""
        is_short = b'"content_block_delta"' in line or b'"thinking_tokens"' in line
        return is_short and self._has_turn and self._detect is None

    def batch(self, lines: list[Fields]) -> tuple[list[Event], int]:
        """Return the texts of consecutive deltas, those of a channel joined, and the number of lines read."""
        texts, count = texts_of(lines)
        return [event for found in texts for event in self._text.add(*found)], count

    def end(self) -> list[Event]:
        """Return the ends of the calls that a later line would have decided."""
        return self._calls.released(is_interrupted=self._is_interrupted)

    def _system(self, fields: Fields) -> list[Event]:
        match fields.get("subtype"):
            case "thinking_tokens":
                return []
            case "init":
                return self._init(fields)
            case "permission_denied":
                self._calls.deny(text(fields, "tool_use_id"))
                return [denied(fields)]
            case "model_refusal_fallback":
                retracted = self._text.retract(fields.get("retracted_message_uuids"))
                return [*retracted, *self._incidents.system(fields)]
            case "status" | "compact_boundary" as subtype:
                if subtype == "compact_boundary" or fields.get("status") == "compacting":
                    self._is_compacting = subtype == "status"
        return self._incidents.system(fields)

    def _init(self, fields: Fields) -> list[Event]:
        """Read an init line. It starts a turn, or a run if the process is another one.

        A process that was killed leaves a turn without a result, and the next one may continue its session.
        While the conversation is being shortened, the present turn may have another init.
        """
        session_id = text(fields, "session_id")
        is_same = self._has_run and session_id is not None and session_id == self._session_id
        continues = is_same and self._has_turn and self._is_compacting
        is_new_run = not is_same or (self._has_turn and not continues)
        self._session_id, self._is_compacting = session_id, False
        self._model = (text(fields, "model") or "")[:_MOST_MODEL] or self._model
        self._calls.cwd = (text(fields, "cwd") or "").rstrip("/\\")
        if continues:
            return [run_info(fields)]
        ended = self._calls.released(is_interrupted=self._is_interrupted)
        self._begin_turn()
        if not is_new_run:
            return [*ended, run_info(fields), TurnStarted()]
        self._has_run = True
        self._calls.begin_run()
        return [*ended, run_started(fields, self.dialect), TurnStarted()]

    def _begin_turn(self) -> None:
        self._has_turn, self._has_content, self._is_interrupted = True, False, False
        self._message = None
        self._text.turn_ended()

    def _content(self, fields: Fields) -> list[Event]:
        """Return what the main agent's next line implies: a turn whose init is missing."""
        self._is_compacting = False
        if self._has_turn:
            self._has_content = True
            return self._calls.released()
        events: list[Event] = [TurnStarted()]
        if not self._has_run:
            self._has_run, self._session_id = True, text(fields, "session_id")
            events = [RunInfo(self._session_id, model_in(fields)), *events]
        self._begin_turn()
        self._has_content = True
        return events

    def _stream_event(self, fields: Fields) -> list[Event]:
        if fields.get("parent_tool_use_id") is not None:
            return []
        event = mapping(fields.get("event"))
        match event.get("type"):
            case "content_block_delta":
                found = delta_text(event.get("delta"))
                lead = [] if self._has_turn else self._content(fields)
                return lead if found is None else [*lead, *self._text.add(*found)]
            case "message_start":
                self._output = 0
                return [*self._content(fields), *self._text.message_started()]
            case "message_delta":
                before, self._output = self._output, output_so_far(event.get("usage"), self._output)
                return more_output(self._output - before)
        return []

    def _assistant(self, fields: Fields) -> list[Event]:
        message, agent = mapping(fields.get("message")), text(fields, "parent_tool_use_id")
        at_ms, uuid = line_ms(fields), text(fields, "uuid")
        events: list[Event] = []
        if agent is None:
            events += self._content(fields)
            events += self._text.retract(fields.get("supersedes")) if "supersedes" in fields else ()
            events += self._request(message)
        group = text(message, "id")
        for block in blocks_of(message):
            match block.get("type"):
                case "text":
                    events += self._written(Channel.ANSWER, text(block, "text"), agent, at_ms, uuid)
                case "thinking":
                    events += self._written(Channel.REASONING, text(block, "thinking"), agent, at_ms, uuid)
                case _ if ends_with(block, "tool_use"):
                    events.append(self._calls.start(block, agent=agent, group=group, at_ms=at_ms))
                case _ if ends_with(block, "tool_result"):
                    events += self._calls.end(block, None, agent=agent, at_ms=at_ms)
        return events

    def _written(
        self, channel: Channel, words: str | None, agent: str | None, at_ms: int | None, uuid: str | None
    ) -> list[Event]:
        """Return a full block of text."""
        if agent is None:
            return self._text.block(channel, words or "", at_ms, uuid)
        return [Text(channel, words, at_ms, agent=agent), TextEnded(channel, at_ms, agent)] if words else []

    def _request(self, message: Fields) -> list[Event]:
        """Return the tokens of a request to the model, once for all lines of its message."""
        key = (text(message, "id") or "")[:_MOST_MODEL]
        usage = mapping(message.get("usage"))
        tokens = tokens_in(usage, self.dialect, with_output=self.dialect.has_whole_usage)
        if not tokens.input or (key and key == self._message):
            return []
        self._message = key
        self._model = self._model or (text(message, "model") or "")[:_MOST_MODEL]
        return [Usage(tokens._replace(context_used=tokens.input), UsageScope.REQUEST)]

    def _user(self, fields: Fields) -> list[Event]:
        message, agent = mapping(fields.get("message")), text(fields, "parent_tool_use_id")
        at_ms, blocks = line_ms(fields), list(blocks_of(message))
        results = [block for block in blocks if ends_with(block, "tool_result")]
        structured = fields.get("tool_use_result") if len(results) == 1 else None
        is_whole, denials, events = not isinstance(fields, Salvaged), denials_in(fields), list[Event]()
        for block in results:
            denial = denials.get(text(block, "tool_use_id"))
            events += self._calls.end(
                block, structured, agent=agent, at_ms=at_ms, is_whole=is_whole, denial=denial
            )
        return [*events, *self._prompt(fields, words, agent)] if (words := words_in(blocks)) else events

    def _prompt(self, fields: Fields, words: str, agent: str | None) -> list[Event]:
        """Return the prompt in a user's line, which may also be a text of the agent itself."""
        if agent is not None:
            return [Prompt(words, agent)]
        if words.startswith(INTERRUPTED):
            self._is_interrupted = True
            return [Notice("interrupted by the user")]
        is_echo = fields.get("isReplay") is True or self.dialect.echoes_prompts or not self._has_content
        if is_agents_own(fields, words) or not is_echo:
            return []
        events = [] if self._has_turn else self._content(fields)
        self._has_content = False
        return [*events, Prompt(words)]

    def _result(self, fields: Fields) -> list[Event]:
        events: list[Event] = []
        if self._has_run and not self._has_turn:
            self._begin_turn()
            events.append(TurnStarted())
        is_interrupted = self._is_interrupted or is_aborted(fields)
        events += self._calls.turn_ended(fields.get("permission_denials"), is_interrupted=is_interrupted)
        ended = turn_ended(fields, self.dialect, self._model, is_interrupted=is_interrupted)
        self._has_run, self._has_turn, self._is_compacting = True, False, False
        self._session_id = self._session_id or text(fields, "session_id")
        self._permissions.clear()
        self._text.turn_ended()
        return [*events, *ended]


def decoder() -> Decoder:
    """Return a decoder of Claude Code's own lines."""
    return Decoder(CLAUDE_CODE)
