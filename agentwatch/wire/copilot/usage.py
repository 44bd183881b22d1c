"""Reads Copilot's token counts. Its `cost` counts premium requests, not dollars."""

from __future__ import annotations

from agentwatch.events import Event, Tokens, Usage, UsageScope
from agentwatch.wire.fields import Fields, known_sum, mapping, number, text

_MOST_REQUESTS = 64
_MOST_ID = 1000
"""In characters. The ids in captures have at most 64."""
_MOST_MODELS = 1000


class Counts:
    """The token counts of one recording."""

    def __init__(self) -> None:
        self._requests: dict[str, None] = {}
        """The ids of the last requests. One may be reported by two lines, of which one is not on disk."""
        self._are_known = False
        """Whether a request was counted by itself."""
        self._said = 0
        """The tokens of the messages, which are all that the stream of most versions has."""

    def request(self, usage: Fields, *, is_main: bool) -> list[Event]:
        """Return the count of one request to the model, unless it is known.

        `inputTokens` includes what the cache was read. The context is that of the main agent.
        """
        request = text(usage, "apiCallId") or text(usage, "providerCallId")
        if request is not None and len(request) <= _MOST_ID:
            if request in self._requests:
                return []
            self._requests[request] = None
            if len(self._requests) > _MOST_REQUESTS:
                del self._requests[next(iter(self._requests))]
        tokens = _tokens(usage)
        if not (tokens.input or tokens.output):
            return []
        self._are_known = True
        if is_main:
            used = (tokens.input or 0) + (tokens.output or 0)
            tokens = tokens._replace(context_used=used, context_size=number(usage, "maxPromptTokens"))
        return [Usage(tokens, UsageScope.REQUEST)]

    def message(self, data: Fields) -> None:
        """Add the output tokens of a message."""
        self._said += max(0, number(data, "outputTokens") or 0)

    def result(self) -> list[Event]:
        """Return the output tokens of a stream at its end, if its requests were not counted."""
        if self._are_known or not self._said:
            return []
        return [Usage(Tokens(output=self._said), UsageScope.RUN)]

    def total(self, data: Fields) -> list[Event]:
        """Return the counts of the whole session at its end, if its requests were not counted."""
        if self._are_known:
            return []
        models = list(mapping(data.get("modelMetrics")).values())[:_MOST_MODELS]
        counts = [_tokens(mapping(mapping(model).get("usage"))) for model in models]
        details = mapping(data.get("tokenDetails"))
        by_kind = {key: number(mapping(value), "tokenCount") for key, value in details.items()}
        total = Tokens(
            input=known_sum([each.input for each in counts]) or by_kind.get("input"),
            cached=known_sum([each.cached for each in counts]) or by_kind.get("cache_read"),
            output=known_sum([each.output for each in counts]) or by_kind.get("output"),
            context_used=number(data, "currentTokens"),
        )
        return [Usage(total, UsageScope.RUN)] if any(total) else []


def context(data: Fields) -> list[Event]:
    """Return how much of the model's context is in use."""
    tokens = Tokens(context_used=number(data, "currentTokens"), context_size=number(data, "tokenLimit"))
    return [Usage(tokens, UsageScope.REQUEST)] if any(tokens) else []


def _tokens(usage: Fields) -> Tokens:
    return Tokens(
        input=number(usage, "inputTokens"),
        cached=number(usage, "cacheReadTokens"),
        output=number(usage, "outputTokens"),
    )
