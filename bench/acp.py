"""Measures what `agentwatch acp` adds to a round trip between an editor and its agent.

Each round trip through `acp -- cat` is paired with one through `cat` alone. Run it as
`python -m bench.acp [ROUNDS]`, with no other load: half of the figure is the wake-up of a process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = (100, 4_000, 100_000)
_STARTS = 11
_ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"


def round_trip_ms(echo: subprocess.Popen[bytes], line: bytes) -> float:
    """Return how long a line takes to the agent and back, in milliseconds."""
    assert echo.stdin is not None
    assert echo.stdout is not None
    began = time.perf_counter()
    echo.stdin.write(line)
    echo.stdin.flush()
    left = len(line)
    while left:
        left -= len(os.read(echo.stdout.fileno(), left))
    return (time.perf_counter() - began) * 1000


def start_ms(command: list[str], environment: dict[str, str]) -> float:
    """Return how long an agent takes from its start to its first answer, in milliseconds."""
    time.sleep(0.5)  # the recorder of the start before may still load
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as echo:
        round_trip_ms(echo, b"{}\n")
        return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print the medians for each size, and the added time of a start."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else 1000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment = {**os.environ, "AGENTWATCH_HOME": home}
        watched = [sys.executable, "-m", "agentwatch", "acp", "--", "cat"]
        echoes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            for command in (["cat"], watched)
        ]
        for size in SIZES:
            line = b"x" * (size - 1) + b"\n"
            pairs = [tuple(round_trip_ms(echo, line) for echo in echoes) for _ in range(rounds)]
            plain, through = (statistics.median(column) for column in zip(*pairs, strict=True))
            added = statistics.median(pair[1] - pair[0] for pair in pairs)
            print(
                f"{size:>7,} bytes: {plain:.3f} ms alone, {through:.3f} ms through acp, {added:.3f} ms added"
            )
        for echo in echoes:
            assert echo.stdin is not None
            echo.stdin.close()
            echo.wait()
        starts = [
            [start_ms(command, environment) for command in (["cat"], [sys.executable, "-c", _ECHO], watched)]
            for _ in range(_STARTS)
        ]
        plain, python, through = (statistics.median(column) for column in zip(*starts, strict=True))
        print(f"start: {plain:.1f} ms alone, {python:.1f} of a bare Python, {through:.1f} through acp")


if __name__ == "__main__":
    main()
