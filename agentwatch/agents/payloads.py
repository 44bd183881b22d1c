"""Finds the arguments and the result of a call in its lines, unchanged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from agentwatch.agents.fields import Fields

_ARGUMENTS = ("args", "arguments", "input", "rawInput", "parameters")
_RESULT = ("result", "response", "output", "rawOutput", "aggregated_output", "content", "value", "error")
"""The members with a result, the nearest to what the agent received first."""
_MOST_VALUES = 100_000
"""Objects and arrays that are visited at once. The largest real line of a call has fewer than 1,000."""
_MOST_SEARCHES = 10
"""A line is visited this many times in all, so that a line of many calls takes no longer than it is long."""


class Payload(NamedTuple):
    value: Any
    is_named: bool
    """Whether a field has the name of arguments or of a result. If not, the value is the object of the call,
    or the whole line."""


class Payloads:
    """The arguments and the results in one line, which may belong to several calls."""

    def __init__(self, line: Fields) -> None:
        self._line = line
        self._left = _MOST_SEARCHES * _MOST_VALUES
        self._owners: dict[str, list[Fields]] = {}
        for each in self._objects(line):
            for value in each.values():
                if isinstance(value, str):
                    owners = self._owners.setdefault(value, [])
                    if not owners or owners[-1] is not each:
                        owners.append(each)

    def names(self, call_id: str) -> bool:
        return call_id in self._owners

    def arguments(self, call_id: str) -> Payload:
        return self._value(call_id, _ARGUMENTS, _RESULT[:4])

    def result(self, call_id: str) -> Payload:
        return self._value(call_id, _RESULT, _ARGUMENTS)

    def request(self, call_id: str) -> dict[str, object]:
        found = self.arguments(call_id).value
        fields = found if isinstance(found, dict) else {}
        return {name: value for name, value in fields.items() if name not in _RESULT and value != call_id}

    def _value(self, call_id: str, names: tuple[str, ...], others: tuple[str, ...]) -> Payload:
        """The fields named by `others` are not searched: what a tool returned may contain any name."""
        owners = self._owners.get(call_id, []) if call_id else []
        searched = (self._objects(owner, others) for owner in owners or (self._line,))
        for each in chain.from_iterable(searched):
            for name in names:
                if each.get(name) is not None:
                    return Payload(each[name], is_named=True)
        return Payload(owners[0] if owners else self._line, is_named=False)

    def _objects(self, root: Fields, left_out: tuple[str, ...] = ()) -> Iterator[Fields]:
        due: deque[Any] = deque((root,))
        for _ in range(_MOST_VALUES):
            if not due or self._left <= 0:
                return
            self._left -= 1
            value = due.popleft()
            if isinstance(value, dict):
                yield value
                inner = [each for name, each in value.items() if name not in left_out]
            else:
                inner = value
            due.extend(each for each in inner if isinstance(each, dict | list))


def arguments_in(line: Fields, call_id: str) -> object:
    """Return the arguments of a call; without a field of that name the whole object of the call, and
    without the call the whole line, which may belong to several."""
    return Payloads(line).arguments(call_id).value


def result_in(line: Fields, call_id: str) -> object:
    """Return the result of a call from the line that ended it, or else the object as for the arguments."""
    return Payloads(line).result(call_id).value
