"""Shared by the scripts: the command line, generated sessions, children and their costs, and tables."""

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
_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a child process used."""

    wall: float
    cpu: float
    """CPU seconds, user and system."""
    peak_bytes: int
    """Its largest resident set. It is at least as large as that of this process, which Linux hands down."""
    stdout: bytes


def command_line(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--smoke", action="store_true", help="run with small sizes, to check that the script works"
    )
    folder = Path(tempfile.gettempdir()) / "agentwatch-bench"
    parser.add_argument(
        "--folder", type=Path, default=folder, help=f"folder of the generated sessions ({folder})"
    )
    return parser


def session(folder: Path, mix: str, *, megabytes: float = 0, deltas: int = 0) -> tuple[Path, dict[str, int]]:
    """Return the path of a generated session and its facts; it is generated once and kept.

    A child generates it, because the peak memory of a child is at least the resident set of this process.

    Args:
        folder: Where sessions are kept.
        mix: The name of a mix in `sessions.MIXES`.
        megabytes: The approximate size of the session.
        deltas: The least number of deltas, instead of a size.
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
    """Return the environment of a child: this checkout's agentwatch, and a terminal with all colours.

    An installed package has compiled bytecode. The first child compiles this checkout, so writing bytecode is
    allowed.
    """
    dropped = ("CI", "COLUMNS", "LINES", "NO_COLOR", "PYTHONDONTWRITEBYTECODE")
    inherited = {name: value for name, value in os.environ.items() if name not in dropped}
    fixed = {"PYTHONPATH": str(HERE.parent), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**inherited, **fixed, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **more}


def run(argv: Sequence[str], *, keep_output: bool = False, codes: Sequence[int] = (0,)) -> Cost:
    """Run a child to its end, and return its cost.

    Args:
        argv: The command.
        keep_output: Whether its output is returned.
        codes: The exit codes with which it may end.

    Raises:
        SystemExit: The child ended with another one.
    """
    out = subprocess.PIPE if keep_output else subprocess.DEVNULL
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, env=environment()) as child:
        output = child.stdout.read() if child.stdout else b""
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise SystemExit(f"exit {child.returncode}: {' '.join(argv)}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, output)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far: exact, or to 10 ms if one of its threads has ended."""
    process = Path(f"/proc/{pid}")
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    threads = (int(one.read_text().split()[0]) for one in process.glob("task/*/schedstat"))
    return max(sum(map(int, fields[11:13])) / _TICKS, sum(threads) / 1e9)


def interleaved(
    commands: Mapping[str, Sequence[str]], rounds: int, codes: Sequence[int] = (0,)
) -> dict[str, list[Cost]]:
    """Run every command once per round, so that other load on the machine affects all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            costs[name].append(run(argv, codes=codes))
    return costs


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that the given share of the values does not exceed; NaN for no values."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def median_and_least(seconds: Sequence[float]) -> str:
    """Return the median and the minimum in milliseconds, as a table cell."""
    return f"{statistics.median(seconds) * MILLISECONDS:.0f} ({min(seconds) * MILLISECONDS:.0f})"


def megabytes(size: float) -> str:
    """Return a number of bytes in megabytes, as a table cell."""
    return f"{size / 1e6:.{0 if size > 1e6 else 2}f} MB"


def head(*titles: str) -> None:
    """Print the head of a table."""
    row(*titles)
    row(*("---" for _ in titles))


def row(*cells: object) -> None:
    """Print a table row and flush it, so that a script that is killed has printed its results so far."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
