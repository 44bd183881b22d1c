"""The rules of the settings, judged for the sessions of the list while it is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentwatch.config import OnSetting

if TYPE_CHECKING:
    from agentwatch.screen.machine.alarms.sessions import RuleHit, SessionAlarms


def alarms_of(rules: Sequence[OnSetting], report: Callable[[list[RuleHit]], object]) -> SessionAlarms | None:
    """Return what judges the sessions of the list; None without rules, and nothing is imported then.

    Args:
        rules: The rules of the settings.
        report: Is called with new hits, in the thread that steps.
    """
    if not rules:
        return None
    from agentwatch.screen.machine.alarms.sessions import SessionAlarms
    from agentwatch.tripwires import tripwire

    return SessionAlarms([tripwire(*each, allows_patterns=True) for each in rules], report)
