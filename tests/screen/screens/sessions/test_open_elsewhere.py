"""A session of another machine is opened from the list like one of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.catalog.row import Row
from agentwatch.remote.card import Card
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.conftest import RECORDINGS
from tests.harness.engine.server import Server
from tests.remote.conftest import SESSION, Publisher, published

pytestmark = pytest.mark.slow

PLAIN = RECORDINGS / "plain.ndjson"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[Server, Publisher]]:
    """Yield a server and a publisher of one session."""
    with published(tmp_path) as both:
        yield both


def of(server: Server, **fields: Any) -> Row:
    """Return the row of the published session."""
    return row("one", path=Path(), address=f"{server.address}/{SESSION}", host="build-7", **fields)


@pytest.mark.system
async def test_a_session_is_followed_while_it_is_published(engine: tuple[Server, Publisher]) -> None:
    """Lines that are published while the session is open are shown, and the header names the machine."""
    server, publisher = engine
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    publisher.send(*lines[:5])
    publisher.card(Card(host="build-7", outcome="running"))
    async with at_home([of(server)]) as stage:
        await stage.open()
        await stage.shows("◐ running")
        await stage.shows(f"⇣ 127.0.0.1:{server.port} · build-7")
        publisher.send(*lines[5:])
        publisher.end()
        await stage.shows("✓ succeeded")
        await stage.back()


@pytest.mark.system
async def test_the_editor_is_not_offered(engine: tuple[Server, Publisher]) -> None:
    """The footer does not name `o`; it says that the files are on another machine, and opens nothing."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    async with at_home([of(server)]) as stage:
        await stage.open()
        await stage.press("2")
        await stage.shows("Slowest")
        assert "Edit" not in stage.lines[-1]
        await stage.press("o")
        await stage.shows("on another machine")


@pytest.mark.system
async def test_a_lost_engine_is_named_until_it_is_back(engine: tuple[Server, Publisher]) -> None:
    """The status line says since when there is no touch; what is shown stays."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True)[:5])
    async with at_home([of(server)], size=(140, 30)) as stage:
        await stage.open()
        await stage.shows("◐ running")
        server.kill()
        await stage.shows("lost touch since ")
        status = stage.lines[1]
        assert server.address not in status  # the header names it
        assert "connect" in status
        server.restart()
        await stage.until(lambda: "lost touch" not in stage.text, "the engine")


@pytest.mark.system
async def test_a_session_that_cannot_be_read_is_reported(engine: tuple[Server, Publisher]) -> None:
    """Without engine and copy, the list stays and says why."""
    server, _ = engine
    server.kill()
    async with at_home([of(server)]) as stage:
        await stage.press("enter")
        await stage.shows(server.address)
    server.restart()


@pytest.mark.system
async def test_a_preview_shows_what_is_reported_then_the_copy(engine: tuple[Server, Publisher]) -> None:
    """Before the session was read, the preview shows its prompt and its last text; later its last lines."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    async with at_home([of(server, title="Raise the timeout", last_text="It is *done*.")]) as stage:
        await stage.press("space")
        await stage.shows("It is done.")
        await stage.open()
        await stage.shows("✓ succeeded")
        await stage.back()
        await stage.put(of(server, size=1))
        await stage.shows("TIMEOUT_SECONDS in lantern/settings.py is now 45.")
