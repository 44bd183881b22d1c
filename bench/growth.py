"""Does the cost of odd input grow faster than its size?

Each kind of odd input is read in three sizes, each four times the one before, by a child that prints the
action log. The cost is its CPU time without that of reading an empty file. The script fails if four times the
input costs more than eight times as much; quadratic cost is sixteen times.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from measure import AGENTWATCH, MILLISECONDS, command_line, head, megabytes, row, run

_STEPS = (1, 4, 16)
_MOST_GROWTH = 8.0
_LEAST_SECONDS = 0.1
"""Less CPU time than this is not compared: it is the noise of starting Python."""


def _line(**fields: object) -> bytes:
    return json.dumps({"session_id": "s", **fields}).encode() + b"\n"


def _text(text: str, **fields: object) -> bytes:
    return _line(type="assistant", message={"content": [{"type": "text", "text": text}]}, **fields)


def _call(step: str, number: int, **body: object) -> bytes:
    call = {"shellToolCall": body}
    return _line(type="tool_call", subtype=step, call_id=f"c{number}", tool_call=call)


def _begun(number: int) -> bytes:
    return _call("started", number, args={"command": "ls"})


_INIT = _line(type="system", subtype="init", apiKeySource="login", cwd="/", model="m")
_DELTA = _text("word ", timestamp_ms=1000)
_CALL = _call("started", 1, args={"command": "ls"}) + _call("completed", 1, result={"success": {}})
_RESULT = _line(type="result", subtype="success", is_error=False, result="word ")
_INPUTS: dict[str, Callable[[int], bytes]] = {
    "runs": lambda kib: (_INIT + _DELTA + _CALL + _RESULT) * kib,
    "deltas between untimed lines": lambda kib: (_DELTA + _text("other")) * (4 * kib),
    "deltas that are not valid": lambda kib: _DELTA * 2 + _DELTA.replace(b"word ", b"\\q") * (6 * kib),
    "broken lines": lambda kib: b'{"type":"assistant\n' * (50 * kib),
    "lines of an open string": lambda kib: b'{"a":"\n' + b"text }\n" * (100 * kib),
    "strings and braces": lambda kib: b'{"a}\n' * (100 * kib),
    "a document from a pipe": lambda kib: b"{\n" + b'  "a": {\n    "b": 1\n  },\n' * (30 * kib),
    "blank lines": lambda kib: b'{"a":"\n' + b"\n" * (1000 * kib),
    "blank lines in a text": lambda kib: _text("\n" * (1000 * kib)),
    "[[[": lambda kib: b"[" * (1024 * kib) + b"\n",
    '{"a":{"a":': lambda kib: b'{"a":' * (204 * kib) + b"\n",
    "[],[],": lambda kib: b'{"a":[' + b"[]," * (340 * kib) + b"\n",
    "calls that never end": lambda kib: b"".join(map(_begun, range(8 * kib))),
    "unknown types": lambda kib: b"".join(_line(type=f"type {nth}") for nth in range(16 * kib)),
}
"""Each input by its name. At 1,024 it has megabytes; the call returns about that many kilobytes."""


def main() -> None:
    """Measure each input, and fail if one grows faster than its size."""
    parser = command_line(__doc__)
    given = parser.parse_args()
    base, rounds = (32, 1) if given.smoke else (256, 3)
    head("input", "size", *(f"CPU of {step} x" for step in _STEPS), "growth")
    is_linear = True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input.ndjson")
        floor = _seconds(path, b"", rounds)
        for name, made in _INPUTS.items():
            datas = [_INIT + made(base * step) for step in _STEPS]
            costs = [max(_seconds(path, data, rounds) - floor, 0.001) for data in datas]
            if _growth(costs) > _MOST_GROWTH:  # one round on a busy machine can take twice the CPU time
                floor = min(floor, _seconds(path, b"", 3))
                costs = [max(_seconds(path, data, 3) - floor, 0.001) for data in datas]
            growth = _growth(costs)
            is_linear = is_linear and growth <= _MOST_GROWTH
            cells = (f"{cost * MILLISECONDS:.0f} ms" for cost in costs)
            row(name, megabytes(len(datas[-1])), *cells, f"{growth:.1f}")
    if not is_linear:
        sys.exit("the cost of an input grows faster than its size")


def _seconds(path: Path, data: bytes, rounds: int) -> float:
    """Return the least CPU time in which the action log of these bytes is printed."""
    path.write_bytes(_INIT + data)
    command = (*AGENTWATCH, "--print", "--times", str(path))
    return min(run(command, codes=(0, 1)).cpu for _ in range(rounds))  # 1: no result


def _growth(costs: Sequence[float]) -> float:
    """Return the greatest factor from one size to the next; 0 where both costs are too small to compare."""
    pairs = [(less, more) for less, more in pairwise(costs) if more > _LEAST_SECONDS]
    return max((more / max(less, _LEAST_SECONDS / 2) for less, more in pairs), default=0)


if __name__ == "__main__":
    main()
