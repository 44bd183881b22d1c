"""Screens that are kept true while they are open, a slice of what is new at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.message_pump import MessagePump

_SYNC_SECONDS = 0.5
_SLICE_SECONDS = 0.01
"""So long it takes what is new at once, and so long it then lets others work, while there is more."""


def take_slice(take: Callable[[], bool]) -> bool:
    """Call `take` until nothing more is there or a slice of time is used up; return whether more is there."""
    until = time.perf_counter() + _SLICE_SECONDS
    while (is_more := take()) and time.perf_counter() < until:
        pass
    return is_more


def keep_updated(screen: MessagePump, sync: Callable[[], bool]) -> None:
    """Call `sync` again and again while the screen is open, soon where it says that there is more."""
    screen.set_timer(_SLICE_SECONDS if sync() else _SYNC_SECONDS, partial(keep_updated, screen, sync))
