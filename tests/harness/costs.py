"""Compares the CPU times of two pieces of work while other programs run on the machine."""

import time
from collections.abc import Callable

ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that a piece of work takes."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def takes_more(
    longer: Callable[[], object], times: float, shorter: Callable[[], object], quick_seconds: float
) -> bool:
    """Return whether one piece of work takes too much longer than another, in each of several rounds.

    Both are measured in each round, so that other work on the machine slows both of them.
    """
    return all(
        (taken := seconds(longer)) > quick_seconds and taken > times * seconds(shorter) for _ in range(ROUNDS)
    )
