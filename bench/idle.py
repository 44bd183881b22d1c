"""How much does agentwatch use while nothing happens?

CPU time and bytes written to the terminal, over some seconds of silence: on an open pipe without any event,
on a saved session that has come to rest, and while three calls are running, whose clocks advance.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from live import watched_pipe
from measure import AGENTWATCH, command_line, head, row, session
from terminal import Terminal

_QUIET_SECONDS = 0.5
_PATIENCE = 60.0
_SESSION = '"session_id":"5e0c7a2b-1f53-4f6d-8d0a-93b5b7c1a644"'
_KEYS = '"apiKeySource":"login","cwd":"/src","model":"Sonnet 5","permissionMode":"default"'


def main() -> None:
    """Measure the three situations."""
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds of idling per measurement (20)")
    given = parser.parse_args()
    seconds = 1.0 if given.smoke else given.seconds
    path, _ = session(given.folder, "typical", megabytes=2)
    head("idle", "at rest after", "CPU", "bytes to the terminal", "per second")
    with tempfile.TemporaryDirectory() as folder:
        with watched_pipe(Path(folder)) as (terminal, pipe):
            _measure("an open pipe, nothing said", terminal, seconds)
            pipe.write(_three_calls())
            terminal.wait_for(rb"3 parallel calls")
            _measure("three calls running", terminal, seconds, patience=1)
        with Terminal((*AGENTWATCH, str(path)), home=Path(folder)) as terminal:
            terminal.wait_for(rb"succeeded")
            _measure("a finished session", terminal, seconds)


def _measure(name: str, terminal: Terminal, seconds: float, *, patience: float = _PATIENCE) -> None:
    began = time.monotonic()
    terminal.settle(_QUIET_SECONDS, seconds=patience)
    rest = f"{max(terminal.last_read - began, 0):.1f} s" if time.monotonic() - began < patience else "–"
    cpu, began = terminal.cpu_seconds(), time.monotonic()
    written = terminal.read_for(seconds)
    share = (terminal.cpu_seconds() - cpu) / (time.monotonic() - began)
    row(name, rest, f"{share:.2%}", f"{written:,}", f"{written / seconds:,.0f}")


def _three_calls() -> bytes:
    """Return the beginning of a stream in which three calls run in parallel."""
    lines = [f'{{"type":"system","subtype":"init",{_KEYS},{_SESSION}}}\n']
    for number, command in enumerate(("make test", "make lint", "make types")):
        call = f'{{"shellToolCall":{{"args":{{"command":"{command}","timeout":120000}}}}}}'
        begin = f'{{"type":"tool_call","subtype":"started","call_id":"toolu_{number}"'
        lines.append(f'{begin},"tool_call":{call},{_SESSION},"timestamp_ms":1793610846000}}\n')
    return "".join(lines).encode()


if __name__ == "__main__":
    main()
