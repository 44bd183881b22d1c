"""Tokens without a reported cost are priced by the list of genai-prices, request by request."""

from datetime import UTC, datetime

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelPrice, TieredPrices

from agentwatch.analysis import prices
from agentwatch.analysis.prices import Estimate, estimate
from agentwatch.session.counts import SIZES, Use
from agentwatch.session.events import Tokens
from tests.conftest import case

_AT_MS = 1_790_000_000_000
_MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "gpt-5.1-codex", "gemini-2.5-pro")


def test_an_estimate_is_what_the_list_asks_for_each_request() -> None:
    """Sums of requests of one size cost what the requests cost. Each kind of token has its price, and a
    request that exceeds a size of the list has the price of that size.
    """
    for model in _MODELS:
        for sent, size in ((1_000, 0), (150_000, 128_000), (250_000, 200_000)):
            with case(f"{model}, {sent}"):
                request = Tokens(sent, sent // 2, 700, written=sent // 4, written_1h=sent // 8)
                usage = Usage(
                    input_tokens=sent,
                    cache_read_tokens=request.cached,
                    cache_write_tokens=request.written,
                    cache_write_1h_tokens=request.written_1h,
                    output_tokens=request.output,
                )
                at = datetime.fromtimestamp(_AT_MS / 1000, UTC)
                asked = float(calc_price(usage, model, genai_request_timestamp=at).total_price)
                found = estimate([(Use(model, _AT_MS, size), request)] * 3)
                assert found.cost_usd == pytest.approx(3 * asked)
                assert not found.unpriced
    # Every size from which the list has another price is one of ours.
    starts = {
        tier.start
        for provider in get_snapshot().providers
        for model in provider.models
        for each in (model.prices if isinstance(model.prices, list) else [model.prices])
        for price in vars(each if isinstance(each, ModelPrice) else each.prices).values()
        if isinstance(price, TieredPrices)
        for tier in price.tiers
    }
    assert starts
    assert starts <= {*SIZES}


def test_what_has_no_price_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that the list lacks is named, and adds nothing. Without the list there is no estimate."""
    priced = Use(_MODELS[0], None, 0), Tokens(input=1_000_000)
    alone = estimate([priced]).cost_usd
    assert alone
    for model, name in (
        ("composer-1", "composer-1"),
        (None, "unknown"),
        ("x" * 9999, "x" * 9999),
        ("", "unknown"),
    ):
        with case(str(model)[:20]):
            unknown = Use(model, None, 0), Tokens(input=5)
            assert estimate([priced, unknown]) == Estimate(alone, frozenset({name}))
            assert estimate([unknown]) == Estimate(None, frozenset({name}))
    assert (
        estimate([(Use("x", None, 0), Tokens(cost_usd=1.0))]) == estimate([]) == Estimate(None, frozenset())
    )
    assert (prices.price_list() or "").startswith("genai-prices ")
    monkeypatch.setattr(prices, "find_spec", lambda name: None)
    prices.price_list.cache_clear()
    prices.is_installed.cache_clear()
    try:
        assert prices.price_list() is None
        assert estimate([priced]) == Estimate(None, frozenset())
    finally:
        prices.price_list.cache_clear()
        prices.is_installed.cache_clear()
