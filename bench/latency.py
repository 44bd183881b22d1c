"""How long after a line is written does it appear on the screen?

A producer writes each line into a pipe when it is due. agentwatch shows the lines on a pty, which this script
reads. A delta counts as shown when its marker word, or that of a later delta, is read from the pty, because
one frame may show many. The script also measures the CPU time of agentwatch, and checks that its recording
has every line.
"""

from __future__ import annotations

import re
import tempfile
from array import array
from pathlib import Path
from typing import NamedTuple

from live import produced, recorded_everything, watched_pipe
from measure import MILLISECONDS, command_line, head, percentile, row
from producer import lines_of
from terminal import Terminal

_MARKER = re.compile(rb"mk(\d{7})")
_MARKER_BYTES = 9
_OVER = rb"succeeded"
_AHEAD = 200
_SECONDS = {10.0: 15.0, 1_000.0: 8.0, 10_000.0: 6.0}
_SILENCE_SECONDS = 10.0


class Shown(NamedTuple):
    """What was measured on the pty during a stream."""

    seen: list[float]
    """The time at which each delta appeared on the screen. Deltas that never appeared are missing."""
    cpu: float
    """CPU seconds per second while deltas arrived."""
    frame_bytes: float
    """Bytes per second written to the terminal."""


def main() -> None:
    """Measure each rate."""
    parser = command_line(__doc__)
    rates = ", ".join(f"{rate:g}" for rate in _SECONDS)
    parser.add_argument("--rate", type=float, action="append", help=f"lines per second (default: {rates})")
    parser.add_argument("--seconds", type=float, help="duration in seconds")
    given = parser.parse_args()
    head(
        "lines/s",
        "written → shown, p50",
        "p99",
        "longest",
        "shown",
        "deltas written/s",
        "CPU",
        "tty",
        "all taken in",
    )
    for rate in given.rate or ((1_000.0,) if given.smoke else _SECONDS):
        seconds = given.seconds or (1.0 if given.smoke else _SECONDS.get(rate, 10.0))
        _measure(rate, int(rate * seconds))


def watch(terminal: Terminal, deltas: int) -> Shown:
    """Read until all deltas are shown, or until the terminal was silent for ten seconds."""
    seen: list[float] = []
    carried = b""
    began = cpu = before = 0.0
    while len(seen) < deltas and (data := terminal.read(_SILENCE_SECONDS)):
        output = carried + data
        newest = max(map(int, _MARKER.findall(output)), default=-1)
        seen += [terminal.last_read] * (newest + 1 - len(seen))
        carried = output[1 - _MARKER_BYTES :]
        if not began and len(seen) > _AHEAD:
            began, cpu, before = terminal.last_read, terminal.cpu_seconds(), terminal.bytes_read
    span = terminal.last_read - began
    return Shown(seen, (terminal.cpu_seconds() - cpu) / span, (terminal.bytes_read - before) / span)


def _measure(rate: float, deltas: int) -> None:
    deltas += _AHEAD
    with tempfile.TemporaryDirectory() as folder, watched_pipe(Path(folder)) as (terminal, pipe):
        times = Path(folder, "times")
        with produced(pipe, deltas=deltas, rate=rate, ahead=_AHEAD, times=times) as producer:
            pipe.close()
            terminal.expect(_OVER)
            shown = watch(terminal, deltas)
            terminal.wait_for(_OVER)
            producer.wait()
        terminal.press(b"q")
        terminal.wait_end()
        written = array("d", times.read_bytes())
        pairs = list(zip(written, shown.seen, strict=False))[_AHEAD:]
        late = [(seen - at) * MILLISECONDS for at, seen in pairs]
        is_whole = recorded_everything(Path(folder), sum(1 for _ in lines_of(deltas)))
    times_ms = (f"{percentile(late, 0.5):.1f} ms", f"{percentile(late, 0.99):.1f} ms", f"{max(late):.1f} ms")
    achieved = (deltas - _AHEAD - 1) / (written[-1] - written[_AHEAD])
    many = f"{len(pairs)} of {deltas - _AHEAD}"
    costs = (f"{shown.cpu:.0%}", f"{shown.frame_bytes / 1000:.0f} KB/s")
    row(f"{rate:,.0f}", *times_ms, many, f"{achieved:,.0f}", *costs, "yes" if is_whole else "NO")


if __name__ == "__main__":
    main()
