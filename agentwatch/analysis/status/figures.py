"""The figures of a run in the header: its turn, its tokens, its context and its cost."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from agentwatch.events import Tokens
from agentwatch.text.amounts import dollars, short_count
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.session import Run

_MOST_SHOWN = 10**12
"""A larger count is no real one, and is not shown."""


def turn_words(run: Run) -> SafeText | None:
    """Return the number of the turn from the second one on: `turn 3`; None in the first turn."""
    return SafeText(f"turn {run.turns:,}") if run.turns > 1 else None


def figures(tokens: Tokens) -> Iterator[SafeText]:
    """Yield the tokens, the context and the cost, as far as the agent reports them.

    Examples: `in 124k out 3.2k`, `ctx 62 %`, `$0.41`.
    """
    counts = (("in", tokens.input), ("out", tokens.output))
    if words := " ".join(f"{name} {short_count(count)}" for name, count in counts if _is_shown(count)):
        yield SafeText(words)
    if (context := context_words(tokens)) is not None:
        yield context
    cost = tokens.cost_usd
    if cost is not None and isfinite(cost) and 0 <= cost < _MOST_SHOWN:
        yield SafeText(dollars(cost))


def context_words(tokens: Tokens) -> SafeText | None:
    """Return the share of the context that is used, or its size; None if it is not reported."""
    used, size = tokens.context_used, tokens.context_size
    if used is None or not _is_shown(used):
        return None
    is_share = size is not None and size > 0
    return SafeText(f"ctx {100 * used // (size or 1)} %" if is_share else f"ctx {short_count(used)}")


def _is_shown(count: int | None) -> bool:
    return count is not None and 0 <= count < _MOST_SHOWN
