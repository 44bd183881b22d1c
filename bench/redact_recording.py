"""How long does it take to redact a whole recording, and how much memory?

A child runs `agentwatch export RECORDING --to recording -o FILE`. The speed is that of all three readings
and of writing, by CPU time. Each recording also has 20 tokens, and the script fails if one of them is in the
file.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

from measure import AGENTWATCH, command_line, head, megabytes, row, run, session

_MIXES = ("typical", "deltas", "calls", "blobs")
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LEAST_SPEED = 5.0
_MOST_MEMORY = 150e6


def main() -> None:
    """Measure each mix, and fail if a token is left or a target is missed."""
    given = command_line(__doc__).parse_args()
    size = 2.0 if given.smoke else 100.0
    missed = False
    head("mix", "size", "CPU", "wall", "speed", "memory")
    for mix in _MIXES:
        path, _ = session(given.folder, mix, megabytes=size)
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            source, written = Path(folder, "source.ndjson"), Path(folder, "redacted.ndjson")
            shutil.copyfile(path, source)
            tokens = _plant(source)
            cost = run([*AGENTWATCH, "export", "--to", "recording", str(source), "-o", str(written)])
            if _has_one(written, tokens):
                sys.exit(f"{mix}: a token is left")
            speed = source.stat().st_size / 1e6 / cost.cpu
            missed = missed or speed < _LEAST_SPEED or cost.peak_bytes > _MOST_MEMORY
            cells = (megabytes(source.stat().st_size), f"{cost.cpu:.1f} s", f"{cost.wall:.1f} s")
            row(mix, *cells, f"{speed:.1f} MB/s", megabytes(cost.peak_bytes))
    if missed and not given.smoke:
        sys.exit(f"slower than {_LEAST_SPEED:g} MB/s, or more memory than {megabytes(_MOST_MEMORY)}")


def _has_one(path: Path, tokens: list[bytes]) -> bool:
    """Return whether a file has a token. A child would inherit the memory of a file that is read whole."""
    with path.open("rb") as file:
        return any(token in line for line in file if b"ghp_" in line for token in tokens)


def _plant(path: Path) -> list[bytes]:
    """Append lines with tokens, and return the tokens."""
    random = Random(1)
    tokens = [f"ghp_{''.join(random.choices(_LETTERS, k=36))}".encode() for _ in range(20)]
    with path.open("ab") as file:
        for token in tokens:
            file.write(b'{"type":"user","message":{"content":[{"type":"text","text":"use %s"}]}}\n' % token)
    return tokens


if __name__ == "__main__":
    main()
