"""How much more than decoding JSON does reading a session cost?

The CPU time of `agentwatch --print --output-format summary FILE` is compared with that of a bare loop of
`orjson.loads` over the same lines. Both are whole processes, rounds are interleaved, and the minimum is
compared with the minimum. A check at the beginning ensures that agentwatch skips nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from checked import checked
from measure import AGENTWATCH, BARE_LOOP, command_line, head, interleaved, megabytes, row, session


def main() -> None:
    """Measure typical work, tiny deltas and large lines."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mix", choices=("typical", "deltas", "blobs"), help="measure only this mix")
    given = parser.parse_args()
    sizes = {"typical": (100, 0), "deltas": (0, 10_000_000), "blobs": (500, 0)}
    if given.smoke:
        sizes = {"typical": (4, 0), "deltas": (0, 20_000), "blobs": (30, 0)}
        given.rounds = 1
    head("session", "lines", "x of the bare loop, CPU", "CPU s", "bare s", "MB/s", "peak RSS", "bare peak")
    for mix, (size, deltas) in sizes.items():
        if given.mix in (None, mix):
            path, facts = session(given.folder, mix, megabytes=size, deltas=deltas)
            _measure(f"{mix}, {megabytes(facts['bytes'])}", path, facts, given.rounds)


def _measure(name: str, path: Path, facts: dict[str, int], rounds: int) -> None:
    summary = (*AGENTWATCH, "--print", "--output-format", "summary", str(path))
    found = checked(path)
    if not found["holds"] or (found["lines"], found["calls"]) != (facts["lines"], facts["calls"]):
        raise SystemExit(f"{path} is not what was written: {found}")
    costs = interleaved({"bare": (sys.executable, "-c", BARE_LOOP, str(path)), "ours": summary}, rounds)
    bare, ours = (min(cost.cpu for cost in costs[which]) for which in ("bare", "ours"))
    bare_peak, peak = (max(cost.peak_bytes for cost in costs[which]) for which in ("bare", "ours"))
    rate = facts["bytes"] / min(cost.wall for cost in costs["ours"]) / 1e6
    cells = (f"{ours / bare:.2f}", f"{ours:.2f}", f"{bare:.2f}", f"{rate:.0f}")
    row(name, f"{facts['lines']:,}", *cells, megabytes(peak), megabytes(bare_peak))


if __name__ == "__main__":
    main()
