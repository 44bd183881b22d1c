"""The final format: only the final answer."""

from __future__ import annotations

from agentwatch.session.session import Session
from agentwatch.session.transcript import Entry, Kind


def final_answer(session: Session) -> str:
    """Return the assistant's text after the last call and the last prompt of the last turn.

    It is the text of the result if the recording contains only that, as the agent's `json` format does.
    Thoughts, notices and subagents' entries between its pieces are left out. It is empty if no text follows
    the last call.
    """
    if session.run.is_bare:
        return session.run.result or ""
    return "".join(entry.text for entry in final_entries(session))


def final_entries(session: Session) -> list[Entry]:
    """Return the entries of the transcript whose texts are the final answer, in order."""
    entries: list[Entry] = []
    for entry in reversed(session.transcript):
        if entry.parent is not None:
            continue
        is_of_earlier_turn = entry.result is not None and entry.result is not session.run.turn_result
        if entry.kind in (Kind.CALL, Kind.PROMPT) or is_of_earlier_turn:
            break
        if entry.kind is Kind.ANSWER:
            entries.append(entry)
    entries.reverse()
    return entries
