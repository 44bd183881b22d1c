"""The lines of episodes, and how long they took."""

from __future__ import annotations

from agentwatch.analysis.episodes import duration_ms
from agentwatch.session.call import Call, Place
from tests.analysis.episodes.calls import found_in, shell, words_of, written
from tests.conftest import Saver, case


def _call(started: int | None, ended: int | None, seen: tuple[int | None, int | None] = (None, None)) -> Call:
    places = [Place(10 * nth, 10, seen_ms) for nth, seen_ms in enumerate(seen)]
    call = Call(1, 1, "c", "shell", "Ran", started_ms=started, ended_ms=ended)
    call.started, call.ended = places
    return call


def test_the_duration_is_by_one_clock() -> None:
    """It is by the agent's clock, or by arrival times that differ; otherwise it is unknown."""
    cases: list[tuple[Call, int | None]] = [
        (_call(1000, 3000), 2000),
        (_call(1000, 3000, (1, 2)), 2000),
        (_call(None, None, (1000, 4000)), 3000),
        (_call(None, None, (1000, 1000)), None),
        (_call(3000, 1000), None),
        (_call(None, None), None),
    ]
    for call, took in cases:
        with case(call):
            assert duration_ms(call, call) == took


def test_foreign_text_is_safe_and_short(recording: Saver) -> None:
    """Control characters are shown, and a long command is cut."""
    command = "make \x1b[31m" + "x" * 4000
    (words,) = words_of(found_in(recording(written(*[shell(command, 2)] * 3))))
    assert "\x1b" not in words
    assert len(words) < 260
