"""Keeps the tool calls of a log: an update of a call contains only the fields that have changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentwatch.events import (
    Event,
    Outcome,
    Plan,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
)
from agentwatch.text.amounts import plural
from agentwatch.wire.acp.calls.results import (
    Change,
    change_in,
    error_in,
    exit_code_in,
    is_refused_by_rule,
    object_in,
    said_exit_code,
    terminal_output,
)
from agentwatch.wire.acp.calls.terminals import Terminals
from agentwatch.wire.acp.calls.tools import Described, Description
from agentwatch.wire.acp.text import texts_in
from agentwatch.wire.fields import Fields, text
from agentwatch.wire.plan import listed_entries
from agentwatch.wire.tool import Phrase

_MOST_OPEN = 1024
_MOST_ENDED = 4096
_MOST_OUTPUT = 1 << 16
_ENDS = {
    "completed": Outcome.SUCCEEDED,
    "failed": Outcome.FAILED,
    "cancelled": Outcome.CANCELLED,
    "canceled": Outcome.CANCELLED,
    "rejected": Outcome.REJECTED,
}
"""The states that end a call. The schema has the first two; unstable versions of agents write the others."""


@dataclass(slots=True)
class Owner:
    """Whose call it is."""

    session: str | None
    """The session that the line names."""
    agent: str | None
    """The call whose subagent made the call, or another session; None for the main agent."""
    scope: str | None
    """The session whose ids the call's id must not be confused with; None for the main one."""
    cwd: str


@dataclass(slots=True)
class _Call:
    call_id: str
    owner: Owner
    described: Described = field(default_factory=Described)
    shown: Description | None = None
    """How the call was last described; None if it has not started."""
    is_explained: bool = False
    """Whether a line with arguments has been seen."""
    refusal: Outcome | None = None
    """The outcome if the call fails: a person refused it or cancelled the turn."""
    after_cancel: bool = False
    exit_code: int | None = None
    has_said: bool = False
    """Whether the output began with the exit code."""
    change: Change | None = None


