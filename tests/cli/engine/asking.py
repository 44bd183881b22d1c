"""Runs `engine`, and asks a server as another client does."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import nats
from nats.aio.client import Client

from tests.harness.program import ran

T = TypeVar("T")


def engine(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run `agentwatch engine` to its end, without settings."""
    env.setdefault("AGENTWATCH_CONFIG", "/dev/null")
    return ran("engine", *arguments, **env)  # type: ignore[arg-type]


def program() -> str:
    """Return the path of nats-server, which is installed."""
    found = shutil.which("nats-server", path=f"{os.environ['PATH']}:/usr/sbin")
    assert found is not None
    return found


def users_of(text: str, **passwords: str) -> str:
    """Return a printed configuration with a password for each user."""
    for user, password in passwords.items():
        text = text.replace(f"$PASSWORD_OF_{user.upper()}", f'"{password}"')
    assert "$PASSWORD" not in text
    return text


def stream(address: str, name: str) -> dict[str, Any]:
    """Return the limits and the content of a stream, its age in seconds, by a client of its own."""

    async def ask(client: Client) -> dict[str, Any]:
        answer = json.loads((await client.request(f"$JS.API.STREAM.INFO.{name}", timeout=5)).data)
        found: dict[str, Any] = answer["config"] | answer["state"]
        return found | {"max_age": found["max_age"] // 10**9}

    return connected(address, ask)


def last_card(address: str, **login: str) -> tuple[str, dict[str, Any]]:
    """Return the session that has the newest card of an engine, and the card."""

    async def ask(client: Client) -> tuple[str, dict[str, Any]]:
        question = json.dumps({"last_by_subj": "$KV.AWCARD.>"}).encode()
        answer = await client.request("$JS.API.STREAM.MSG.GET.KV_AWCARD", question, timeout=5)
        found = json.loads(answer.data)["message"]
        return found["subject"].removeprefix("$KV.AWCARD."), json.loads(base64.b64decode(found["data"]))

    return connected(address, ask, **login)


def store(address: str, subject: str, data: bytes, *, times: int = 1, **login: str) -> None:
    """Store a message, as often as asked."""

    async def send(client: Client) -> None:
        for _ in range(times):
            answer = json.loads((await client.request(subject, data, timeout=5)).data)
            assert "error" not in answer, answer

    connected(address, send, **login)


def connected(address: str, do: Callable[[Client], Awaitable[T]], **login: str) -> T:
    """Connect with nats-py, do something, and close the connection."""

    async def run() -> T:
        client = await nats.connect(address, allow_reconnect=False, **login)
        try:
            return await do(client)
        finally:
            await client.close()

    return asyncio.run(run())
