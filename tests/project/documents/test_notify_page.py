"""The scripts of docs/howto/notify.md send what they say, to a server on this machine."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import tomllib
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from agentwatch.cli.tripwire_settings import rules_of, session_rules_of
from agentwatch.output.commands import Commands
from agentwatch.rules.alarms.events import Event
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "howto" / "notify.md").read_text()
SCRIPTS = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
HOSTILE = Event(
    "needs-you", "x", 1_790_000_000_000, "asks", "claude", "s", "-i <!channel> é", None, "--x\n$(id) & <b>"
)

pytestmark = pytest.mark.slow


class Received:
    """A server that notes what it receives."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        received = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.path, self.headers.get("Title", ""), body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def received() -> Iterator[Received]:
    """A server on this machine."""
    made = Received()
    yield made
    made.server.shutdown()
    made.server.server_close()


def send(script: str, folder: Path, port: int = 0) -> None:
    """Run a script with the hostile event; its https addresses are on this machine."""
    path = folder / "tell"
    path.write_text(re.sub(r"https://[a-z.]*\.(?:sh|com|org)/", f"http://127.0.0.1:{port}/", script))
    commands = Commands()
    commands.tell((sys.executable, str(path)), HOSTILE)
    commands.finish()
    assert commands.faults == {}


def test_each_script_has_ten_lines_and_the_settings_are_valid() -> None:
    """At most ten lines that are not blank; both tables of the settings can be read."""
    assert len(SCRIPTS) == 4
    assert all(len([line for line in each.splitlines() if line]) <= 10 for each in SCRIPTS)
    block = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    found = tomllib.loads(block[1])
    assert len(rules_of(found["on"])) == len(session_rules_of(found["sessions"]["on"])) == 1


def test_ntfy(received: Received, tmp_path: Path) -> None:
    """The text is the body, and the title has no foreign text."""
    send(SCRIPTS[0], tmp_path, received.server.server_port)
    [(path, title, body)] = received.requests
    assert (path, title) == ("/MY-SECRET-TOPIC", "agentwatch: needs-you")
    assert body.decode() == "claude: -i <!channel> é\n--x␊$(id) & <b>"


def test_slack(received: Received, tmp_path: Path) -> None:
    """A session cannot mention a channel."""
    send(SCRIPTS[1], tmp_path, received.server.server_port)
    [(path, _, body)] = received.requests
    assert path == "/services/T000/B000/XXXX"
    assert json.loads(body) == {"text": "needs-you: -i &lt;!channel&gt; é\n--x␊$(id) &amp; &lt;b&gt;"}


def test_telegram(received: Received, tmp_path: Path) -> None:
    """The text is sent as it is, without markup."""
    send(SCRIPTS[2], tmp_path, received.server.server_port)
    [(path, _, body)] = received.requests
    assert path == "/bot123:TOKEN/sendMessage"
    assert urllib.parse.parse_qs(body.decode()) == {
        "chat_id": ["123456"],
        "text": ["needs-you: -i <!channel> é\n--x␊$(id) & <b>"],
    }


def test_a_desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is two arguments after `--`, so that it is neither an option nor markup."""
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    send(SCRIPTS[3], tmp_path)
    assert (tmp_path / "arguments").read_text().splitlines() == [
        "--",
        "agentwatch: needs-you",
        "-i &lt;!channel&gt; é",
        "--x␊$(id) &amp; &lt;b&gt;",
    ]
