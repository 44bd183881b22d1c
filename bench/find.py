"""Times `agentwatch find` over the sessions of a home folder, beside ripgrep or grep, the best of some runs.

    .venv/bin/python bench/find.py HOME

`HOME/truth.json` has the ids of the sessions with a rare word, `needle`, and with a rare file, `file_needle`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import AGENTWATCH

_RUNS = 5
_WORD, _FILE = "xyloquartz", "zebra_quux.py"


def timed(command: list[str], environ: dict[str, str]) -> tuple[bytes, str]:
    """Run a command several times; return its output, and its least CPU and wall time."""
    cpu, wall, output = [], [], b""
    for _ in range(_RUNS):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        output = subprocess.run(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        ).stdout
        wall.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return output, f"{min(cpu):.2f} s of CPU, {min(wall):.2f} s"


def main() -> None:
    home = Path(sys.argv[1]).absolute()
    truth = json.loads((home / "truth.json").read_text())
    searcher = ["rg", "-il"] if shutil.which("rg") else ["grep", "-ril"]
    with tempfile.TemporaryDirectory() as own:
        environ = {**os.environ, "HOME": str(home), "AGENTWATCH_HOME": own}
        for name, words, expected in (
            ("a rare word", [_WORD], truth["needle"]),
            ("a rare word, a field", [_WORD, "tool:read"], None),
            ("a word of every session", ["parser"], None),
            ("failed calls of a program", ["failed", "program:pytest"], None),
            ("a file", ["--path", _FILE], truth["file_needle"]),
        ):
            output, took = timed([*AGENTWATCH, "find", *words, "--json"], environ)
            ids = {json.loads(line)["session_id"] for line in output.splitlines()}
            right = "" if expected is None else f", right: {ids == {*expected}}"
            print(f"{name}: {took}, {len(output.splitlines())} hits{right}")
        folders = [str(home / ".claude"), str(home / ".codex")]
        _, took = timed([*searcher, _WORD, *folders], environ)
        print(f"{searcher[0]}: {took}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"most memory of any: {peak:.0f} MB")


main()
