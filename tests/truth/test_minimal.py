"""Each capture of `minimal` has one trait, and is read as what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentwatch.session.session import Session
from tests.builders.captures import OURS
from tests.conftest import case

EXPECTED = {
    "min_cursor": ("claude-code", "succeeded", 1, "", [("Bash", "succeeded", None)]),
    "min_denied": ("claude-code", "succeeded", 1, "", [("PowerShell", "rejected", None)]),
    "min_exit": ("codex-rollout", "unfinished", 0, "", [("shell", "succeeded", 0)]),
    "min_exit1": ("codex-rollout", "unfinished", 0, "", [("shell", "failed", 1)]),
    "min_noparent": ("claude-transcript", "unfinished", 2, "First answer.Second answer.", []),
    "min_qwen": ("qwen-chat", "unfinished", 1, "The answer.", [("read_file", "unfinished", None)]),
    "min_qwen2": ("qwen-chat", "unfinished", 1, "The answer.", [("read_file", "unfinished", None)]),
}
"""By the name of the capture: format, outcome, turns, text; of each call the tool, outcome and exit code."""


def test_each_trait_is_read(opened_session: Callable[[Path], Session]) -> None:
    """A Claude init without tools, a denial that only the result names, a merged answer, and the others."""
    found = {path.stem: path for path in OURS.find("minimal/*")}
    assert found.keys() == EXPECTED.keys()
    for name, path in found.items():
        with case(name):
            read = opened_session(path)
            calls = [(call.tool, str(call.outcome), call.exit_code) for call in read.calls]
            seen = (read.format, str(read.outcome), read.run.turns, read.text, calls)
            assert seen == EXPECTED[name]
