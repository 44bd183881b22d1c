"""No text of a stream controls the terminal, whichever field it is in."""

from __future__ import annotations

from typing import Any

from agentwatch.output.summary import summary
from agentwatch.session.actions import action
from tests.agents.claude.test_any_value import LINES
from tests.builders.claude_lines import written
from tests.builders.lines import session

HOSTILE = "\x1b[2J\x9b31m\x07\r\u202eevil"
CONTROLS = frozenset("\x1b\x9b\x07\r\u202e")
NAMES = ("type", "subtype", "status", "behavior")
"""Fields whose values decide how a line is read."""


def hostile(value: Any, key: str = "") -> Any:
    """Return a value with hostile characters after each of its texts."""
    if isinstance(value, dict):
        return {name: hostile(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner, key) for inner in value]
    return value + HOSTILE if isinstance(value, str) and key not in NAMES else value


def test_what_is_printed_is_safe() -> None:
    """The summary and the actions of hostile lines do not contain the characters."""
    lines = [hostile(each) for each in LINES]
    read = session(written(*lines))
    assert CONTROLS.isdisjoint(b"".join(summary(read)).decode())
    assert all(CONTROLS.isdisjoint(action(call)) for call in read.calls)
    assert [call.tool.startswith("Bash\x1b") for call in read.calls][:2] == [False, True]
