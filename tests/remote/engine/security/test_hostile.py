"""A publisher that stores what it wants harms neither those who watch nor what others have published."""

import asyncio
import hashlib
import json
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import nats
import pytest

from tests.cli.engine.asking import engine
from tests.conftest import RECORDINGS, case
from tests.harness.engine.server import Server, nats_server
from tests.harness.program import ran
from tests.harness.terminal_oracle import acting
from tests.harness.viewer import watched

pytestmark = pytest.mark.system

RECORDING = (RECORDINGS / "plain.ndjson").read_bytes()
DIGEST = hashlib.sha256(RECORDING).hexdigest()
GOOD = f"ci.{'a' * 32}"
BAD = f"evil.{'b' * 32}"
AHEAD = f"evil.{'d' * 32}"
"""A session with a hole of 1,000 bytes."""
ACTING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u200b\r\n::set-env name=A::b\x00../../../etc/passwd\ud800"
TEXTS = ("host", "agent", "model", "cwd", "repo", "branch", "title", "prompt", "state", "ground", "outcome")
NUMBERS = (
    "since_ms",
    "calls",
    "running",
    "failed",
    "context_used",
    "bytes",
    "shipped",
    "started_ms",
    "seen_ms",
)
ODD: tuple[object, ...] = (-1, 1 << 53, 1 << 64, 10**60, 1.5, True, "9", None, [], {"a": []})
_STEM = re.compile(r"\d{8}-\d{6}-[0-9a-z]+\.(?:ndjson|times|origin|log|index)")


def card(**more: object) -> bytes:
    return json.dumps({"v": 1, "agent": "cursor", "outcome": "succeeded", **more}).encode()


def cards() -> Iterator[bytes]:
    """Yield cards that no agentwatch writes."""
    yield card(**dict.fromkeys(TEXTS, ACTING), last=ACTING, problem=ACTING)
    yield card(**dict.fromkeys(TEXTS, "x" * 250))
    for value in ODD:
        yield card(**dict.fromkeys((*NUMBERS, "exit"), value), title="numbers")
        yield card(**dict.fromkeys(TEXTS, value), last="types")
    yield card(state="asks", ground="said", outcome="running", since_ms=1, seen_ms=(1 << 53) - 1)
    yield card(v=2)
    yield from (
        b"",
        b"[]",
        b"{",
        b"null",
        b"\xff\xfe",
        b"[" * 3900,
        b'{"v":1,"a":' + b"[" * 3000,
        b"x" * 3900,
    )


def pieces() -> Iterator[tuple[Mapping[str, str], bytes]]:
    """Yield the headers and the bytes of pieces of a session, most of which no agentwatch sends."""
    for offset in ("-1", str(1 << 53), "9" * 400, "1e3", "x", "", "0x10", "٣"):
        yield {"Aw-Offset": offset}, b"not a byte of it\n"
    yield {}, b"no headers\n"
    yield {"Aw-End": "x y z"}, b""
    yield {"Aw-End": f"{1 << 60} 0 {DIGEST}"}, b""
    middle = len(RECORDING) // 2
    seen = ";".join(["0 1", "x y", "-1 5", f"{1 << 60} 1", "5 " + "9" * 60, ";;;"] + ["1 1"] * 600)
    yield {"Aw-Offset": "0", "Aw-Seen": seen, "Aw-Gap": f"3 {1 << 60};x;0 0"}, RECORDING[:middle]
    yield {"Aw-Offset": "0"}, b"other bytes at a place that was stored already\n" * 10
    yield {"Aw-Offset": str(middle)}, RECORDING[middle:]
    yield {"Aw-End": f"{len(RECORDING)} 0 {'0' * 64}"}, b""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with one session of a good publisher, and much of a hostile one."""
    with nats_server(tmp_path_factory.mktemp("hostile")) as server:
        assert engine("init", server.address).returncode == 0
        asyncio.run(_publish(server))
        _publish_raw(server)
        yield server


async def _publish(server: Server) -> None:
    client = await nats.connect(server.address, allow_reconnect=False)
    request = partial(client.request, timeout=20)
    good = card(title="a good session", bytes=len(RECORDING), shipped=len(RECORDING), sha256=DIGEST)
    await request(f"$KV.AWCARD.{GOOD}", good)
    await request(f"aw.v1.c.{GOOD}", RECORDING, headers={"Aw-Offset": "0"})
    await request(f"aw.v1.c.{GOOD}", b"", headers={"Aw-End": f"{len(RECORDING)} 0 {DIGEST}"})
    for number, data in enumerate(cards()):
        answer = await request(f"$KV.AWCARD.evil.{number:032x}", data)
        assert b"error" not in answer.data, answer.data
    for key in (
        "evil",
        f"evil.{'a' * 31}",
        f"EVIL.{'a' * 32}",
        f"{BAD}.more",
        f"evil.{'A' * 32}",
        "a/../b.c",
    ):
        await client.publish(f"$KV.AWCARD.{key}", card(title="wrong key"))
    await request(f"$KV.AWCARD.{BAD}", card(title="a bad session"))
    for headers, data in pieces():
        await request(f"aw.v1.c.{BAD}", data, headers=dict(headers) or None)
    for offset in (0, 1000 + len(RECORDING)):
        await request(f"aw.v1.c.{AHEAD}", RECORDING, headers={"Aw-Offset": str(offset)})
    await client.close()


def _publish_raw(server: Server) -> None:
    """Publish a subject, headers and a card that are no UTF-8, which nats-py cannot send."""
    headers = b"NATS/1.0\r\nAw-Offset: \xff\r\n: no name\r\nAw-Seen\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", server.port), 5) as connection,
        connection.makefile("rb") as lines,
    ):
        connection.sendall(
            b'CONNECT {"verbose":false,"headers":true}\r\n'
            b"PUB $KV.AWCARD.evil.\xff\xfe 2\r\n{}\r\n"
            + b"HPUB aw.v1.c.%s %d %d\r\n%s\xff\r\n" % (BAD.encode(), len(headers), len(headers) + 1, headers)
            + b"PING\r\n"
        )
        while lines.readline() != b"PONG\r\n":
            pass


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch in a home of its own."""
    home, user = str(folder / "home"), str(folder / "user")
    return ran(*arguments, cwd=folder, AGENTWATCH_HOME=home, AGENTWATCH_CONFIG="/dev/null", HOME=user)


