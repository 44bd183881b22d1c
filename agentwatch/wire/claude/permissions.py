"""Reads the questions for permission that a stream with the control protocol contains, and their answers."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Permission
from agentwatch.wire.claude.calls import Calls
from agentwatch.wire.fields import Fields, items, mapping, text

_MAX_OPEN = 64
_MOST_ID = 1000
_MOST_TARGET = 10_000
"""In characters. A target is shown in at most 200 columns."""
_ANSWERS = {"allow": "allowed", "deny": "denied"}


class _Asked(NamedTuple):
    subject: str
    call_id: str | None


class Permissions:
    """The open questions, by the id of their request; at most 64."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}

    def ask(self, fields: Fields, calls: Calls) -> list[Permission]:
        """Read a `control_request`. Other requests than `can_use_tool` are the program's own."""
        request, key = mapping(fields.get("request")), text(fields, "request_id")
        if request.get("subtype") != "can_use_tool" or key is None or len(key) > _MOST_ID:
            return []
        subject = (text(request, "tool_name") or "tool")[:_MOST_ID]
        target, _ = calls.described(subject, mapping(request.get("input")))
        call_id = text(request, "tool_use_id")
        self._asked[key] = _Asked(subject, call_id and call_id[:_MOST_ID])
        if len(self._asked) > _MAX_OPEN:
            del self._asked[next(iter(self._asked))]
        reason = text(request, "decision_reason")
        shown = target and target[:_MOST_TARGET]
        return [Permission(subject, None, reason, key=key, call_id=call_id, target=shown)]

    def answer(self, fields: Fields, calls: Calls) -> list[Permission]:
        """Read a `control_response` or a `control_cancel_request`."""
        response = mapping(fields.get("response"))
        key = text(response, "request_id") or text(fields, "request_id") or ""
        asked = self._asked.pop(key, None)
        if asked is None:
            return []
        if fields.get("type") == "control_cancel_request":
            return [Permission(asked.subject, "withdrawn", key=key, call_id=asked.call_id)]
        body = mapping(response.get("response"))
        behavior = text(body, "behavior")
        if behavior == "deny":
            calls.deny(asked.call_id)
        answer = _ANSWERS.get(behavior or "", "answered")
        return [Permission(asked.subject, answer, text(body, "message"), key=key, call_id=asked.call_id)]

    def clear(self) -> None:
        """Forget all questions: the turn has ended."""
        self._asked.clear()


def denials_in(fields: Fields) -> dict[str | None, str | None]:
    """Return why calls did not run, or did not end, by their ids. Versions from 2.1.216 say it."""
    metas = map(mapping, items(fields.get("tool_result_meta")))
    return {text(meta, "id"): text(meta, "non_execution_kind") for meta in metas}


def denied(fields: Fields) -> Permission:
    """Read a `permission_denied` line, or one of the `permission_denials` of a result."""
    reason = text(fields, "message") or text(fields, "decision_reason")
    subject = text(fields, "tool_name") or "tool"
    return Permission(subject, "denied", reason, call_id=text(fields, "tool_use_id"), is_automatic=True)
