"""No printed format of hostile text acts on the terminal."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agentwatch.agents.registry import agent_named
from agentwatch.analysis.block_text import block_text
from agentwatch.output.summary import summary
from agentwatch.session.actions import action
from agentwatch.text.safe import safe_text
from tests.builders.lines import session
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS, case
from tests.harness.program import watch
from tests.truth.test_mangled import STORIES


@pytest.mark.slow
def test_a_summary_cannot_drive_a_terminal() -> None:
    """The summary decodes to the hostile text, but its bytes contain no control or direction mark."""
    done = watch(RECORDINGS / "hostile.ndjson", "--output-format", "summary")
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", done.stdout.decode()
    )
    assert json.loads(done.stdout)["model"].startswith("Model\x1b[2J")


@pytest.mark.system
def test_no_output_of_hostile_text_drives_a_terminal() -> None:
    """Text, log and stderr of the hostile recording contain no control character."""
    path = RECORDINGS / "hostile.ndjson"
    for done in (watch(path), watch("log", path), watch(path, "--output-format", "json")):
        assert done.stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stderr.decode())
    for done in (watch(path), watch("log", path)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout.decode())


_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_KEPT = frozenset({"type", "role", "status", "name", "kind", "call_id", "id", "timestamp"})


def hostile(value: Any, payload: str) -> Any:
    """Return a JSON value with a payload in each of its texts, apart from those that decide what it is."""
    if isinstance(value, dict):
        return {key: each if key in _KEPT else hostile(each, payload) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, payload) for each in value]
    return value + payload if isinstance(value, str) else value


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_hostile_text_is_printed_safely(step: int) -> None:
    """Actions, the summary and the blocks of a call have no control characters, whatever a field contains."""
    for name, story in STORIES.items():
        lines = [json.loads(line) for line in story.splitlines()]
        for payload, text in [*PAYLOADS.items()][::step]:
            with case(f"{name}, {payload}"):
                check_printed(name, [hostile(line, text) for line in lines])


def check_printed(name: str, lines: list[Any]) -> None:
    """Check what is printed of the lines of a story."""
    read = session(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert len(read.calls) > 5
    for call in read.calls:
        assert not _UNSAFE.search(action(call))
    assert not _UNSAFE.search(b"".join(summary(read)).decode())
    agent = agent_named("codex" if name == "stream" else "codex-rollout")
    assert agent is not None
    for line in lines:
        for block in agent.blocks(line, ""):
            assert not _UNSAFE.search(safe_text(block_text(block)).replace("\t", ""))
