"""The words of a filter: which calls they select, and how a word that names an agent can continue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentwatch.actions import target
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.session import Call

Matches = Callable[[Call], bool]
"""Returns whether a filter selects a call."""
_LEAST_OF_AN_OUTCOME = 3
_AGENT = "agent:"
MAIN = "main"
_MOST_OFFERED = 5
_NAME_COLUMNS = 24


def call_filter(text: str, calls: Sequence[Call]) -> Matches | None:
    """Return a predicate for the words of a filter; None if there are no words.

    Each word must occur in the call's tool or target, or be the beginning of its outcome (at least three
    letters, so that it matches while it is being typed). Full names of outcomes select the calls with any of
    these outcomes. `agent:main` selects the calls of the main agent, `agent:12` those of the subagent of
    call 12, and `agent:explore` those of subagents whose call has this word in its tool or target.

    Args:
        text: The words.
        calls: All calls of the session.
    """
    words = text.lower().split()
    outcomes = {word for word in words if word in list(Outcome)}
    agents = [word.removeprefix(_AGENT) for word in words if word.startswith(_AGENT)]
    texts = [word for word in words if word not in outcomes and not word.startswith(_AGENT)]

    def matches(call: Call) -> bool:
        if outcomes and call.outcome not in outcomes:
            return False
        if agents and not all(_is_by(call, agent, calls) for agent in agents):
            return False
        searched = _searched(call)
        for word in texts:
            if word not in searched and not (
                len(word) >= _LEAST_OF_AN_OUTCOME and call.outcome.startswith(word)
            ):
                return False
        return True

    return matches if words else None


def offered_agents(text: str, delegating: Callable[[], Sequence[Call]]) -> SafeText | None:
    """Return how the last word of a filter can continue: `agent:main · #12 Find the callers`.

    Args:
        text: The text of the filter.
        delegating: Returns the calls that started subagents.

    Returns:
        The words; None if the last word does not name an agent.
    """
    last = text.lower().rpartition(" ")[2]
    if not last.startswith(_AGENT):
        return None
    wanted = last.removeprefix(_AGENT)
    found = [
        call
        for call in delegating()
        if wanted in _searched(call) or f"{call.number}".startswith(wanted.removeprefix("#"))
    ]
    names = [
        cut(SafeText(f"#{call.number} {target(call) or safe_line(call.tool)}"), _NAME_COLUMNS)
        for call in found
    ]
    offered = [SafeText(MAIN)] if MAIN.startswith(wanted) else []
    offered += names[:_MOST_OFFERED]
    more = f" · {len(names) - _MOST_OFFERED} more" if len(names) > _MOST_OFFERED else ""
    return SafeText(f"{_AGENT}{' · '.join(offered)}{more}" if offered else "no such agent")


def _is_by(call: Call, agent: str, calls: Sequence[Call]) -> bool:
    if not agent:
        return True
    if call.parent is None:
        return MAIN.startswith(agent)
    if agent.startswith("#") or agent.isdecimal():
        return f"{call.parent}" == agent.removeprefix("#")
    return call.parent > 0 and agent in _searched(calls[call.parent - 1])


def _searched(call: Call) -> str:
    return f"{call.tool}\n{call.target or ''}".lower()
