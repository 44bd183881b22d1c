"""Hostile texts in the lines of opencode act on no terminal and command no CI runner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.captures import OURS
from tests.builders.lines import line
from tests.builders.payloads import PAYLOADS
from tests.harness.program import watch
from tests.harness.terminal_oracle import acting, driving

STREAM = OURS.root / "agents/opencode/own-1.18.33-full.jsonl"
FORMATS = (["log"], ["drift"], ["-p"], ["-p", "--brief"], ["--output-format", "summary"])
KEPT = ("type", "status", "role", "reason")
"""The fields that decide how a line is read."""
pytestmark = pytest.mark.slow


def hostile(value: Any, payload: str, key: str = "") -> Any:
    """Return a JSON value whose strings are followed by a payload."""
    if isinstance(value, dict):
        return {name: hostile(member, payload, name) for name, member in value.items()}
    if isinstance(value, list):
        return [hostile(member, payload) for member in value]
    return value + payload if isinstance(value, str) and key not in KEPT else value


@pytest.mark.system
@pytest.mark.parametrize("arguments", FORMATS, ids=" ".join)
def test_nothing_acts_in_what_is_printed(tmp_path: Path, arguments: list[str]) -> None:
    """With every payload in every string of every line, no output contains a byte that acts."""
    path = tmp_path / "case.ndjson"
    lines = [json.loads(data) for data in STREAM.read_bytes().splitlines()]
    changed = (line(hostile(fields, payload)) for payload in PAYLOADS.values() for fields in lines)
    path.write_bytes(b"".join(changed))
    done = watch(*arguments, path)
    assert done.stdout.count(b"\n") >= 1
    printed = done.stdout.decode()
    assert (driving(printed) if "summary" in arguments else acting(printed)) == []
    assert acting(done.stderr.decode()) == []
