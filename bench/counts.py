"""How much work does reading a session take, counted instead of timed?

Prints how many Python functions are called to summarise fixed sessions, and how many modules are imported for
`--help`, for a printed summary and for the first frame of the screen. The numbers are the same on every
machine and under any load. They depend on the version of Python: `tests/project/counts.toml` holds those of
3.11, and `tests/project/test_counts.py` compares them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from measure import HERE, command_line, environment, head, row
from terminal import Terminal

_CAPTURES = HERE.parent / "tests" / "captures"
_CODEX = _CAPTURES / "real" / "codex-0.169.0" / "full.ndjson"
_WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.05

CALLS = """
import gc, os, sys, time
from agentwatch.cli.app import main

def run(path):
    sys.argv = ["agentwatch", "--print", "--output-format", "summary", path]
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        main()
    except SystemExit:
        pass
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)

def counted(path):
    calls = 0
    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"
    run(path)
    run(path)  # what is made once is made now
    sys.setprofile(count)
    run(path)
    sys.setprofile(None)
    return calls

gc.disable()
time.perf_counter = float  # returns 0: a busy machine would read in more slices
for path in sys.argv[1:]:
    print(counted(path))
"""
"""Counts the calls of Python functions of the third run in one process."""

MODULES = """
import sys
from agentwatch.cli.start import main
try:
    main()
finally:
    print(len(sys.modules.keys() - {"sitecustomize", "usercustomize"}), file=sys.stderr)
"""

FRAME = """
import os, sys
from textual.drivers._writer_thread import WriterThread
from agentwatch.cli.start import main

write, path = WriterThread.write, sys.argv.pop(1)

def count(self, text):
    if "\\u256d" in text and not os.path.exists(path):  # the corner of a pane
        with open(path, "w") as file:
            print(len(sys.modules.keys() - {"sitecustomize", "usercustomize"}), file=file)
    write(self, text)

WriterThread.write = count
main()
"""


def calls(folder: Path) -> dict[str, int]:
    """Return the number of calls for each session, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "typical": ("sessions.py", "--mix", "typical"),
        "deltas": ("sessions.py", "--mix", "deltas"),
        "blobs": ("sessions.py", "--mix", "blobs"),
        "claude": ("claude_sessions.py",),
    }
    paths = {name: folder / f"counted-{name}.ndjson" for name in made}
    for name, (script, *options) in made.items():
        argv = [
            sys.executable,
            str(HERE / script),
            *options,
            "--megabytes",
            "2",
            "--seed",
            "7",
            str(paths[name]),
        ]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    paths["codex"] = _CODEX
    argv = [sys.executable, "-c", CALLS, *map(str, paths.values())]
    done = subprocess.run(argv, check=True, capture_output=True, env=environment(PYTHONHASHSEED="0"))
    return dict(zip(paths, map(int, done.stdout.split()), strict=True))


def modules(folder: Path) -> dict[str, int]:
    """Return the number of modules that are imported for each command, and for the first frame."""
    twenty = folder / "counted-20-lines.ndjson"
    with open(folder / "counted-typical.ndjson", "rb") as file:
        twenty.write_bytes(b"".join(file.readline() for _ in range(20)))
    found = {}
    for name, words in (("help", ["--help"]), ("print", ["--print", str(twenty)])):
        argv = [sys.executable, "-c", MODULES, *words]
        done = subprocess.run(argv, capture_output=True, check=False, env=environment())
        found[name] = int(done.stderr.split()[-1])
    count = folder / "counted-modules"
    count.unlink(missing_ok=True)
    argv = [sys.executable, "-c", FRAME, str(count), str(folder / "counted-typical.ndjson")]
    until = time.monotonic() + _WAIT_SECONDS
    with Terminal(argv, home=folder / "home", keep=True) as terminal:
        while not (count.exists() and count.read_text().endswith("\n")):
            terminal.read(_POLL_SECONDS)
            if time.monotonic() > until:
                drawn = b"".join(data for _, data in terminal.chunks)
                sys.exit(f"no pane was drawn: {drawn[-1000:]!r}")
    return found | {"frame": int(count.read_text())}


def main() -> None:
    """Print the counts."""
    parser = command_line(__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = {"calls": calls(options.folder), "modules": modules(options.folder)}
    if options.json:
        print(json.dumps(found))
        return
    head("what", "count")
    for kind, counts in found.items():
        for name, number in counts.items():
            row(f"{kind}, {name}", f"{number:,}")


if __name__ == "__main__":
    main()
