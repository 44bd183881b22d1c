"""Secrets of all kinds are masked in recordings: in a text, in JSON in JSON, and split over deltas."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.builders.redaction.kinds import secrets
from tests.output.redact.delta_lines import FORMS
from tests.output.redact.planted import occurs
from tests.output.redact.redacting import redacted_bytes

LEAST = 0.98
FORM = FORMS["claude arguments"]


def in_a_text(text: str, _random: Random) -> bytes:
    """Return a result with a text."""
    return json.dumps({"type": "result", "result": text}).encode() + b"\n"


def in_a_pretty_text(text: str, _random: Random) -> bytes:
    """Return the output of a call as another program writes it."""
    content = [{"tool_use_id": "toolu_1", "type": "tool_result", "content": text}]
    return json.dumps({"message": {"content": content}}, ensure_ascii=False, separators=(",", ":")).encode()


def in_arguments(text: str, _random: Random) -> bytes:
    """Return a call whose arguments are JSON in a string, with a script in them."""
    arguments = json.dumps({"command": f"cat > x <<'EOF'\n{text}\nEOF", "timeout": 5})
    return json.dumps({"payload": {"type": "function_call", "arguments": arguments}}).encode() + b"\n"


def in_deltas(text: str, random: Random) -> bytes:
    """Return the deltas of a text, of a few characters each."""
    return _deltas(text, random)


def in_deltas_of_arguments(text: str, random: Random) -> bytes:
    """Return the deltas of the arguments of a call."""
    return _deltas(json.dumps({"file_path": "/a/b", "content": text}), random)


def _deltas(text: str, random: Random) -> bytes:
    lines, at = [], 0
    while at < len(text):
        size = random.randrange(1, 9)
        lines.append(FORM.line(text[at : at + size], 0, 0))
        at += size
    return b"".join(lines)


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.system)])
def test_secrets_of_all_kinds_are_masked(step: int) -> None:
    """At least 98 of 100 planted secrets are masked whole, in each form."""
    planted = [*secrets(7)][::step]
    assert len(planted) == 450 / step
    for written in (in_a_text, in_a_pretty_text, in_arguments, in_deltas, in_deltas_of_arguments):
        random, missed = Random(3), []
        for kind, (text, start, end) in planted:
            data, _ = redacted_bytes(written(text, random))
            deltas = data.splitlines()
            shown = "".join(map(FORM.text, deltas)).encode() if b"partial_json" in data else data
            if occurs(text[start:end], shown):
                missed.append(f"{kind}: {text[:60]!r}")
        assert len(missed) <= len(planted) * (1 - LEAST), (written.__name__, missed)
