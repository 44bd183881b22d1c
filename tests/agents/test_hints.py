"""What agents print instead of a stream, and why a pipe stays silent."""

from __future__ import annotations

from agentwatch.agents.registry import failure_hint, known_name, silence_hint
from tests.conftest import case


def test_a_failure_has_the_cause_of_its_agent() -> None:
    """The first line with words of an agent decides; other texts have no cause."""
    cause = "Cursor does not trust this folder: add --trust"
    cases: list[tuple[list[str], str | None]] = [
        (["⚠ Workspace Trust Required"], cause),
        (["", "loading", "  ⚠ Workspace Trust Required  "], cause),
        (["Hello"], None),
        ([], None),
    ]
    for lines, expected in cases:
        with case(lines):
            assert failure_hint(lines) == expected


def test_the_agents_that_print_at_their_end_are_named() -> None:
    """One agent does: its hint names the flag."""
    assert silence_hint() == "Cursor prints nothing until its end without --output-format stream-json"


def test_an_agent_is_known_by_the_names_of_its_program() -> None:
    """Its package and its own name lead to the short name, in capitals or not; others stay as they are."""
    names = {
        "gemini-cli": "gemini",
        "OpenCode": "opencode",
        "qwen-code": "qwen",
        "ACP": "acp",
        "Tiny": "Tiny",
        "": "",
    }
    for name, short in names.items():
        with case(name):
            assert known_name(name) == short
