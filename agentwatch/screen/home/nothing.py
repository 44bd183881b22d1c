"""What an empty list says."""

from __future__ import annotations

from agentwatch.machine.listing.request import Request
from agentwatch.text.safe import SafeText, safe_line

_BEGINNING = """\
No session of a coding agent was found on this machine.

  claude            an agent that you start appears here
  agentwatch run -- cursor-agent -p … --output-format stream-json
  cursor-agent -p … --output-format stream-json | agentwatch

  agentwatch demo   replays a bundled session"""


def words_for_nothing(
    request: Request, hidden: int, key: str, *, is_complete: bool, has_notes: bool = False
) -> SafeText:
    """Return what an empty list says, in lines.

    Args:
        request: What the list shows.
        hidden: The number of hidden sessions.
        key: The key that shows them.
        is_complete: Whether every place was searched for sessions.
        has_notes: Whether lines above the list say which machines do not answer.
    """
    wanted = [f"“{safe_line(words)}”" for words in (request.search, request.filter) if words]
    if wanted:
        return SafeText(f"No session matches {' and '.join(wanted)}. esc: all sessions")
    if not is_complete:
        return SafeText("Searching for sessions …")
    if hidden:
        return SafeText(f"No session of the last 7 days. {hidden:,} older hidden: {key}")
    return SafeText("No session is known." if has_notes else _BEGINNING)
