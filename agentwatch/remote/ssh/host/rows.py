"""Sends the rows of this machine as lines of JSON: all of them once, and then each that changes.

| line | meaning |
|---|---|
| `{"protocol": 1, "agentwatch": "0.3.0", "now_ms": …}` | the greeting; the clock of this machine |
| `{"row": {…}}` | a session that is new or has changed |
| `{"gone": [AGENT, ID]}` | a session that is not listed any more |
| `{"complete": true}` | all sessions were sent once |
| `{"now_ms": …}` | a sign of life, every 10 s |

The word `all` on the standard input asks for old sessions too. Readers ignore keys that they do not know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import orjson

from agentwatch.machine.listing.hiding import is_hidden
from agentwatch.machine.machine import Machine
from agentwatch.machine.row import Row
from agentwatch.recording import now_ms
from agentwatch.remote.ssh.host.lifeline import Lifeline
from agentwatch.remote.ssh.host.writing import write_all
from agentwatch.remote.ssh.row_json import encode
from agentwatch.wire.found import Key

PROTOCOL = 1
_TICK_SECONDS = 0.5
_YIELD_SECONDS = 0.001
_LIFE_SECONDS = 10.0


def send_rows(version: str) -> None:
    """Send the rows until the standard input ends, or nobody reads them.

    Args:
        version: The version of this program.
    """
    machine = Machine(os.environ, Path.home())
    lifeline = Lifeline()
    with suppress(BrokenPipeError):
        _Sender(version).run(machine, lifeline)


class _Sender:
    """What was sent."""

    def __init__(self, version: str) -> None:
        self._rows: Mapping[Key, Row] = {}
        self._shown: dict[Key, Row] = {}
        self._sent: dict[Key, bytes] = {}
        self._is_complete = False
        self._life_at = 0.0
        self._write([orjson.dumps({"protocol": PROTOCOL, "agentwatch": version, "now_ms": now_ms()})])

    def run(self, machine: Machine, lifeline: Lifeline) -> None:
        sent_at = 0.0
        while not lifeline.has_ended:
            machine.wants_all = machine.wants_all or "all" in lifeline.words
            has_more = machine.step(now_ms())
            now = time.monotonic()
            is_all = machine.is_found and not has_more and not self._is_complete
            if is_all or now - sent_at >= _TICK_SECONDS:
                sent_at = now
                self._send(machine.rows, shows_all=machine.wants_all)
            if is_all:
                self._is_complete = True
                self._write([b'{"complete":true}'])
            if now - self._life_at >= _LIFE_SECONDS:
                self._write([orjson.dumps({"now_ms": now_ms()})])
            lifeline.wait(_YIELD_SECONDS if has_more else _TICK_SECONDS)

    def _send(self, rows: Mapping[Key, Row], *, shows_all: bool) -> None:
        """Send what has changed."""
        if rows is self._rows and not shows_all:
            return
        at_ms = now_ms()
        self._rows, before = rows, self._shown
        self._shown = {key: row for key, row in rows.items() if shows_all or not is_hidden(row, at_ms)}
        lines = []
        for key, row in self._shown.items():
            if before.get(key) is row:
                continue
            line = encode(row)
            if self._sent.get(key) != line:
                self._sent[key] = line
                lines.append(b'{"row":' + line + b"}")
        for key in self._sent.keys() - self._shown.keys():
            del self._sent[key]
            lines.append(orjson.dumps({"gone": [_text(each) for each in key]}))
        self._write(lines)

    def _write(self, lines: list[bytes]) -> None:
        if lines:
            self._life_at = time.monotonic()
            write_all(b"".join(line + b"\n" for line in lines))


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
