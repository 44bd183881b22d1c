"""The versions with which the formats were checked."""

from __future__ import annotations

import re

from agentwatch.agents.checked import Checked, checked_formats
from agentwatch.agents.registry import agent_named
from tests.conftest import case


def test_each_checked_format_is_known() -> None:
    """Each format that was checked has a reader, and its check has a version and a day."""
    for name, checked in checked_formats().items():
        with case(name):
            assert agent_named(name) is not None
            assert re.fullmatch(r"checked with version \S+ on [\d-]{10}: (right|\d+ wrong)", str(checked))


def test_a_check_names_what_was_wrong() -> None:
    """The words of a check have the number of facts that were wrong, or `right`."""
    assert str(Checked("1.2", "2026-11-24", 0)) == "checked with version 1.2 on 2026-11-24: right"
    assert str(Checked("1.2", "2026-11-24", 2)) == "checked with version 1.2 on 2026-11-24: 2 wrong"
