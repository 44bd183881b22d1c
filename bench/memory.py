"""How much memory does a session use?

The script measures the peak resident set for a recording of a gigabyte, printed and on the screen. It also
measures what a million tiny deltas add while they arrive, computed from two streams of different length.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from live import produced, watched_pipe
from measure import AGENTWATCH, command_line, head, megabytes, row, run, session
from opening import open_session
from producer import marker

_SECONDS = 300.0


def main() -> None:
    """Measure a recording, then a stream."""
    parser = command_line(__doc__)
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument(
        "--deltas", type=int, default=2_000_000, help="number of deltas in the longer stream (2 million)"
    )
    given = parser.parse_args()
    size, deltas = (10.0, 40_000) if given.smoke else (given.megabytes, given.deltas)
    path, facts = session(given.folder, "typical", megabytes=size)
    head("memory", "peak RSS")
    floor = run((sys.executable, "-c", "pass")).peak_bytes
    row("python -c pass", megabytes(floor))
    summary = run((*AGENTWATCH, "--print", "--output-format", "summary", str(path)))
    row(f"summary of {megabytes(facts['bytes'])}", megabytes(summary.peak_bytes))
    row(f"screen of {megabytes(facts['bytes'])}", megabytes(open_session(path, facts["calls"]).peak_bytes))
    few, many = _resident(deltas // 4), _resident(deltas)
    row(f"live, after {deltas // 4:,} tiny deltas", megabytes(few))
    row(f"live, after {deltas:,} tiny deltas", megabytes(many))
    row("live, a million more", megabytes((many - few) / (deltas - deltas // 4) * 1e6))


def _resident(deltas: int) -> int:
    """Return the resident bytes after this number of deltas came through the pipe and were shown."""
    with tempfile.TemporaryDirectory() as folder, watched_pipe(Path(folder)) as (terminal, pipe):
        newest = marker(deltas - 1).encode()
        terminal.expect(newest)
        with produced(pipe, deltas=deltas, tiny=True, unfinished=True):
            terminal.wait_for(newest, seconds=_SECONDS)
        return terminal.resident_bytes()


if __name__ == "__main__":
    main()
