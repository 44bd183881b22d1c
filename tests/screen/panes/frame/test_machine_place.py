"""The header of a session of another machine names the machine."""

from __future__ import annotations

from typing import cast

from agentwatch.screen.panes.header import machine_place
from agentwatch.sources.source import Source
from tests.conftest import case

LONG = "runner-0123456789.europe-west4.internal"


class Place:
    """A session of another machine. It satisfies Elsewhere, and stands for its source."""

    exit_code = None
    problem = ""
    beginning = 0

    def __init__(self, address: str, host: str) -> None:
        self.address, self.host = address, host
        self.elsewhere = self


def test_the_machine_is_named_before_the_engine() -> None:
    """Engine and machine are named if both fit in a third of the width; else the machine, cut if it must."""
    for address, host, width, words in (
        ("nats://team/ci.0123", "build-7", 120, "⇣ team · build-7"),
        ("nats://team/ci.0123", "", 120, "⇣ team"),
        ("nats://team/ci.0123", "build-7", 40, "⇣ build-7"),
        ("nats://nats.example.org:4333/ci.0123", LONG, 120, f"⇣ {LONG[:34]}…"),
        ("nats://nats.example.org:4333/ci.0123", "build-7", 60, "⇣ build-7"),
        ("ssh://ci@build1:2222/claude/0123", "build1", 80, "⇣ build1"),
        ("nats://team/ci.0123", "a\x1b[31mb", 120, "⇣ team · a␛[31mb"),
    ):
        with case(f"{address!r}, {host!r}, {width}"):
            assert machine_place(cast("Source", Place(address, host)), width)[0] == f"│ {words} "
