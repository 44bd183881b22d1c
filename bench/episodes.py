"""How long does it take to find the trouble in 100,000 calls, and does hostile input make it grow faster?

Each kind of session is read in two sizes, the second four times the first. The CPU time of iterating the
calls is measured on its own: it is that of unpacking them, which every reader of a long session pays. The
script fails if four times the calls cost more than eight times as much.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import MILLISECONDS, command_line, head, row

from agentwatch.analysis.episodes import Episodes
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved

_CWD = "/home/me/project"
_MOST_GROWTH = 8.0
_LEAST_SECONDS = 0.1
"""Less CPU time than this is not compared."""
_LONG = "a b " * 1000
_COMMANDS = ("git status", "ls -la src", "npm run build 2>&1 | tail -5", "python tool.py --n {n}")
Step = tuple[str, dict[str, Any], dict[str, Any]]
"""A tool, its arguments and its result."""


def _shell(command: str, exit_code: int, stdout: str = "") -> Step:
    body = {"exitCode": exit_code, "stdout": stdout}
    return "shell", {"command": command}, {"failure" if exit_code else "success": body}


def _typical(count: int) -> Iterator[Step]:
    drawn = random.Random(1)
    for _ in range(count):
        path = {"path": f"{_CWD}/src/module_{drawn.randrange(400)}.py"}
        kind, exit_code = drawn.random(), int(drawn.random() < 0.15)
        if kind < 0.3:
            yield "read", path, {"success": {"totalLines": 20}}
        elif kind < 0.5:
            yield "edit", path, {"success": {"linesAdded": 1, "linesRemoved": 1}}
        elif kind < 0.6:
            yield _shell(f"pytest -q tests/test_{drawn.randrange(50)}.py", exit_code, "1 failed in 0.2s")
        elif kind < 0.8:
            yield _shell(drawn.choice(_COMMANDS).format(n=drawn.randrange(1000)), exit_code)
        else:
            yield "grep", {"pattern": f"def name_{drawn.randrange(100)}"}, {"success": {}}


_SESSIONS: dict[str, Callable[[int], Iterator[Step]]] = {
    "typical": _typical,
    "one command of 4 kB fails": lambda count: (_shell(_LONG, 1) for _ in range(count)),
    "other commands of 4 kB fail": lambda count: (_shell(f"{n} {_LONG}", 1) for n in range(count)),
    "other files of 4 kB": lambda count: (
        ("edit", {"path": f"/{n}/{'a/' * 2000}"}, {"success": {"linesRemoved": 1}}) for n in range(count)
    ),
    "other parts of one file": lambda count: (
        ("read", {"path": f"{_CWD}/a", "offset": n}, {"success": {"totalLines": 2}}) for n in range(count)
    ),
    "tests behind a pipe": lambda count: (
        _shell(f"pytest {n} | tail -1", 0, "1 failed in 0.2s") for n in range(count)
    ),
}


def _write(path: Path, steps: Iterator[Step]) -> None:
    with path.open("w") as file:
        print(json.dumps({"type": "system", "subtype": "init", "cwd": _CWD, "session_id": "s"}), file=file)
        for number, (tool, args, result) in enumerate(steps):
            for subtype, body in (
                ("started", {"args": args}),
                ("completed", {"args": args, "result": result}),
            ):
                line = {"type": "tool_call", "subtype": subtype, "call_id": f"c-{number}", "session_id": "s"}
                print(json.dumps(line | {"tool_call": {f"{tool}ToolCall": body}}), file=file)


def _measure(path: Path) -> tuple[float, float, float]:
    """Return the CPU seconds of iterating the calls, of counting, and of listing with each reread known."""
    feed = Feed(open_saved(path))
    feed.advance()
    began = time.process_time()
    for _ in feed.session.ended_calls:
        pass
    iterated = time.process_time()
    episodes = Episodes(feed)
    while episodes.update():
        pass
    counted = time.process_time()
    episodes.episodes()
    for number in range(1, len(feed.session.calls) + 1):
        episodes.reread(number)
    return iterated - began, counted - iterated, time.process_time() - counted


def main() -> None:
    """Measure each session, and fail if one grows faster than its size."""
    given = command_line(__doc__).parse_args()
    count = 200 if given.smoke else 25_000
    head("session", "calls", "iterate", "count, with iterating", "list, rereads", "growth")
    is_linear = True
    with TemporaryDirectory() as folder:
        path = Path(folder, "session.ndjson")
        for name, steps in _SESSIONS.items():
            costs = []
            for size in (count, 4 * count):
                _write(path, steps(size))
                costs.append(_measure(path))
            small, large = (sum(cost[1:]) for cost in costs)
            growth = large / small if small > _LEAST_SECONDS else 0.0
            is_linear = is_linear and growth <= _MOST_GROWTH
            shown = (f"{seconds * MILLISECONDS:.0f} ms" for seconds in costs[-1])
            row(name, 4 * count, *shown, f"{growth:.1f} x" if growth else "-")
    if not is_linear:
        sys.exit("a cost grows faster than the calls")


if __name__ == "__main__":
    main()
