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


@pytest.fixture
def received() -> Iterator[tuple[int, list[tuple[str, str, bytes]]]]:
    """The port of a server on this machine, and the path, the title and the body of what it receives."""
    requests: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, self.headers.get("Title", ""), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, requests
        server.shutdown()


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


def test_what_is_sent_to_a_service(
    received: tuple[int, list[tuple[str, str, bytes]]], tmp_path: Path
) -> None:
    """To ntfy the text is the body; in Slack a session cannot mention a channel; Telegram gets no markup."""
    port, requests = received
    for script in SCRIPTS[:3]:
        send(script, tmp_path, port)
    ntfy, (hook, _, message), (bot, _, form) = requests
    text = "claude: -i <!channel> é\n--x␊$(id) & <b>"
    assert ntfy == ("/MY-SECRET-TOPIC", "agentwatch: needs-you", text.encode())
    assert hook == "/services/T000/B000/XXXX"
    assert json.loads(message) == {"text": "needs-you: -i &lt;!channel&gt; é\n--x␊$(id) &amp; &lt;b&gt;"}
    assert bot == "/bot123:TOKEN/sendMessage"
    sent = {"chat_id": ["123456"], "text": ["needs-you: -i <!channel> é\n--x␊$(id) & <b>"]}
    assert urllib.parse.parse_qs(form.decode()) == sent


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
