"""Reads the agent's requests for permission, and the answers to them."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Outcome
from agentwatch.wire.acp.requests import PERMISSION, Request, short
from agentwatch.wire.fields import Fields, items, mapping, text

_MOST_OPTIONS = 64
_ANSWERS = {
    "allow_once": "allowed",
    "allow_always": "always allowed",
    "reject_once": "rejected",
    "reject_always": "always rejected",
}


def asked_call(params: Fields) -> Fields:
    """Return the call that a request is about. It may be the only line that describes the call."""
    return mapping(params.get("toolCall")) or mapping(mapping(params.get("subject")).get("toolCall"))


def request_of(params: Fields, call: Fields, session: str | None, tool: str) -> Request:
    """Return what is kept of a request until it is answered.

    Args:
        params: The parameters of the request.
        call: The call that it is about.
        session: The session of the call.
        tool: The name of the tool.
    """
    options: dict[str, str] = {}
    for option in map(mapping, islice(items(params.get("options")), _MOST_OPTIONS)):
        name, kind = short(text(option, "optionId")), short(text(option, "kind"))
        if name is not None and kind is not None:
            options[name] = kind
    subject = tool or text(call, "title") or text(params, "title") or "permission"
    return Request(PERMISSION, session, 0, text(call, "toolCallId"), subject[:4096], options)


def answer_of(request: Request, result: Fields) -> tuple[str, Outcome | None]:
    """Return an answer in words, and the outcome of the call if it is refused; None if it is allowed."""
    outcome = mapping(result.get("outcome"))
    chosen = text(outcome, "optionId")
    kind = request.options.get(chosen or "", "")
    if outcome.get("outcome") == "cancelled":
        return "cancelled", Outcome.CANCELLED
    refusal = Outcome.REJECTED if kind.startswith("reject") else None
    return _ANSWERS.get(kind) or short(chosen) or "answered", refusal
