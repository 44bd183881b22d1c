"""Reads the result line that ends a Cursor run."""

from __future__ import annotations

from agentwatch.events import Event, Outcome, Tokens, TurnEnded, Usage, UsageScope
from agentwatch.wire.fields import Fields, mapping, number, scalars, text


def run_ended(fields: Fields) -> list[Event]:
    """Read a result line: the end of the turn, then its token counts.

    `is_error` decides whether the run failed. The subtype may be translated, so it decides only if there is
    no `is_error`.
    """
    is_error = fields.get("is_error")
    failed = is_error if isinstance(is_error, bool) else fields.get("subtype") != "success"
    result = fields.get("result")
    usage = mapping(fields.get("usage"))
    ended = TurnEnded(
        outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
        result=result if isinstance(result, str) else None,
        session_id=text(fields, "session_id"),
        request_id=text(fields, "request_id"),
        duration_ms=number(fields, "duration_ms"),
        duration_api_ms=number(fields, "duration_api_ms"),
        usage=scalars(fields.get("usage")),
    )
    return [ended, Usage(_tokens(usage), UsageScope.TURN)] if usage else [ended]


def _tokens(usage: Fields) -> Tokens:
    """Return the tokens of an invocation, summed over its model calls. Cursor gives no cost and no context.

    `inputTokens` excludes the tokens read from the cache and those written to it.
    """
    counts = [number(usage, key) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens")]
    return Tokens(
        input=None if counts[0] is None else sum(count or 0 for count in counts),
        cached=number(usage, "cacheReadTokens"),
        output=number(usage, "outputTokens"),
    )
