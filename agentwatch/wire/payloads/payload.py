"""Finds the arguments and the result of a call in its lines, unchanged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

from agentwatch.wire.fields import Fields

_ARGUMENTS = ("args", "arguments", "input", "rawInput", "parameters")
_RESULT = ("result", "response", "output", "rawOutput", "aggregated_output", "content", "value", "error")
"""In the order in which they are asked: a result is nearer to what the agent received than its content."""
_MOST_VALUES = 100_000
"""Objects and arrays that are visited. The largest real line of a call has fewer than 1,000."""


def arguments_in(line: Fields, call_id: str) -> object:
    """Return the arguments of a call from the line that has them.

    If no field has the name of arguments, such as in a format whose calls have fields of their own, the whole
    object of the call is returned; if the line does not name the call, the whole line.

    Args:
        line: The line.
        call_id: The id of the call; the line may belong to several calls.
    """
    return _value(line, call_id, _ARGUMENTS, _RESULT[:4])


def result_in(line: Fields, call_id: str) -> object:
    """Return the result of a call from the line that ended it, or else the object as for the arguments.

    Args:
        line: The line.
        call_id: The id of the call; the line may belong to several calls.
    """
    return _value(line, call_id, _RESULT, _ARGUMENTS)


def _value(line: Fields, call_id: str, names: tuple[str, ...], others: tuple[str, ...]) -> object:
    """Return the first field with one of the names in an object of the call, the outermost objects first.

    The fields named by `others` are not searched: what a tool returned may contain any name.
    """
    owners = [each for each in _objects(line) if call_id and _names_call(each, call_id)]
    searched = (_objects(owner, others) for owner in owners) if owners else (_objects(line),)
    for each in chain.from_iterable(searched):
        for name in names:
            if each.get(name) is not None:
                return each[name]
    return owners[0] if owners else line


def _names_call(fields: Fields, call_id: str) -> bool:
    return any(value == call_id for value in fields.values() if isinstance(value, str))


def _objects(root: Fields, left_out: tuple[str, ...] = ()) -> Iterator[Fields]:
    """Yield an object and the objects in it, the outer ones first, without the fields that are left out."""
    due: deque[Any] = deque((root,))
    for _ in range(_MOST_VALUES):
        if not due:
            return
        value = due.popleft()
        if isinstance(value, dict):
            yield value
            inner = [each for name, each in value.items() if name not in left_out]
        else:
            inner = value
        due.extend(each for each in inner if isinstance(each, dict | list))
