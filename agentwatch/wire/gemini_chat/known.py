"""What is known of a message that may be written again, and what is new when it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from agentwatch.events import Event, Tokens, Usage, UsageScope
from agentwatch.wire.fields import Fields, number

_Value = TypeVar("_Value")


@dataclass(slots=True)
class Known:
    """What was read of a message that may be written again."""

    thoughts: int = 0
    """The number of its thoughts."""
    tokens: tuple[int, int, int] = (0, 0, 0)
    """Its tokens: input, cached, output."""


def new_usage(known: Known, counts: Fields, at_ms: int | None) -> list[Event]:
    """Return the tokens of a request that were not counted when its message was written before.

    The input includes what was cached. The output includes the thoughts, which are counted apart.
    """
    found = [number(counts, key) or 0 for key in ("input", "tool", "cached", "output", "thoughts")]
    tokens = (found[0] + found[1], found[2], found[3] + found[4])
    if tokens == known.tokens:
        return []
    new = [after - before for after, before in zip(tokens, known.tokens, strict=True)]
    known.tokens = tokens
    usage = Tokens(input=new[0], cached=new[1], output=new[2], context_used=tokens[0] + tokens[2])
    return [Usage(usage, UsageScope.REQUEST, at_ms)]


def remember(found: dict[str, _Value], key: str, value: _Value, most: int) -> None:
    """Keep a value by the id of its message or call. The oldest is dropped at the limit."""
    if key:
        found[key] = value
        if len(found) > most:
            del found[next(iter(found))]
