"""A server for a team: with users, with the permissions that `engine init` prints, and with the streams."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client

from tests.cli.engine.asking import engine, users_of
from tests.harness.engine.server import Server, nats_server

PASSWORDS = {user: f"secret-of-{user}" for user in ("admin", "ci", "evil", "anna")}
MINE = f"evil.{'e' * 32}"
THEIRS = f"ci.{'c' * 32}"
_ANSWER_SECONDS = 20


@contextmanager
def team_server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with the users `ci`, `evil` (publishers) and `anna` (a watcher), after `engine init`."""
    with nats_server(tmp_path) as server:
        printed = engine(
            "init", server.address, "--publisher", "ci", "--publisher", "evil", "--watcher", "anna"
        )
    config = users_of(printed.stdout.decode(), **PASSWORDS)
    with nats_server(tmp_path, config) as server:
        assert engine("init", server.address, **login("admin")).returncode == 0
        yield server


def login(user: str) -> dict[str, str]:
    return {"AGENTWATCH_NATS_USER": user, "AGENTWATCH_NATS_PASSWORD": PASSWORDS[user]}


class Raw:
    """A client of a user that sends what it wants."""

    def __init__(self, client: Client, errors: list[str], noted: asyncio.Event) -> None:
        self.client = client
        self.errors = errors
        """What the server has reported."""
        self.noted = noted
        """Set when it has."""

    async def ask(
        self, subject: str, data: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> dict[str, Any] | bytes:
        """Send a request; return the object or the bytes of the answer."""
        answer = await self.client.request(
            subject, data, timeout=_ANSWER_SECONDS, headers=dict(headers) if headers else None
        )
        with suppress(ValueError):
            found: dict[str, Any] = json.loads(answer.data)
            return found
        return bytes(answer.data)

    async def is_refused(self, subject: str, data: bytes = b"") -> bool:
        """Return whether the server reports that the user may not send to a subject."""
        self.errors.clear()
        self.noted.clear()
        await self.client.publish(subject, data, reply=self.client.new_inbox())
        return any("permissions violation for publish" in each for each in await self.reported())

    async def reported(self) -> list[str]:
        """Return what the server has reported, once it has answered to all that was sent."""
        await self.client.flush()  # the report of a refusal arrives before the answer to this
        with suppress(TimeoutError):  # and is handed over by a task of its own
            await asyncio.wait_for(self.noted.wait(), _ANSWER_SECONDS)
        return self.errors


async def connect(server: Server, user: str) -> Raw:
    """Connect as a user, with an inbox of its own."""
    errors: list[str] = []
    noted = asyncio.Event()

    async def note(error: Exception) -> None:
        errors.append(str(error))
        noted.set()

    client = await nats.connect(
        server.address,
        user=user,
        password=PASSWORDS[user],
        inbox_prefix=f"_INBOX.{user}",
        error_cb=note,
        allow_reconnect=False,
    )
    return Raw(client, errors, noted)


async def stored(server: Server) -> dict[str, int]:
    """Return how many messages each subject of both streams has, as the administrator sees it."""
    admin = await connect(server, "admin")
    found: dict[str, int] = {}
    for name in ("AW", "KV_AWCARD"):
        answer = await admin.ask(f"$JS.API.STREAM.INFO.{name}", b'{"subjects_filter": ">"}')
        assert isinstance(answer, dict)
        found |= answer["state"].get("subjects") or {}
    await admin.client.close()
    return found
