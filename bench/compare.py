"""How long does it take to align the calls of two runs, and to compare two recordings as a whole?

The alignment is measured alone: of two runs that differ in a quarter of their calls, and of hostile ones.
A whole comparison is a child that reads two recordings and prints all rows as JSON. The script fails if two
runs of 1,000 calls take over 50 ms to align, two of 10,000 over 5 s, or if ten times the calls cost more than
thirty times as much; quadratic cost is a hundred times.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from measure import AGENTWATCH, MILLISECONDS, command_line, head, megabytes, row, run

from agentwatch.output.compare.alignment import Key, aligned

_MOST_SECONDS = {1_000: 0.05, 10_000: 5.0}
_MOST_GROWTH = 30
_LEAST_SECONDS = 0.5
"""Costs below this are not compared with each other: the accurate part may take that long at any size."""
_SEED = 5
_COMMANDS = ("pytest -q", "git status", "make lint", "ls")


def _typical(size: int, chance: random.Random) -> Iterator[Key]:
    """Yield calls of which half are four commands, and half are about files that are used ten times each."""
    for _ in range(size):
        if chance.random() < 0.5:
            yield Key("execute", chance.choice(_COMMANDS), "")
        else:
            yield Key("read", f"src/{chance.randrange(size // 10 + 5)}.py", "")


def _changed(keys: Sequence[Key], chance: random.Random) -> Iterator[Key]:
    """Yield the calls of another run: of each, a twelfth removed, replaced, and added."""
    for key in keys:
        what = chance.random() * 12
        if what >= 1:
            yield key._replace(target=f"new {chance.random()}") if what < 2 else key
        if what > 11:
            yield Key("fetch", f"https://example.org/{chance.random()}", "")


def _quarter(size: int) -> tuple[list[Key], list[Key]]:
    chance = random.Random(_SEED)
    keys = [*_typical(size, chance)]
    return keys, [*_changed(keys, chance)]


def _few(size: int, different: int) -> tuple[list[Key], list[Key]]:
    """Return runs that repeat a few calls in random order, between calls of their own."""
    chance = random.Random(_SEED)

    def keys() -> list[Key]:
        middle = [Key("execute", str(chance.randrange(different)), "") for _ in range(size)]
        return [Key("read", str(chance.random()), ""), *middle, Key("read", str(chance.random()), "")]

    return keys(), keys()


def _shuffled(size: int) -> tuple[list[Key], list[Key]]:
    keys = [Key("read", str(number), "") for number in range(size)]
    return keys, random.Random(_SEED).sample(keys, size)


_RUNS: dict[str, Callable[[int], tuple[list[Key], list[Key]]]] = {
    "a quarter changed": _quarter,
    "one call repeated": lambda size: _few(size, 1),
    "two calls repeated": lambda size: _few(size, 2),
    "30 calls repeated": lambda size: _few(size, 30),
    "another order": _shuffled,
    "nothing in common": lambda size: (
        [Key("read", f"a{n}", "") for n in range(size)],
        [Key("read", f"b{n}", "") for n in range(size)],
    ),
}


def _line(**fields: object) -> bytes:
    return json.dumps({"session_id": "s", **fields}).encode() + b"\n"


def _recording(path: Path, keys: Sequence[Key]) -> None:
    """Write a run with these calls; a command prints 1 KB and a verdict."""
    with open(path, "wb") as file:
        file.write(_line(type="system", subtype="init", apiKeySource="login", cwd="/w", model="m"))
        for number, key in enumerate(keys):
            is_command = key.tool == "execute"
            name = "shellToolCall" if is_command else "readToolCall"
            body: dict[str, object] = {"args": {"command" if is_command else "path": key.target}}
            for step in ("started", "completed"):
                if step == "completed":
                    text = "x" * 1000 + "\n3 passed in 0.1s\n"
                    body["result"] = {"success": {"stdout": text, "exitCode": 0} if is_command else {}}
                at = {"call_id": f"c{number}", "timestamp_ms": 10**12 + number}
                file.write(_line(type="tool_call", subtype=step, tool_call={name: body}, **at))


def main() -> None:
    """Measure the alignment and the command, and fail if a figure is missed."""
    parser = command_line(__doc__)
    given = parser.parse_args()
    sizes = (100, 1_000) if given.smoke else (1_000, 10_000, 100_000)
    rounds = 1 if given.smoke else 3
    missed: list[str] = []
    head("alignment", *(f"2 × {size:,}" for size in sizes))
    for name, made in _RUNS.items():
        costs = [_least(made(size), rounds) for size in sizes]
        row(name, *(f"{cost * MILLISECONDS:.0f} ms" for cost in costs))
        missed += [
            name for size, cost in zip(sizes, costs, strict=True) if cost > _MOST_SECONDS.get(size, 60)
        ]
        missed += [
            f"{name}, growth"
            for less, more in pairwise(costs)
            if more > _LEAST_SECONDS and more > _MOST_GROWTH * max(less, _LEAST_SECONDS / 10)
        ]
    print()
    head("agentwatch compare --all --json", "size", "calls", "CPU")
    given.folder.mkdir(parents=True, exist_ok=True)
    paths = [Path(given.folder, f"compare-{side}.ndjson") for side in "ab"]
    for name, tenths in (("a quarter changed", 1), ("two calls repeated", 1), ("a quarter changed", 6)):
        size = sizes[-1] * tenths // 10
        for path, keys in zip(paths, _RUNS[name](size), strict=True):
            _recording(path, keys)
        cost = run((*AGENTWATCH, "compare", *map(str, paths), "--all", "--json"))
        both = sum(path.stat().st_size for path in paths)
        row(name, megabytes(both), f"2 × {size:,}", f"{cost.cpu:.2f} s")
    if missed and not given.smoke:
        sys.exit(f"too slow: {', '.join(missed)}")


def _least(runs: tuple[list[Key], list[Key]], rounds: int) -> float:
    """Return the least CPU time of an alignment, in seconds."""
    costs = []
    for _ in range(rounds):
        began = time.process_time()
        aligned(*runs)
        costs.append(time.process_time() - began)
    return min(costs)


if __name__ == "__main__":
    main()
