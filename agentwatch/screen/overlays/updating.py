"""Keep open screens up to date, one time slice of new data at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.message_pump import MessagePump

_SYNC_SECONDS = 0.5
_SLICE_SECONDS = 0.01
"""Seconds of work per slice, and the pause between two slices while more is left."""


def take_slice(take: Callable[[], bool]) -> bool:
    """Call `take` until nothing is left or the time slice is used up.

    Args:
        take: Does a small piece of work; returns whether more is left.

    Returns:
        Whether more is left.
    """
    until = time.perf_counter() + _SLICE_SECONDS
    while (is_more := take()) and time.perf_counter() < until:
        pass
    return is_more


def keep_updated(screen: MessagePump, sync: Callable[[], bool]) -> None:
    """Call `sync` repeatedly while the screen is open.

    Args:
        screen: The screen whose timer is used; closing it ends the calls.
        sync: Updates the screen; returns whether more is left. If so, the next call follows after 10 ms
            instead of 0.5 s.
    """
    screen.set_timer(_SLICE_SECONDS if sync() else _SYNC_SECONDS, partial(keep_updated, screen, sync))
