"""What does it cost to know whether the tests of a session are green at its end?

Measured is the CPU time beside that of reading the session and of printing its summary: of a session of an
agent at work, of one with many calls, and of one in which each call is another test run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from measure import MILLISECONDS, command_line, head, row, session

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.verdict_history import final_verdicts
from agentwatch.feed.feed import Feed
from agentwatch.output.summary import summary

_ROUNDS = 5


def _test_runs(path: Path, count: int) -> Path:
    """Write a session in which each call runs another test file."""
    lines = []
    for number in range(count):
        args = {"command": f"cd /home/me/app && pytest -q tests/test_{number}.py 2>&1 | tail -20"}
        output = "." * 2000 + f"\n{number} failed, 17 passed in 0.31s\n"
        for subtype, shell in (
            ("started", {"args": args}),
            ("completed", {"args": args, "result": {"success": {"exitCode": 0, "stdout": output}}}),
        ):
            event = {"type": "tool_call", "subtype": subtype, "call_id": f"c{number}"}
            lines.append(json.dumps({**event, "tool_call": {"shellToolCall": shell}}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def _printed(feed: Feed) -> int:
    return sum(map(len, summary(feed.session)))


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Measure three sessions."""
    options = command_line(__doc__).parse_args()
    size, runs = (2, 100) if options.smoke else (100, 10_000)
    sessions = {
        f"typical, {size} MB": session(options.folder, "typical", megabytes=size)[0],
        f"calls, {size} MB": session(options.folder, "calls", megabytes=size)[0],
        f"{runs:,} test runs": _test_runs(options.folder / f"test-runs-{runs}.ndjson", runs),
    }
    head("session", "reading", "printing", "state of the tests", "share of all three")
    for name, path in sessions.items():
        best = [float("inf")] * 3
        for _ in range(_ROUNDS):
            with closing(saved_source(path)) as source:
                feed = Feed(source.reader)
                spent = (
                    _timed(feed.advance),
                    _timed(partial(_printed, feed)),
                    _timed(partial(final_verdicts, feed)),
                )
                best = list(map(min, best, spent))
        cells = [f"{seconds * MILLISECONDS:,.0f} ms" for seconds in best]
        row(name, *cells, f"{best[2] / sum(best):.1%}")


if __name__ == "__main__":
    main()
