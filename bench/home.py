"""What does the list of all sessions cost?

A machine in a temporary folder: sessions of all agents, of which some are live. Each live session has a
process and a record of Claude Code, and its file grows. Measured are the times from the start to the first
rows and to all rows, the CPU time and the memory while nothing happens, while live sessions in view grow, and
while only sessions out of view do, and the time that `status` and `sessions` take as whole processes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from measure import AGENTWATCH, HERE, MILLISECONDS, command_line, environment, head, megabytes, row
from terminal import Terminal

sys.path.insert(0, str(HERE.parent))

from agentwatch.base.clock import now_ms
from tests.builders.machine.fake import AGENTS, FakeMachine, fake_machine

_LINES_A_SECOND = 20
_BATCHES_A_SECOND = 5
_WAITS = "echo; read line"
_SIZE = (160, 48)


@contextmanager
def live(machine: FakeMachine, count: int) -> Iterator[list[Path]]:
    """Make the newest sessions of Claude Code live, and yield their files, newest first."""
    chosen = [(key, path) for key, path in machine.made.items() if key[0] == "claude"][:count]
    registry = machine.home / ".claude" / "sessions"
    registry.mkdir(parents=True, exist_ok=True)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for key, _ in chosen:
            process = subprocess.Popen(
                ["claude", "-c", _WAITS],
                executable="/bin/sh",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=machine.home,
            )
            processes.append(process)
            assert process.stdout is not None
            process.stdout.readline()
            began = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
            record = {"pid": process.pid, "procStart": began, "sessionId": key[1], "status": "busy"}
            record["statusUpdatedAt"] = now_ms()
            (registry / f"{process.pid}.json").write_text(json.dumps(record))
        yield [path for _, path in chosen]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


class Growth:
    """Appends lines to files while the terminal is read."""

    def __init__(self, terminal: Terminal, paths: Sequence[Path]) -> None:
        self._terminal = terminal
        self._paths = paths
        self._turns = 0

    def run(self, seconds: float) -> None:
        """Append 20 lines a second together for some seconds."""
        until = due = time.monotonic()
        until += seconds
        while time.monotonic() < until:
            for _ in range(_LINES_A_SECOND // _BATCHES_A_SECOND):
                self._append(self._paths[self._turns % len(self._paths)])
                self._turns += 1
            due += 1 / _BATCHES_A_SECOND
            self._terminal.read_for(max(due - time.monotonic(), 0))

    def _append(self, path: Path) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".000Z"
        number = f"{self._turns}"
        block = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": f"make {number}"},
        }
        message = {"id": f"m{number}", "role": "assistant", "model": "m", "content": [block]}
        line: dict[str, object] = {
            "type": "assistant",
            "uuid": f"b{number}",
            "timestamp": stamp,
            "message": message,
        }
        line |= {"sessionId": path.stem, "isSidechain": False}
        with path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")


def _measure(name: str, terminal: Terminal, seconds: float, growth: Growth | None = None) -> None:
    cpu, began, before = terminal.cpu_seconds(), time.monotonic(), terminal.bytes_read
    if growth is None:
        terminal.read_for(seconds)
    else:
        growth.run(seconds)
    took = time.monotonic() - began
    share = (terminal.cpu_seconds() - cpu) / took
    written = (terminal.bytes_read - before) / took
    row(name, f"{share:.2%}", megabytes(terminal.resident_bytes()), f"{written:,.0f}")


def _last(sessions: int) -> bytes:
    """Return what is on the screen once all sessions are found: how many are older than a week."""
    shown = 7 * 24 * 6  # a session ends every 10 minutes
    if sessions <= shown:
        return rb"part 1\b"
    return f"{sessions - shown:,}".encode()[:-1] + rb"\d older hidden"


def _wall(argv: Sequence[str], rounds: int) -> list[float]:
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(
            argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
        )
        took.append((time.perf_counter() - began) * MILLISECONDS)
    return took


def main() -> None:
    """Measure the start, the costs at rest and at work, and the commands."""
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds of each measurement (30)")
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--live", type=int, default=300)
    parser.add_argument(
        "--one-folder", action="store_true", help="put all sessions, of one agent, into one folder"
    )
    given = parser.parse_args()
    seconds = 1.0 if given.smoke else given.seconds
    sessions, count = (100, 10) if given.smoke else (given.sessions, given.live)
    rounds = 2 if given.smoke else 11
    with tempfile.TemporaryDirectory() as folder:
        machine = fake_machine(
            Path(folder),
            sessions,
            newest_ms=now_ms(),
            with_captures=False,
            repositories=1 if given.one_folder else 40,
            agents=("claude",) if given.one_folder else AGENTS,
        )
        os.environ.update(machine.environ)
        head("start", "milliseconds")
        for _ in range(1 if given.smoke else 3):
            with Terminal(AGENTWATCH, size=_SIZE) as terminal:
                terminal.expect(rb"part 0\b", _last(sessions))
                glyph = terminal.first_glyph()
                first = terminal.wait_for(rb"part 0\b")
                every = terminal.wait_for(_last(sessions))
                row("first glyph after the start", f"{(glyph - terminal.started) * MILLISECONDS:.0f}")
                row("first rows after the first glyph", f"{(first - glyph) * MILLISECONDS:.0f}")
                row(f"all {sessions:,} after the first glyph", f"{(every - glyph) * MILLISECONDS:.0f}")
        head("situation", "CPU", "memory", "bytes a second to the terminal")
        with Terminal(AGENTWATCH, size=_SIZE) as terminal:
            terminal.wait_for(rb"part 0\b")
            terminal.settle(2.0, seconds=10)
            _measure(f"{sessions:,} sessions, none live, the age of one in seconds", terminal, seconds)
            terminal.read_for(2 * seconds)  # from its second minute on, it moves once a minute
            _measure(f"{sessions:,} sessions, none live, no age moves each second", terminal, seconds)
            terminal.press(b"q")
        with live(machine, count) as paths, Terminal(AGENTWATCH, size=_SIZE) as terminal:
            terminal.wait_for(rb"working")
            terminal.settle(2.0, seconds=10)
            _measure(f"{count} live, nothing grows", terminal, seconds)
            _measure(f"{count} live, 20 lines/s over all", terminal, seconds, Growth(terminal, paths))
            terminal.press(b"G")
            terminal.settle(1.0, seconds=5)
            _measure("the same, with ended sessions in view", terminal, seconds, Growth(terminal, paths))
            with_file = _wall((*AGENTWATCH, "status"), rounds)
            terminal.press(b"q")
        head("command", "median ms (least)")
        for name, took in (
            ("status, while the list is open", with_file),
            ("status, by itself", _wall((*AGENTWATCH, "status"), rounds)),
            ("sessions --json", _wall((*AGENTWATCH, "sessions", "--json"), rounds)),
        ):
            row(name, f"{statistics.median(took):.0f} ({min(took):.0f})")


if __name__ == "__main__":
    main()
