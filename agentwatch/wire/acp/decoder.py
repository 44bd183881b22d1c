"""Decodes the JSON-RPC lines of the protocol, in both directions or only the agent's."""

from __future__ import annotations

from agentwatch.events import (
    Event,
    Notice,
    Outcome,
    Permission,
    RunInfo,
    TurnEnded,
    Unknown,
)
from agentwatch.wire.acp.calls.open_calls import Calls
from agentwatch.wire.acp.calls.terminals import Terminals, command_line
from agentwatch.wire.acp.facts import agent_facts, chosen, chosen_facts, option_facts, session_facts
from agentwatch.wire.acp.permissions import answer_of, asked_call, request_of
from agentwatch.wire.acp.requests import (
    INITIALIZE,
    NEW_SESSION,
    PERMISSION,
    PROMPT,
    Request,
    Requests,
    short,
)
from agentwatch.wire.acp.sessions import Sessions
from agentwatch.wire.acp.text import prompt_text
from agentwatch.wire.acp.updates import Updates
from agentwatch.wire.acp.usage import prompt_usage
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, in_words, mapping, text

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


class Decoder:
    """Decodes the lines of a log, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._requests = Requests()
        self._sessions = Sessions()
        self._terminals = Terminals()
        self._calls = Calls(self._terminals)
        self._updates = Updates(self._sessions, self._calls, self._terminals)
        self._loading: str | None = None
        """The session whose history is being replayed although the log contains it."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
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
        """Return the events of consecutive deltas, or None if they must be decoded one by one."""
        return self._updates.burst(burst)

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream."""
        return [*self._updates.end_prompt(), *self._updates.end_texts()]

    def _update(self, fields: Fields, params: Fields) -> list[Event]:
        session, update = text(params, "sessionId"), mapping(params.get("update"))
        if self._loading is not None and session == self._loading:
            return []
        if update.get("sessionUpdate") == "state_update" and update.get("state") == "idle":
            lead = self._updates.end_prompt()
            return [*lead, *self._turn_ended(session, update)] if "stopReason" in update else lead
        return self._updates.decode(session, update, fields)

    def _called(self, method: str, params: Fields, fields: Fields) -> list[Event]:
        session = short(text(params, "sessionId"))
        if method == PERMISSION:
            return self._asked(session, params, fields)
        value = (
            text(params, "cwd")
            or chosen(method, params)
            or text(params, "terminalId")
            or command_line(params)
        )
        if method == INITIALIZE:
            self._requests.clear()
            self._sessions.restart()
        self._requests.add(fields, Request(method, session, value=value and value[:4096]))
        if method == INITIALIZE:
            self._updates.turn_ended()
            return []
        if method == PROMPT:
            words = prompt_text(params.get("prompt"))
            return [*self._updates.enter(session), *self._updates.prompted(session, words)]
        if method == "session/load" and session is not None:
            return self._load(session, params)
        if method == "session/cancel":
            self._calls.cancel(session)
            return [Notice("the client cancels the turn")]
        return [] if method.startswith(_KNOWN) else [Unknown(f"method {in_words(method)}")]

    def _load(self, session: str, params: Fields) -> list[Event]:
        """Read a request to load a session. Its history follows as updates, before the response."""
        facts = self._sessions.describe(session, RunInfo(session_id=session, cwd=text(params, "cwd")))
        if self._sessions.is_seen(session):
            self._loading = session
            return facts
        return facts + self._updates.enter(session)

    def _asked(self, session: str | None, params: Fields, fields: Fields) -> list[Event]:
        call = asked_call(params)
        events = self._updates.call(session, call, announces=True)
        tool, target = self._calls.asked(session, text(call, "toolCallId") or "")
        request = request_of(params, call, session, tool)
        self._requests.add(fields, request)
        key = f"permission {in_words(fields.get('id'))}"
        question = Permission(request.subject, None, key=key, call_id=request.call_id, target=target)
        return [*events, question]

    def _answered(self, fields: Fields) -> list[Event]:
        request = self._requests.answered(fields)
        result, error = mapping(fields.get("result")), fields.get("error")
        if request is None:
            return self._failed_unasked(error) if error is not None else []
        session = request.session
        if request.method == PERMISSION:
            answer, refusal = answer_of(request, result)
            if refusal is not None:
                self._calls.refuse(session, request.call_id, refusal)
            key = f"permission {in_words(fields.get('id'))}"
            return [Permission(request.subject or "permission", answer, key=key, call_id=request.call_id)]
        if request.method == PROMPT:
            if error is None and "stopReason" not in result:
                return []  # version 2 of the protocol: an update ends the turn
            return self._turn_ended(session, result, error, has_next=self._requests.has_prompt(request))
        if error is not None:
            self._loading = None if request.method == "session/load" else self._loading
            return [Notice(f"{request.method}: {_words(error)}", is_error=request.method in _OPENS)]
        return self._confirmed(request, result)

    def _confirmed(self, request: Request, result: Fields) -> list[Event]:
        """Return the events of a result that is no turn's and no permission's."""
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
                return self._sessions.describe(session, chosen_facts(method, request.value))
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
        outcome = _STOPS.get(reason or "", Outcome.FAILED) if error is None else _outcome(error)
        why = _words(error) if error is not None else reason
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
        notice = Notice(_words(error), is_error=True)
        return [notice] if not self._updates.is_implied else [notice, *self._turn_ended(None, {}, error)]


def _outcome(error: object) -> Outcome:
    return Outcome.CANCELLED if mapping(error).get("code") == _CANCELLED else Outcome.FAILED


def _words(error: object) -> str:
    """Return the message of a JSON-RPC error, and the details that agents add to it."""
    body = mapping(error)
    data = body.get("data")
    details = (
        data if isinstance(data, str) else text(mapping(data), "details") or text(mapping(data), "message")
    )
    message = text(body, "message") or "error"
    return f"{message}: {details}" if details and details != message else message
