"""Estimates the cost of tokens by the price list of `genai-prices`, which the extra `prices` installs.

The list is imported at the first estimate: that takes 0.26 s. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.session.counts import DAY_MS, Use, Uses
from agentwatch.session.events import Tokens
from agentwatch.text.times import utc

if TYPE_CHECKING:
    from agentwatch.session.session import Session

_MOST_NAME = 200
"""Longer names of models have no price."""


class Estimate(NamedTuple):
    cost_usd: float | None
    """The estimated cost; None without a price list, without tokens, or if no model has a price."""
    unpriced: frozenset[str]
    """The models without a price, whose tokens are not in `cost_usd`."""


@cache
def price_list() -> str | None:
    """Return the name and version of the price list: `genai-prices 0.2.3`; None if it is not installed."""
    if not is_installed():
        return None
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


@cache
def is_installed() -> bool:
    return find_spec("genai_prices") is not None


def estimate(used: Iterable[tuple[Use, Tokens]]) -> Estimate:
    """Return what tokens cost by their model, the size of their request and its day.

    Example:
        >>> found = estimate([(Use("claude-opus-4-5", None, 0), Tokens(input=1_000_000, output=100_000))])
        >>> found.cost_usd in (7.5, None)
        True
    """
    total: float | None = None
    unpriced: set[str] = set()
    for use, tokens in used if is_installed() else ():
        if tokens.input or tokens.output:
            prices = _prices_of(use)
            if prices is None:
                unpriced.add(use.model or "unknown")
            else:
                total = (total or 0.0) + prices.of(tokens)
    return Estimate(total, frozenset(unpriced))


def no_uses() -> Uses | None:
    """Return the counts by which the cost of a session is estimated, still empty; None without a list."""
    return Uses(by_request=False) if is_installed() else None


def count_uses(session: Session) -> None:
    """Let a session that has read nothing count what its cost is estimated by, if there is a list."""
    session.uses = no_uses()


def cost_of(session: Session, now_ms: int | None = None) -> float | None:
    """Return the estimated cost of a session; None if the agent reports a cost, or nothing was counted.
    `now_ms` is the time of what has none, by its day; None for the present minute."""
    if session.uses is None or session.tokens.cost_usd is not None:
        return None
    session.uses.model = session.run.model
    used = session.uses.priced()
    if now_ms is not None:
        used = [(use._replace(at_ms=now_ms) if use.at_ms is None else use, each) for use, each in used]
    return estimate(used).cost_usd


class Prices(NamedTuple):
    """The prices of one token in dollars."""

    input: float
    cached: float
    written: float
    written_1h: float
    output: float

    def of(self, tokens: Tokens) -> float:
        cached, written, kept = tokens.cached or 0, tokens.written or 0, tokens.written_1h or 0
        plain = max((tokens.input or 0) - cached - written, 0)
        return (
            plain * self.input
            + cached * self.cached
            + max(written - kept, 0) * self.written
            + kept * self.written_1h
            + (tokens.output or 0) * self.output
        )


looked_up: dict[Use, Prices | None] = {}
"""The prices that the list was asked for: of a model, on a day, for a size of request. None without a price.

A day of None is today. Those that were kept may be added before the first estimate.
"""


def _prices_of(use: Use) -> Prices | None:
    if use.model is None or len(use.model) > _MOST_NAME:
        return None
    of_day = use._replace(at_ms=use.at_ms - late_ms) if use.at_ms and (late_ms := use.at_ms % DAY_MS) else use
    if of_day not in looked_up:
        looked_up[of_day] = _asked(use.model, of_day)
    return looked_up[of_day]


def _asked(model: str, use: Use) -> Prices | None:
    from genai_prices import Usage, calc_price

    at = utc(use.at_ms)
    sent = use.size + 1

    def price(**counts: int) -> float:
        usage = Usage(input_tokens=sent, **counts)
        return float(calc_price(usage, model, genai_request_timestamp=at).total_price)

    try:
        plain = price()
        return Prices(
            plain / sent,
            price(cache_read_tokens=sent) / sent,
            price(cache_write_tokens=sent) / sent,
            price(cache_write_tokens=sent, cache_write_1h_tokens=sent) / sent,
            price(output_tokens=1_000_000) / 1_000_000 - plain / 1_000_000,
        )
    except LookupError:
        return None
