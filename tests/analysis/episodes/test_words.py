"""The lines of episodes, and their durations."""

from __future__ import annotations

import pytest

from agentwatch.analysis.episodes.episode import duration_ms, span_words
from agentwatch.session import Call, Place
from tests.analysis.episodes.calls import found_in, shell, words_of, written
from tests.conftest import Saver


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (999, "0 s"),
        (48_000, "48 s"),
        (125_000, "2 m 05 s"),
        (250_000, "4 m 10 s"),
        (7_500_000, "2 h 05 m"),
    ],
)
def test_a_duration_has_its_seconds(ms: int, words: str) -> None:
    """Minutes have seconds of two digits, hours have minutes."""
    assert span_words(ms) == words


def _call(started: int | None, ended: int | None, seen: tuple[int | None, int | None] = (None, None)) -> Call:
    places = [Place(10 * nth, 10, seen_ms) for nth, seen_ms in enumerate(seen)]
    call = Call(1, 1, "c", "shell", "Ran", started_ms=started, ended_ms=ended)
    call.started, call.ended = places
    return call


@pytest.mark.parametrize(
    ("call", "took"),
    [
        (_call(1000, 3000), 2000),
        (_call(1000, 3000, (1, 2)), 2000),
        (_call(None, None, (1000, 4000)), 3000),
        (_call(None, None, (1000, 1000)), None),
        (_call(3000, 1000), None),
        (_call(None, None), None),
    ],
)
def test_the_duration_is_by_one_clock(call: Call, took: int | None) -> None:
    """It is by the agent's clock, or by arrival times that differ; otherwise it is unknown."""
    assert duration_ms(call, call) == took


def test_foreign_text_is_safe_and_short(recording: Saver) -> None:
    """Control characters are shown, and a long command is cut."""
    command = "make \x1b[31m" + "x" * 4000
    (words,) = words_of(found_in(recording(written(*[shell(command, 2)] * 3))))
    assert "\x1b" not in words
    assert len(words) < 260
