"""How long a line waits in the file, by the clock of a world without a network."""

from __future__ import annotations

from functools import partial

import pytest

from agentwatch.remote.publish.shipper import Pace
from tests.remote.publish.memory import Engine
from tests.remote.publish.world import World


class Noted:
    """Lines that are written at given times, and when the engine has stored them."""

    def __init__(self, world: World, engine: Engine, times: list[float]) -> None:
        self._world, self._engine, self._times = world, engine, times
        self.late: list[float] = []
        """How long each line was on its way."""
        world.at.append((times[-1] + 1, world.end))
        world.at.extend((at, partial(world.write, b"line\n")) for at in times[::-1])
        engine.on_stored = self._note

    def _note(self) -> None:
        lines = self._engine.read().count(b"\n")
        self.late += [self._world.now - at for at in self._times[len(self.late) : lines]]


def test_a_burst_is_sent_line_by_line(world: World, engine: Engine) -> None:
    """Lines that follow each other after 50 ms for 5 s are each sent within 20 ms, but for the first look."""
    noted = Noted(world, engine, [1030 + 0.05 * number for number in range(100)])
    world.ship()
    assert len(engine.chunks) >= 95
    assert max(noted.late[5:]) < 0.02


def test_lines_under_load_travel_together(world: World, engine: Engine) -> None:
    """At 20 lines a second for minutes, four chunks a second are sent, and no line waits over 250 ms."""
    noted = Noted(world, engine, [1030 + 0.05 * number for number in range(20 * 120)])
    world.ship()
    assert len(engine.chunks) <= 4 * 120 + 105
    assert max(noted.late) < 0.27
    assert engine.read() == world.content


@pytest.mark.system
@pytest.mark.parametrize(("silence", "most"), [(0.2, 0.03), (1, 0.07), (2, 0.13), (600, 0.26)])
def test_a_line_waits_for_a_twentieth_of_the_silence(
    world: World, engine: Engine, silence: float, most: float
) -> None:
    """A file that has just grown is looked at often; after a long silence, each 250 ms."""
    noted = Noted(world, engine, [1000.5 + (silence + 0.003) * number for number in range(20)])
    world.ship()
    assert max(noted.late[1:]) < most


def test_a_silent_file_is_looked_at_four_times_a_second(world: World, engine: Engine) -> None:
    """In silence, a look each 250 ms is all that is done."""
    world.write(b"line\n")
    looks: list[float] = []
    world.writes = [lambda: looks.append(world.now)] * 300
    world.is_asked_to_end = lambda: not world.writes
    world.ship()
    assert looks[-1] - looks[-100] == pytest.approx(99 / 4)


def test_credit_has_a_limit() -> None:
    """After hours of silence no more than 100 chunks go at once."""
    now = 0.0
    pace = Pace(lambda: now)
    now = 36_000.0
    sent = 0
    while not pace.joining():
        pace.note_sent()
        sent += 1
    assert sent == 100
    pace.hurry()
    assert not pace.joining()
