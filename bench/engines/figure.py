"""A figure: what was found, and the limit that it has to keep."""

from __future__ import annotations

from typing import NamedTuple

from measure import MILLISECONDS


class Figure(NamedTuple):
    """A row of the table."""

    name: str
    limit: str
    """In words; empty if the figure has none."""
    found: str
    is_kept: bool = True
    """Whether the limit is kept."""
    is_cost: bool = False
    """Whether it is a time or a cost, which means nothing in a short run."""


def at_most(name: str, value: float, limit: float, unit: str) -> Figure:
    """Return a cost that must not exceed a limit."""
    return Figure(name, f"at most {limit:g} {unit}", f"{value:.3g} {unit}", value <= limit, is_cost=True)


def at_least(name: str, value: float, limit: float, unit: str) -> Figure:
    """Return a rate that must reach a limit."""
    return Figure(name, f"at least {limit:g} {unit}", f"{value:,.0f} {unit}", value >= limit, is_cost=True)


def milliseconds(name: str, seconds: float, limit_ms: float) -> Figure:
    """Return a time that must not exceed a limit."""
    return at_most(name, seconds * MILLISECONDS, limit_ms, "ms")


def known(name: str, found: str) -> Figure:
    """Return a figure without a limit."""
    return Figure(name, "", found)
