"""Whether the cost of a format grows only with the size of its lines, and with their number."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agentwatch.testing.subject import Subject, Where
from agentwatch.testing.variants import with_long_arrays, with_long_texts
from agentwatch.wire.fields import Fields

_MOST_SECONDS = 1.0
"""The CPU time that a line may take. A line of 256 Ki characters takes the built-in formats 10 ms."""
_SIZES = (1 << 12, 1 << 14, 1 << 16, 1 << 18)
"""Characters, from few to many: quadratic cost is found while it still takes seconds."""
_TIMES = (4, 32)
"""How often all lines are repeated."""
_MOST_GROWTH = 3 * _TIMES[1] / _TIMES[0]


def check_sizes(subject: Subject, number: int, fields: dict[str, Any]) -> None:
    """Check the time that a line takes when its texts, or its arrays, get long.

    Args:
        subject: The format.
        number: The number of the line.
        fields: The line.
    """
    for size in _SIZES:
        words = f" of {size:,} characters"
        _check_line(subject, with_long_texts(fields, size), Where(number, change=f" with texts{words}"))
        _check_line(subject, with_long_arrays(fields, size), Where(number, change=f" with arrays{words}"))


def check_number(subject: Subject, lines: Sequence[Fields]) -> None:
    """Check that the time to decode many lines grows with their number."""
    few, many = (_seconds(partial(_use, subject, lines, times)) for times in _TIMES)
    if many > _MOST_SECONDS and many > _MOST_GROWTH * few:
        count, less = len(lines) * _TIMES[1], len(lines) * _TIMES[0]
        subject.fail(
            f"{count:,} lines take {many:.1f} s, and {less:,} take {few:.2f} s: more than linear time"
        )


def _check_line(subject: Subject, fields: Fields, where: Where) -> None:
    seconds = _seconds(partial(subject.use, subject.decoder(), fields, where))
    if seconds > _MOST_SECONDS:
        subject.fail(f"its functions take {seconds:.1f} s ({where.words()})")


def _use(subject: Subject, lines: Sequence[Fields], times: int) -> None:
    decoder = subject.decoder()
    for _ in range(times):
        for number, fields in enumerate(lines, 1):
            subject.use(decoder, fields, Where(number))


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began
