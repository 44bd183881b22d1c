"""Sends recordings to a collector without starting the program."""

import os
from pathlib import Path

from agentwatch.analysis.moments import Asked
from agentwatch.cli.address import open_reader
from agentwatch.output.export.exported import Exported, Wanted, exported
from agentwatch.output.export.exporters import Choices, Sent
from agentwatch.output.export.otlp import send

opened_fds: list[int] = []
"""The recordings that a test has opened. They are closed after it."""


def session_at(path: Path, *, asked: Asked | None = None, words: str = "", is_raw: bool = False) -> Exported:
    """Return what is exported of a recording."""
    reader = open_reader(path)
    session = exported(reader, path.name, Wanted(asked or Asked(), words, is_raw))
    assert isinstance(session, Exported), session
    opened_fds.extend({reader.fd, session.timeline.fd})
    return session


def sent(path: Path, *, content: bool = False, words: str = "", is_raw: bool = False) -> Sent:
    """Send a recording to the collector that the environment names."""
    return send(session_at(path, words=words, is_raw=is_raw), Choices(content=content))


def many_calls(path: Path, count: int) -> Path:
    """Write a recording with a number of calls; return its path."""
    from tests.builders.lines import DONE, completed, init, result, started, user

    at_ms = 1_770_000_000_000
    with open(path, "wb") as file:
        file.write(init() + user())
        for number in range(count):
            call_id = f"c-{number}"
            file.write(started("read", call_id, at_ms + 10 * number, path=f"/home/ada/app/{number}.py"))
            file.write(completed("read", call_id, DONE, at_ms + 10 * number + 5))
        file.write(result())
    os.utime(path, (at_ms / 1000 + 500, at_ms / 1000 + 500))
    return path


def close_opened() -> None:
    while opened_fds:
        os.close(opened_fds.pop())
