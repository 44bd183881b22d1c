"""How long do the statistics over all sessions take?

The index is filled with made rows: sessions of 50 calls, of which 40 % are commands, 20 % edits and 10 %
test runs. Measured are the queries alone. With `--home`, a folder with the sessions of agents, the index is
made of these: by one core, and by all.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random

from measure import AGENTWATCH, MILLISECONDS, command_line, head, megabytes, row, run

from agentwatch.catalog.index import SessionIndex
from agentwatch.catalog.index_rows import Rows
from agentwatch.catalog.index_schema import TABLES
from agentwatch.catalog.statistics import Chosen, statistics

_CALLS = 50
_ROUNDS = 5
_WEEK_MS = 7 * 86_400_000
_NOW_MS = 1_795_000_000_000
_COMMANDS = [
    f"{program} {word}" for program in ("git", "npm run", "cargo", "make") for word in "abcdefghijkl"
]


def _session(number: int, random: Random) -> Rows:
    """Return a made session of one agent in one of 40 repositories."""
    values = {
        "path": f"/home/dev/sessions/{number}.jsonl",
        "agent": random.choice(("claude", "codex", "gemini")),
        "session_id": f"s-{number}",
        "is_recording": 0,
        "cwd": "/home/dev/src",
        "repository": f"repo-{number % 40}",
        "outcome": "succeeded",
        "tests": random.choice(("green", "red", "unknown")),
        "began_ms": _NOW_MS - number * 600_000,
        "seen_ms": _NOW_MS - number * 600_000 + 300_000,
        "active_ms": 300_000,
        "turns": 3,
        "calls": _CALLS,
        "failed": 3,
        "rejected": 0,
        "cancelled": 0,
        "input_tokens": 100_000,
        "output_tokens": 4_000,
        "cost_usd": None if number % 2 else 0.5,
        "size": 100_000,
        "changed_ns": number,
    }
    calls = [_call(at, random) for at in range(1, _CALLS + 1)]
    edits = [(at, f"src/file-{random.randrange(400)}.py", 4, 2) for at in range(5, _CALLS + 1, 5)]
    return Rows(tuple(values.get(name) for name in TABLES["stored_session"]), calls, edits)


def _call(number: int, random: Random) -> tuple[object, ...]:
    """Return a made call: a command, an edit or a read."""
    values: dict[str, object] = {
        "number": number,
        "tool": random.choice(("Read", "Grep", "Glob")),
        "kind": "read",
        "path": "/home/dev/src/package/module/file.py",
        "target": "/home/dev/src/package/module/file.py",
        "outcome": "failed" if random.random() < 0.06 else "succeeded",
        "started_ms": _NOW_MS,
        "ended_ms": _NOW_MS,
        "duration_ms": random.randrange(20_000),
    }
    if number % 5 < 2:
        command = random.choice(_COMMANDS)
        values |= {
            "tool": "Bash",
            "kind": "execute",
            "command": command,
            "target": f"cd /home/dev && {command}",
        }
        if number % 10 == 1:
            values |= {"verdict": "red", "verdict_tool": "pytest", "verdict_source": "pattern"}
    return tuple(values.get(name) for name in TABLES["stored_call"])


def _filled(path: Path, sessions: int) -> None:
    """Fill an index."""
    source = random.Random(7)
    with closing(SessionIndex(path, "bench")) as index:
        for first in range(0, sessions, 200):
            index.replace([_session(number, source) for number in range(first, min(first + 200, sessions))])


def _first_time(home: Path, state: Path) -> None:
    """Measure the first statistics, by one core and by all, in turns."""
    every = os.sched_getaffinity(0)
    ways = {1: {min(every)}, len(every): every}
    costs = {cores: list[tuple[float, float]]() for cores in ways}
    os.environ |= {"HOME": str(home), "XDG_STATE_HOME": str(state)}
    for _ in range(_ROUNDS):
        for cores, chosen in ways.items():
            shutil.rmtree(state, ignore_errors=True)
            os.sched_setaffinity(0, chosen)
            cost = run((*AGENTWATCH, "stats"))
            os.sched_setaffinity(0, every)
            costs[cores].append((cost.wall, cost.cpu))
    head("cores", "time, s", "CPU, s")
    for cores, found in costs.items():
        row(cores, *(f"{min(each):.2f}" for each in zip(*found, strict=True)))


def main() -> None:
    """Measure the statistics over all sessions, over those of a week, and over those of one repository."""
    parser = command_line(__doc__)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    if options.home is not None:
        _first_time(options.home, options.folder / "stats-state")
        return
    sessions = 100 if options.smoke else 10_000
    folder = options.folder / "stats"
    shutil.rmtree(folder, ignore_errors=True)
    path = folder / "state" / "index.db"
    path.parent.mkdir(parents=True)
    _filled(path, sessions)
    print(f"{sessions:,} sessions, {sessions * _CALLS:,} calls, {megabytes(path.stat().st_size)}\n")
    head("statistics over", "time", "CPU")
    for name, chosen in (
        ("all sessions", Chosen()),
        ("a week", Chosen(since_ms=_NOW_MS - _WEEK_MS)),
        ("a repository", Chosen(repository="repo-7")),
    ):
        wall, cpu = [], []
        for _ in range(_ROUNDS):
            began, used = time.perf_counter(), time.process_time()
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                statistics(connection, chosen)
            wall.append(time.perf_counter() - began)
            cpu.append(time.process_time() - used)
        row(name, f"{min(wall) * MILLISECONDS:.0f} ms", f"{min(cpu) * MILLISECONDS:.0f} ms")


if __name__ == "__main__":
    main()