def test_the_list_is_printed(server: Server, tmp_path: Path) -> None:
    """The good session is listed as it is, each line is JSON, and nothing acts on the terminal."""
    done = run("sessions", "--all", "--json", server.address, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert acting((done.stdout + done.stderr).decode()) == []
    rows = {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}
    good = next(row for name, row in rows.items() if GOOD in name)
    assert (good["title"], good["agent"], good["state"]) == ("a good session", "cursor", "succeeded")
    assert "wrong key" not in {row["title"] for row in rows.values()}
    table = run("sessions", "--all", server.address, folder=tmp_path)
    assert table.returncode == 0
    assert acting((table.stdout + table.stderr).decode()) == []
    assert b"a good sess" in table.stdout
    # What the hostile publisher has stored changes nothing of the session of another.
    done = run("-p", "--output-format", "stream-json", f"{server.address}/{GOOD}", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, RECORDING), done.stderr
    # What comes before the hole is read, and what is missing is reported.
    done = run("-p", "--times", f"{server.address}/{AHEAD}", folder=tmp_path)
    assert (done.returncode, done.stdout.count(b"\n")) == (74, 4), done.stderr
    assert b"1,000 bytes missing" in done.stderr


def test_a_hostile_session_is_read(server: Server, tmp_path: Path) -> None:
    """The bytes that belong together are read, into files whose names are those of this machine."""
    for command in (["-p"], ["log"], ["drift"], ["show", "--json"]):
        with case(command):
            folder = tmp_path / command[0]
            folder.mkdir()
            address = f"{server.address}/{BAD}" + ("#1" if "show" in command else "")
            done = run(*command, address, folder=folder)
            assert done.returncode in (2, 74), done.stderr  # its digest is another one
            assert acting((done.stdout + done.stderr).decode()) == []
            files = [path for path in folder.rglob("*") if path.is_file()]
            assert {path.parent for path in files} == {folder / "home" / "copies"}
            assert [path.name for path in files if _STEM.fullmatch(path.name) is None] == []
            assert [path for path in files if path.stat().st_mode & 0o077] == []
            [copy] = [path for path in files if path.suffix == ".ndjson"]
            assert copy.read_bytes() == RECORDING


def test_an_address_that_names_no_session(server: Server, tmp_path: Path) -> None:
    """Words that are not a session are refused in one line, before anything is written."""
    for session in (
        "",
        "..",
        "../../etc/passwd",
        "evil",
        f"evil.{'g' * 32}",
        f"evil.{'b' * 32}/..",
        ">",
        "*.*",
        f"*.{'b' * 32}",
    ):
        with case(session):
            done = run("-p", "--times", f"{server.address}/{session}", folder=tmp_path)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert not (tmp_path / "home" / "copies").exists()


def test_the_screen_shows_them(server: Server, home: Path) -> None:
    """The list with hostile rows, and a hostile session, draw nothing but the screen's own sequences."""
    with watched(server.address, "--no-color") as viewer:
        viewer.wait_for("a good session", "a")
    assert viewer.status == 0
    with watched(f"{server.address}/{BAD}", "--no-color") as viewer:
        viewer.wait_for("lantern/settings.py")
    assert viewer.status in (0, 1)
