"""Reads the end of a step of opencode's: its reason, its tokens, and the errors that end a turn."""

from __future__ import annotations

from agentwatch.events import Outcome, Tokens, Usage, UsageScope
from agentwatch.wire.fields import Fields, mapping, number, text

_OUTCOMES = {
    "stop": Outcome.SUCCEEDED,
    "end_turn": Outcome.SUCCEEDED,
    "length": Outcome.FAILED,
    "content-filter": Outcome.FAILED,
    "error": Outcome.FAILED,
}
"""How the turn ends with a step, by the reason of the step. After another reason it continues, or nothing is
known about its end: `tool-calls`, `unknown`, `other`."""


_MOST_COST = 1e9
"""In US dollars. A larger number is no cost."""


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
        input=_sum(inputs),
        cached=cached,
        output=_sum(outputs),
        cost_usd=_cost(part.get("cost")),
        context_used=_sum((*inputs, *outputs)),
    )
    return Usage(counts, UsageScope.REQUEST)


def _sum(counts: tuple[int | None, ...]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _cost(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _MOST_COST else None
