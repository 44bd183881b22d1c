"""Reads the end of a step of opencode's: its reason, its tokens, and the errors that end a turn."""

from __future__ import annotations

from agentwatch.events import Outcome, Tokens, Usage, UsageScope
from agentwatch.wire.fields import Fields, cost, known_sum, mapping, number, text

_OUTCOMES = {
    "stop": Outcome.SUCCEEDED,
    "end_turn": Outcome.SUCCEEDED,
    "length": Outcome.FAILED,
    "content-filter": Outcome.FAILED,
    "error": Outcome.FAILED,
}
"""How the turn ends with a step, by the reason of the step. After another reason it continues, or nothing is
known about its end: `tool-calls`, `unknown`, `other`."""


def turn_outcome(reason: object) -> Outcome | None:
    """Return the outcome of a turn whose last step ended for a reason; None if the turn may continue."""
    return _OUTCOMES.get(reason) if isinstance(reason, str) else None


def error_message(error: object) -> str | None:
    """Return the message of an error; None if it is no error.

    An error has a name, and a message in its `data`. Some have no message.
    """
    if isinstance(error, str):
        return error or None
    fields = mapping(error)
    return text(mapping(fields.get("data")), "message") or text(fields, "message") or text(fields, "name")


def usage(part: Fields) -> Usage:
    """Return the tokens of a step. Its `input` excludes the cache, its `output` excludes the reasoning."""
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
        context_used=known_sum((*inputs, *outputs)),
    )
    return Usage(counts, UsageScope.REQUEST)