class Calls:
    """The open calls of a log, at most 1,024, and the ids of the last 4,096 that have ended."""

    def __init__(self, terminals: Terminals) -> None:
        self._terminals = terminals
        self._open: dict[int, _Call] = {}
        self._ended: dict[int, None] = {}

    def clear(self) -> None:
        """Forget all calls: another run may use their ids again."""
        self._open.clear()
        self._ended.clear()

    def update(self, fields: Fields, owner: Owner, *, announces: bool) -> list[Event]:
        """Return the events of a line about a call.

        Args:
            fields: The update, or the call in a request for permission.
            owner: Whose call it is.
            announces: Whether the line also starts the call if it ends it: only the update does not.
        """
        call_id = text(fields, "toolCallId") or ""
        key = _key(owner.session, call_id)
        if key in self._ended:
            return []
        status = fields.get("status")
        outcome = _ENDS.get(status) if isinstance(status, str) else None
        call = self._open.get(key)
        is_first = call is None
        if call is None:
            call = self._open[key] = _Call(call_id, owner)
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        explains = call.described.update(fields, is_first=is_first)
        self._read(call, fields)
        if outcome is None:
            return [*self._described(call, explains=explains), *_progress(call, fields)]
        events = self._described(call, explains=True) if announces and call.shown is None else []
        return [*events, self._end(key, call, fields, outcome, has_arguments=explains)]

    def asked(self, session: str | None, call_id: str) -> tuple[str, str | None]:
        """Return the tool and the target of a call that permission is asked for."""
        call = self._open.get(_key(session, call_id))
        if call is None or call.shown is None:
            return "", None
        return call.shown.tool, call.shown.target

    def refuse(self, session: str | None, call_id: str | None, outcome: Outcome) -> None:
        """Note that a person refused a call, or cancelled it. Its end says whether that stopped it."""
        call = self._open.get(_key(session, call_id or ""))
        if call is not None:
            call.refusal = outcome

    def cancel(self, session: str | None) -> None:
        """Note that the client cancelled the turn of a session."""
        for call in self._open.values():
            if call.owner.session == session:
                call.refusal = call.refusal or Outcome.CANCELLED
                call.after_cancel = True

    def end_refused(self, session: str | None) -> list[Event]:
        """Return the ends of the calls that a person refused and that have no line of their own for it."""
        refused = [
            (key, call)
            for key, call in self._open.items()
            if call.refusal is Outcome.REJECTED and call.owner.session == session
        ]
        return [
            self._end(key, call, {}, Outcome.REJECTED, has_arguments=False)._replace(has_result=False)
            for key, call in refused
        ]

    def _read(self, call: _Call, fields: Fields) -> None:
        """Keep what a line says about the result of a call."""
        kind = call.described.described("").kind
        said = said_exit_code(terminal_output(fields) or next(texts_in(fields.get("content")), ""))
        call.has_said = call.has_said or (said is not None and kind is ToolKind.EXECUTE)
        found = said if said is not None and call.has_said else exit_code_in(fields, kind)
        if found is not None and (said is not None or not call.has_said):
            call.exit_code = found
        call.change = change_in(fields) or call.change

    def _described(self, call: _Call, *, explains: bool) -> list[Event]:
        """Return the start of a call, or its new description."""
        shown = call.described.described(call.owner.cwd, self._terminals.command(call.described.terminals))
        is_news = shown != call.shown and (explains or not call.is_explained)
        if call.shown is not None and not is_news and not (explains and not call.is_explained):
            return []
        started = ToolStarted(
            call_id=call.call_id,
            session_id=call.owner.scope,
            tool=shown.tool,
            kind=shown.kind,
            phrase=shown.phrase,
            target=shown.target,
            path=shown.path,
            agent=call.owner.agent,
            more_paths=shown.more_paths,
            is_update=call.shown is not None,
        )
        call.shown = shown
        call.is_explained = call.is_explained or explains
        return [started]

    def _end(
        self, key: int, call: _Call, fields: Fields, outcome: Outcome, *, has_arguments: bool
    ) -> ToolEnded:
        self._open.pop(key, None)
        self._ended[key] = None
        if len(self._ended) > _MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        described = call.described
        shown = described.described(call.owner.cwd, self._terminals.command(described.terminals))
        if call.shown is not None and call.is_explained and not has_arguments:
            shown = call.shown  # opencode ends a call with another title
        code = self._terminals.exit_code(described.terminals) if call.exit_code is None else call.exit_code
        outcome, error = _judged(call, fields, outcome, code)
        change = call.change if outcome is Outcome.SUCCEEDED and shown.kind is ToolKind.EDIT else None
        change = change or Change()
        added = described.arguments.content_lines if change.is_new and change.added is None else change.added
        return ToolEnded(
            call_id=call.call_id,
            session_id=call.owner.scope,
            tool=shown.tool,
            kind=shown.kind,
            outcome=outcome,
            phrase=Phrase.CREATED if change.is_new else shown.phrase,
            has_arguments=shown.target is not None,
            target=shown.target,
            path=shown.path,
            error=error,
            note=_note(call, change, added, outcome),
            exit_code=code,
            is_new_file=change.is_new,
            lines_added=added,
            lines_removed=change.removed,
            agent=call.owner.agent,
            more_paths=shown.more_paths,
        )


def _judged(call: _Call, fields: Fields, outcome: Outcome, code: int | None) -> tuple[Outcome, str | None]:
    """Return the outcome of a call and why it failed."""
    if outcome is Outcome.SUCCEEDED:
        if code:
            return Outcome.FAILED, f"exit {code}"
        if object_in(fields.get("rawOutput")).get("isError") is True:
            return Outcome.FAILED, error_in(fields) or "the tool says so"
        return outcome, None
    if outcome is Outcome.FAILED:
        if is_refused_by_rule(fields):
            return Outcome.REJECTED, error_in(fields)
        if call.refusal is not None:
            return call.refusal, error_in(fields)
        return outcome, f"exit {code}" if code else error_in(fields)
    return outcome, error_in(fields)


def _note(call: _Call, change: Change, added: int | None, outcome: Outcome) -> str | None:
    if outcome is not Outcome.SUCCEEDED:
        return None
    if call.after_cancel:
        return "after the cancel"
    return plural(added, "line") if change.is_new and added is not None else None


def _progress(call: _Call, fields: Fields) -> list[Event]:
    """Return what an open call has printed."""
    output, is_whole = terminal_output(fields), False
    if output is None and fields.get("status") == "in_progress":
        output, is_whole = "\n".join(texts_in(fields.get("content"))), True
    if not output:
        return []
    return [ToolProgress(call.call_id, call.owner.scope, output[-_MOST_OUTPUT:], is_whole)]


def plan_in(entries: object) -> Plan:
    """Return a plan: entries of a `plan` update, or the to-do list in the arguments of a call."""
    return Plan(listed_entries(entries, "content"))


def _key(session: str | None, call_id: str) -> int:
    """Return a number for a call: ids may be long, and 4,096 of them are kept."""
    return hash((session, call_id))
