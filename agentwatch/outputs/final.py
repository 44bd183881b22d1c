"""The final format: only the final answer."""

from __future__ import annotations

from agentwatch.session import Kind, Session


def final_answer(session: Session) -> str:
    """Return the assistant's text after the last call and the last prompt of the last turn.

    It is the text of the result if the recording contains only that, as the agent's `json` format does.
    Thoughts, notices and subagents' entries between its pieces are left out. It is empty if no text follows
    the last call.
    """
    run = session.run
    if run.is_bare:
        return run.result or ""
    pieces: list[str] = []
    for entry in reversed(session.transcript):
        if entry.parent is not None:
            continue
        is_of_earlier_turn = entry.result is not None and entry.result is not run.turn_result
        if entry.kind in (Kind.CALL, Kind.PROMPT) or is_of_earlier_turn:
            break
        if entry.kind is Kind.ANSWER:
            pieces.append(entry.text)
    return "".join(reversed(pieces))
