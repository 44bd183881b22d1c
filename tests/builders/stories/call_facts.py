"""Facts about calls of a session that no recording has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agentwatch.rules.calls.facts import CallFacts
from agentwatch.session.session import Session


def facts_of(session: Session | None = None) -> CallFacts:
    """Return the facts about the calls of a session, without those that are read from the recording."""
    feed: Any = SimpleNamespace(session=session or Session())
    return CallFacts(feed)
