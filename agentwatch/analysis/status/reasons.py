"""Why a run did not succeed, and what can be done about a stream of no known agent."""

from __future__ import annotations

import signal
from typing import NamedTuple

from agentwatch.agent_facts import AgentFacts
from agentwatch.events import Outcome
from agentwatch.session import Session
from agentwatch.text.safe import SafeText, cut, safe_line

_MOST_COLUMNS = 1000
"""A result may be megabytes long; a line on stderr is for a person."""
_FIRST_LINE_COLUMNS = 60
_LEAST_FIRST_LINE_COLUMNS = 12
_UNKNOWN = "not a stream of an agent that this version knows"
_FOR_TEXT = "add --output-format stream-json to the agent's command"
_ENDINGS = {Outcome.FAILED: "the run failed", Outcome.CANCELLED: "the run was cancelled"}
_FOR_JSON = "try --format NAME, or agentwatch drift"


class Reason(NamedTuple):
    """Why a run did not succeed, as the agent wrote it."""

    text: str
    is_stderr: bool = False
    """Whether it is the last line of the agent's stderr."""


def reason(session: Session, agent: AgentFacts) -> Reason | None:
    """Return the best reason why the last run did not succeed; None if it did, or if the agent gave none.

    It is the text of the result, or else the last error of the stream, or else its last line that is no JSON,
    or else the last line of the agent's stderr. Cursor prints `RetriableError: …` and `⚠ Workspace Trust
    Required` as lines that are no JSON.
    """
    if session.outcome not in (Outcome.FAILED, Outcome.CANCELLED, Outcome.UNFINISHED):
        return None
    result = session.run.result_part(0, _MOST_COLUMNS)
    found = (each.strip() for each in (result, session.last_error, session.lines.last_text))
    text = next(filter(None, found), "")
    if text:
        return Reason(text)
    return Reason(agent.stderr.strip(), is_stderr=True) if agent.stderr else None


def ending(session: Session, agent: AgentFacts) -> SafeText | None:
    """Return in one line how a session that did not succeed ended, and why; None if nothing is wrong.

    Examples: `the run failed: rate limit`, `the stream ended without a result, exit 4: no login`.
    """
    outcome, code = session.outcome, exit_words(agent.exit_code)
    if outcome is None:
        return unknown_agent(session)
    if outcome is Outcome.RUNNING or (outcome is Outcome.SUCCEEDED and not code):
        return None
    if outcome is Outcome.SUCCEEDED:
        return SafeText(f"the result says success, but the agent ended with {code}")
    if outcome is Outcome.UNFINISHED and not session.traits.has_result and not code:
        return None
    words = "the stream ended without a result" if session.traits.has_result else "the run ended"
    words = _ENDINGS.get(outcome, words)
    words = f"{words}, {code}" if code else words
    why = reason(session, agent)
    if why is None:
        return SafeText(f"{words}: no reason given" if outcome is Outcome.FAILED else words)
    return SafeText(f"{words}: {cut(safe_line(why.text), _MOST_COLUMNS)}")


def unknown_agent(session: Session, width: int | None = None) -> SafeText:
    """Return that no known agent wrote the stream, how it begins, and what to do.

    Args:
        session: The session.
        width: The available columns. In few columns the first line is shortened or left out, because what to
            do matters more. None means no limit.
    """
    lines = session.lines
    is_text = not lines.unknown and not lines.first_text.startswith(("{", "["))
    advice = f": {_FOR_TEXT if is_text else _FOR_JSON}"
    room = _FIRST_LINE_COLUMNS
    if width is not None:
        room = min(room, width - len(f"{_UNKNOWN} (first line: ){advice}"))
    if room >= _LEAST_FIRST_LINE_COLUMNS:
        return SafeText(f"{_UNKNOWN} (first line: {cut(safe_line(lines.first_text), room)}){advice}")
    is_short = width is not None and width < len(_UNKNOWN + advice)
    return SafeText(f"{'unknown format' if is_short else _UNKNOWN}{advice}")


def exit_words(exit_code: int | None) -> str:
    """Return `exit 1`, or `exit 137 (SIGKILL)` for 128 + n; empty for 0 and for an unknown exit code."""
    if not exit_code:
        return ""
    try:
        return f"exit {exit_code} ({signal.Signals(exit_code - 128).name})"
    except ValueError:
        return f"exit {exit_code}"
