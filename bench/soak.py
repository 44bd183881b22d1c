"""Does agentwatch remain stable for an hour?

A producer writes a typical session into a pipe at a steady rate, and agentwatch shows it on a pty. Its
resident memory is sampled every ten seconds and printed on stderr. The slope is a least-squares fit of the
samples after as many lines as five minutes have, for as many lines as an hour has. 350 lines per second make
730 MB per hour. The recording needs that much disk; with --no-record it is a file without a name.
`--rate 5000 --seconds 252` has the lines of an hour in four minutes, and fewer frames for them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from live import produced, watched_pipe
from measure import command_line, head, megabytes, row
from terminal import Terminal

_SAMPLE_SECONDS = 10.0
_SETTLED_SECONDS = 300.0
_USUAL_RATE = 350.0
"""The lines per second of which an hour is meant."""
_MIB = 1 << 20
_WHOLE = rb"recording whole"
_OVER = rb"succeeded"


class Sample(NamedTuple):
    """The state of agentwatch at a moment: seconds since the start, resident bytes, CPU seconds."""

    seconds: float
    resident: int
    cpu: float


def main() -> None:
    """Soak agentwatch for the time given on the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--rate", type=float, default=_USUAL_RATE, help="lines per second (350)")
    parser.add_argument("--no-record", action="store_true", help="do not keep a recording")
    given = parser.parse_args()
    seconds = 4.0 if given.smoke else given.seconds
    every = min(_SAMPLE_SECONDS, seconds / 20)
    options = ["--no-record"] if given.no_record else []
    with tempfile.TemporaryDirectory() as folder, watched_pipe(Path(folder), *options) as (terminal, pipe):
        terminal.expect(_OVER)
        with produced(pipe, mix="typical", lines=int(seconds * given.rate), rate=given.rate):
            pipe.close()
            samples = _samples(terminal, every)
        terminal.read_for(1)
        is_whole = _is_whole(terminal)
        _report(samples, given.rate, terminal.peak_bytes(), is_whole=is_whole)


def _samples(terminal: Terminal, every: float) -> list[Sample]:
    """Take samples at regular intervals until the run is over."""
    began = time.monotonic()
    samples: list[Sample] = []
    while not terminal.has_occurred(_OVER) and not terminal.is_over:
        due = began + every * len(samples)
        while (left := due - time.monotonic()) > 0 and not terminal.has_occurred(_OVER):
            terminal.read(left)
        sample = Sample(time.monotonic() - began, terminal.resident_bytes(), terminal.cpu_seconds())
        samples.append(sample)
        print(f"{sample.seconds:.0f} s, {sample.resident / _MIB:.1f} MiB", file=sys.stderr, flush=True)
    return samples


def _is_whole(terminal: Terminal) -> bool:
    """Return whether the status line says that every call is paired and every line was understood."""
    terminal.expect(_WHOLE)
    terminal.resize(158, 48)  # another size makes it redraw everything
    terminal.read_for(2)
    return terminal.has_occurred(_WHOLE)


def _report(samples: list[Sample], rate: float, peak: int, *, is_whole: bool) -> None:
    last = samples[-1]
    share = _USUAL_RATE / rate
    settled = min(_SETTLED_SECONDS * share, last.seconds / 4)
    later = [sample for sample in samples if sample.seconds >= settled]
    line = statistics.linear_regression(
        [sample.seconds for sample in later], [sample.resident for sample in later]
    )
    cpu = (last.cpu - samples[0].cpu) / (last.seconds - samples[0].seconds)
    head(
        "soak",
        "RSS once settled",
        "at the end",
        "peak",
        "slope",
        "CPU",
        "each call paired, each line understood",
    )
    name = f"{last.seconds:,.0f} s at {rate:g} lines/s"
    sizes = (megabytes(later[0].resident), megabytes(last.resident), megabytes(peak))
    row(
        name,
        *sizes,
        f"{line.slope * 3600 * share / _MIB:.1f} MiB/h",
        f"{cpu:.1%}",
        "yes" if is_whole else "NO",
    )


if __name__ == "__main__":
    main()
