"""Reads token counts, costs and the size of the context."""

from __future__ import annotations

from agentwatch.events import Event, Tokens, Usage, UsageScope
from agentwatch.wire.acp.text import count_of
from agentwatch.wire.fields import Fields, mapping, text

_MOST_DOLLARS = 1e12


def context_usage(update: Fields) -> list[Event]:
    """Return the context and the cost of a session. The cost is that of the whole session, by the schema."""
    tokens = Tokens(
        cost_usd=_dollars(mapping(update.get("cost"))),
        context_used=count_of(update, "used"),
        context_size=count_of(update, "size"),
    )
    return [] if tokens == Tokens() else [Usage(tokens, UsageScope.RUN)]


def prompt_usage(result: Fields) -> list[Event]:
    """Return the tokens in the response to a prompt.

    By the schema, `usage` counts all turns of the session. gemini-cli has the tokens of the turn in `_meta`;
    its input includes what was read from the cache.
    """
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


def _dollars(cost: Fields) -> float | None:
    amount = cost.get("amount")
    if not isinstance(amount, int | float) or isinstance(amount, bool) or not 0 <= amount < _MOST_DOLLARS:
        return None
    return float(amount) if text(cost, "currency") == "USD" else None
