"""What does the index of all sessions cost, to build it and to bring it up to date?

The sessions are copies of one of 50 calls in Claude Code's `stream-json`, in a home folder of their own.
Measured are the first run, one in which nothing has changed, one in which one session in a hundred has, and
the query for the commands that fail most.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path

from claude_sessions import ClaudeSession
from measure import AGENTWATCH, MILLISECONDS, command_line, head, megabytes, row, run

_CALLS = 50
_QUERY = "SELECT program, count(*) FROM failure WHERE kind = 'execute' GROUP BY program ORDER BY 2 DESC"


def _lines() -> bytes:
    """Return the lines of a session with 50 calls."""
    session = ClaudeSession(7)
    lines = session.begin()
    while sum('"tool_use"' in line and '"assistant"' in line for line in lines) < _CALLS:
        lines += session.message()
    return "".join(line.rstrip("\n") + "\n" for line in lines).encode()


def _machine(folder: Path, sessions: int) -> list[Path]:
    """Write the sessions, and return their files."""
    shutil.rmtree(folder, ignore_errors=True)
    saved, data = folder / "state" / "sessions", _lines()
    saved.mkdir(mode=0o700, parents=True)
    paths = [saved / f"20261122-120000-{uuid.UUID(int=number).hex[-9:]}.ndjson" for number in range(sessions)]
    for path in paths:
        path.write_bytes(data)
    return paths


def main() -> None:
    """Measure the runs and the query."""
    options = command_line(__doc__).parse_args()
    sessions = 50 if options.smoke else 400
    folder = options.folder / "index"
    paths = _machine(folder, sessions)
    os.environ |= {"HOME": str(folder), "AGENTWATCH_HOME": str(folder / "state")}
    head("run", "time", "CPU", "peak", "sessions a second of CPU", "MB a second of CPU")
    for name, changed in (("first", paths), ("nothing has changed", []), ("1 % has changed", paths[::100])):
        for path in changed:
            with path.open("ab") as file:
                file.write(b"\n")
        cost = run([*AGENTWATCH, "sessions", "--index"])
        size = sum(path.stat().st_size for path in changed)
        rates = f"{len(changed) / cost.cpu:,.0f}", f"{size / 1e6 / cost.cpu:.0f}"
        row(name, f"{cost.wall:.2f} s", f"{cost.cpu:.2f} s", megabytes(cost.peak_bytes), *rates)
    database = folder / "state" / "index.db"
    began = time.perf_counter()
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute(_QUERY).fetchall()
        [(calls,)] = connection.execute("SELECT count(*) FROM call").fetchall()
    took = (time.perf_counter() - began) * MILLISECONDS
    print(f"\n{sessions:,} sessions, {calls:,} calls, {megabytes(database.stat().st_size)}; ", end="")
    print(f"which commands fail most ({len(found)} programs) and all calls counted: {took:.0f} ms")


if __name__ == "__main__":
    main()
