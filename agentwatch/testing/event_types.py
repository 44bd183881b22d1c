"""Whether the fields of an event have the types that its class declares.

A decoder reads foreign fields, whose types no type checker knows. A number where a text is declared fails
much later, in the program that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from agentwatch.events import Event

EVENTS: tuple[type, ...] = get_args(Event)
_SHORT = (str, int, float, NoneType)
_SHOWN = 60
"""The number of characters of a value that are shown."""


def problem_of(event: Any) -> str | None:
    """Return what is wrong with an event; None if it is as its class declares.

    Example:
        >>> from agentwatch import Channel, Text
        >>> problem_of(Text(Channel.ANSWER, 7))
        'Text.text is 7, not str'
        >>> problem_of(Text(Channel.ANSWER, "Done."))
    """
    kind: Any = type(event)
    if not isinstance(event, EVENTS):
        return f"{type(event).__name__} is no event"
    for name, plain, declared in _declared(kind):
        value = getattr(event, name)
        if type(value) not in plain and not _fits(value, declared):
            words = getattr(declared, "__name__", None) or str(declared)
            shown = f"{value!r:.{_SHOWN}}" if isinstance(value, _SHORT) else f"a {type(value).__name__}"
            return f"{type(event).__name__}.{name} is {shown}, not {words}"
    return None


@cache
def _declared(kind: type) -> list[tuple[str, frozenset[type], Any]]:
    """Return the name of each field, the types that fit without a closer look, and the declared type."""
    return [(name, _plain(declared), declared) for name, declared in get_type_hints(kind).items()]


def _plain(declared: Any) -> frozenset[type]:
    parts = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return frozenset(part for part in parts if isinstance(part, type) and not hasattr(part, "_fields"))


def _fits(value: object, declared: Any) -> bool:
    origin, inner = get_origin(declared), get_args(declared)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin in (tuple, Sequence):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(_fits(each, inner[0]) for each in value)
        )
    if origin is Mapping:
        return isinstance(value, Mapping)
    if declared is None or declared is NoneType:
        return value is None
    if declared is object or declared is Any:
        return True
    if declared is int or declared is float:
        return isinstance(value, int if declared is int else int | float) and not isinstance(value, bool)
    if isinstance(value, tuple) and hasattr(value, "_fields") and isinstance(value, declared):
        return all(_fits(getattr(value, name), each) for name, _, each in _declared(type(value)))
    return isinstance(value, declared)
