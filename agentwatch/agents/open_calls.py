"""What decoders keep until a later line: the calls that have not ended, and other tables with a limit."""

from __future__ import annotations

from typing import TypeVar

from agentwatch.agents.fields import MOST_ID

MOST_OPEN = 1024
"""The number of open calls. The captures have at most 4 at once. A call whose result never comes remains
open, so without a limit a long session would fill the memory."""

_Call = TypeVar("_Call")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def remember(kept: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Add a value to a table, and drop the oldest one of more than `most`."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


class OpenCalls(dict[str, _Call]):
    """What is known about each open call, by its call_id, the oldest first.

    It is a dictionary, so that only the start of a call costs a Python function: its end is a `pop`.
    """

    def keep(self, call_id: str, call: _Call, name: str = "") -> None:
        """Add a call, and drop the oldest one of more than 1,024. A call whose id has more than 1,000
        characters is not added."""
        if len(call_id) <= MOST_ID and len(name) <= MOST_ID:
            self[call_id] = call
            if len(self) > MOST_OPEN:
                del self[next(iter(self))]
