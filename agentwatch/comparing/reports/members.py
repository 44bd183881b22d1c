"""A comparison as JSON. What is unknown is null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from agentwatch.comparing.alignment import Match
from agentwatch.comparing.comparison import Comparison, Row
from agentwatch.comparing.side import Lines, Side
from agentwatch.outputs.summary import call_members
from agentwatch.outputs.tests_member import command_members
from agentwatch.safe_json import safe_json
from agentwatch.session import Call

_ROWS_AT_ONCE = 500


def json_pieces(comparison: Comparison, *, every: bool = False) -> Iterator[bytes]:
    """Yield a comparison of two runs as one JSON object in pieces, without a line end.

    Args:
        comparison: The comparison.
        every: Whether `rows` has the equal calls too.
    """
    divergence = comparison.first_divergence
    left_out = comparison.left_out
    yield encoded(
        {
            "a": side_members(comparison.a),
            "b": side_members(comparison.b),
            "counts": {
                "same": sum(1 for row in comparison.rows if row.is_equal),
                "other_result": comparison.changed(),
                "other_time": comparison.retimed(),
                **{match.value: count for match, count in _counts(comparison).items()},
            },
            "exact": comparison.is_exact,
            "left_out": {"a": left_out[0], "b": left_out[1]},
            "first_divergence": None
            if divergence is None
            else _row_members(comparison, divergence, comparison.rows[divergence]),
        }
    )[:-1]
    yield b',"rows":['
    wanted = range(len(comparison.rows)) if every else comparison.differences()
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        some = wanted[start : start + _ROWS_AT_ONCE]
        rows = [_row_members(comparison, index, comparison.rows[index]) for index in some]
        yield (b"," if start else b"") + encoded(rows)[1:-1]
    yield b"],"
    yield encoded(
        {
            "files": [{"path": row.path, "a": _lines(row.a), "b": _lines(row.b)} for row in comparison.files],
            "commands": [
                {
                    "command": row.command,
                    "a": None if row.a is None else command_members(row.a),
                    "b": None if row.b is None else command_members(row.b),
                }
                for row in comparison.commands
            ],
            "text": {
                "equal": comparison.text.is_equal,
                "cut": comparison.text.is_cut,
                "pieces": [{"in": piece.part, "text": piece.text} for piece in comparison.text.pieces],
            },
        }
    )[1:]


def side_members(side: Side) -> dict[str, Any]:
    """Return the members of a run: what it is, and its totals."""
    run, session = side.session.run, side.session
    return {
        "name": side.name,
        "format": run.format or session.format,
        "session_id": run.session_id,
        "model": run.model,
        "cwd": run.cwd,
        **side.totals._asdict(),
        "by_tool": dict(sorted(side.by_tool.items())),
    }


def encoded(value: object) -> bytes:
    """Return a value as JSON that cannot control a terminal; half a surrogate pair becomes `?`."""
    try:
        data = orjson.dumps(value)
    except orjson.JSONEncodeError:  # half a surrogate pair
        data = orjson.dumps(_valid(value))
    return safe_json(data)


def _row_members(comparison: Comparison, index: int, row: Row) -> dict[str, Any]:
    a, b = comparison.calls(row)
    return {
        "index": index,
        "match": row.match,
        "differs_in": list(row.aspects),
        "a": _call(comparison.a, a),
        "b": _call(comparison.b, b),
    }


def _call(side: Side, call: Call | None) -> dict[str, Any] | None:
    if call is None:
        return None
    verdict = side.verdicts.get(call.number)
    return {**call_members(call), "verdict": verdict and verdict.words}


def _lines(lines: Lines | None) -> dict[str, int | None] | None:
    return None if lines is None else lines._asdict()


def _counts(comparison: Comparison) -> dict[Any, int]:
    counts = comparison.counts()
    return {match: counts[match] for match in Match if match is not Match.EQUAL}


def _valid(value: Any) -> Any:
    """Return a value in which each text can be encoded."""
    if isinstance(value, dict):
        return {key: _valid(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_valid(each) for each in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
