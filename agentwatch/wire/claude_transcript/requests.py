"""The token counts of the requests to the model, and the cost that Claude Code writes now and then."""

from __future__ import annotations

from collections import OrderedDict

from agentwatch.events import Tokens, Usage, UsageScope
from agentwatch.wire.fields import Fields, mapping, number, text

_MOST_ID = 1000
"""In characters."""
_MOST_MESSAGES = 64
"""The messages of several requests are rarely mixed."""


class Requests:
    """Counts the tokens of each message once: its lines, one for each block, all repeat them."""

    def __init__(self) -> None:
        self._counted: OrderedDict[str, Tokens] = OrderedDict()
        self._last: object = None
        """The last message that was counted, and its counts: most lines repeat them."""

    def usage(self, message: Fields, at_ms: int | None) -> Usage | None:
        """Return what a line of a message adds to the counts; None if it adds nothing.

        Only the last line of a message has the final count of its output.
        """
        counts, message_id = mapping(message.get("usage")), text(message, "id")
        cached, output = number(counts, "cache_read_input_tokens"), number(counts, "output_tokens")
        parts = (number(counts, "input_tokens"), cached, number(counts, "cache_creation_input_tokens"))
        last = (message_id, parts, output)
        if last == self._last:
            return None
        given = [part for part in parts if part is not None]
        tokens = Tokens(sum(given) if given else None, cached, output)
        if message_id is None or len(message_id) > _MOST_ID or not any(tokens):
            return None
        self._last = last
        before = self._counted.get(message_id, Tokens())
        self._counted[message_id] = tokens
        if len(self._counted) > _MOST_MESSAGES:
            self._counted.popitem(last=False)
        if tokens == before:
            return None
        added = Tokens(
            _added(tokens.input, before.input),
            _added(tokens.cached, before.cached),
            _added(tokens.output, before.output),
            context_used=tokens.input or None,
        )
        return Usage(added, UsageScope.REQUEST, at_ms)


def cost(fields: Fields) -> Usage | None:
    """Return the cost of the process so far, from a `cost-state` line."""
    total = fields.get("totalCostUSD")
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 <= total < 1e9:
        return None
    return Usage(Tokens(cost_usd=float(total)), UsageScope.RUN)


def _added(now: int | None, before: int | None) -> int | None:
    return now if now is None or before is None else now - before
