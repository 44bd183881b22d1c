"""What the scripts share: the command line, the sessions they read, children and what they cost."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
AGENTWATCH = (sys.executable, "-m", "agentwatch")
BARE_LOOP = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'):\n    orjson.loads(line)"
MILLISECONDS = 1000.0


class Cost(NamedTuple):
    """What a child process took."""

    wall: float
    cpu: float
    """Seconds, of the user and of the system."""
    peak_bytes: int
    """Its largest resident set; no less than ours, which Linux hands down."""
    stdout: bytes


def command_line(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of what every script takes."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="small sizes, seconds: does it run at all?")
    folder = Path(tempfile.gettempdir()) / "agentwatch-bench"
    parser.add_argument("--folder", type=Path, default=folder, help=f"where sessions are kept ({folder})")
    return parser


def session(folder: Path, mix: str, *, megabytes: float = 0, deltas: int = 0) -> tuple[Path, dict[str, int]]:
    """Return a generated session and its facts; it is written once and kept.

    A child writes it: our own resident set is the least that a child's peak can be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = ("--deltas", f"{deltas}") if deltas else ("--megabytes", f"{megabytes:g}")
    path = folder / f"{mix}-{size[1]}{size[0][1:]}.ndjson"
    facts = path.with_suffix(".facts")
    if not facts.exists():
        argv = [sys.executable, str(HERE / "sessions.py"), "--mix", mix, *size, str(path)]
        facts.write_bytes(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    return path, json.loads(facts.read_bytes())


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a child: this checkout's agentwatch, a terminal with all colours.

    What is installed is compiled already; this checkout is by the first child, which may write that down.
    """
    unlike = ("CI", "NO_COLOR", "PYTHONDONTWRITEBYTECODE")
    ours = {name: value for name, value in os.environ.items() if name not in unlike}
    sane = {"PYTHONPATH": str(HERE.parent), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**ours, **sane, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **more}


def run(argv: Sequence[str], *, keep_output: bool = False) -> Cost:
    """Run a child to its end.

    Raises:
        SystemExit: It failed.
    """
    out = subprocess.PIPE if keep_output else subprocess.DEVNULL
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, env=environment()) as child:
        said = child.stdout.read() if child.stdout else b""
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"exit {child.returncode}: {' '.join(argv)}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said)


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Cost]]:
    """Run every command once a round: what else the machine does then meets them all."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            costs[name].append(run(argv))
    return costs


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed; NaN of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def median_and_least(seconds: Sequence[float]) -> str:
    """Return both in milliseconds, as a cell of a table."""
    return f"{statistics.median(seconds) * MILLISECONDS:.0f} ({min(seconds) * MILLISECONDS:.0f})"


def megabytes(size: float) -> str:
    """Return bytes as megabytes, as a cell of a table."""
    return f"{size / 1e6:.{0 if size > 1e6 else 2}f} MB"


def head(*titles: str) -> None:
    """Print the head of a table."""
    row(*titles)
    row(*("---" for _ in titles))


def row(*cells: object) -> None:
    """Print a row of a table, at once: a script that is ended has told what it knows."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
