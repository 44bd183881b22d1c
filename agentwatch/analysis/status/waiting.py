"""What a session waits for besides its calls and the model: an answer, a compaction, a retry."""

from __future__ import annotations

from agentwatch.analysis.silence import since_ms
from agentwatch.session import Session
from agentwatch.text.durations import running_clock
from agentwatch.text.safe import SafeText, cut, safe_line

_QUESTION_COLUMNS = 60
_MESSAGE_COLUMNS = 40


def waiting_words(session: Session, now_ms: int | None) -> SafeText | None:
    """Return what the session waits for: an answer of the user, the end of a compaction, or a retry.

    Examples: `asks: Bash rm -rf build · 0:14`, `compacting the context · 0:20`,
    `retry 4 of 10: overloaded · next in 0:08`.

    Args:
        session: The session, which is not over.
        now_ms: The present time by the clock of the arrival times; None if unknown.

    Returns:
        The words; None if it waits for none of these.
    """
    question = session.asked.oldest
    if question is not None:
        more = f" (and {len(session.asked) - 1} more)" if len(session.asked) > 1 else ""
        asked_ms = question.place.seen_ms if question.place.seen_ms is not None else question.at_ms
        return asking_words(question.words, asked_ms, now_ms, more)
    if session.compacting is not None:
        _, place = session.compacting
        return SafeText(f"compacting the context{_since(place.seen_ms, now_ms)}")
    return None if session.retry is None else _retry(session, now_ms)


def asking_words(question: str, asked_ms: int | None, now_ms: int | None, more: str = "") -> SafeText:
    """Return what the agent asks the user, and since when.

    Args:
        question: The question, which is foreign text.
        asked_ms: When it was asked, by the clock of `now_ms`; None if unknown.
        now_ms: The present time, in milliseconds since the epoch; None if unknown.
        more: What follows the question: ` (and 2 more)`.
    """
    words = cut(safe_line(question), _QUESTION_COLUMNS)
    return SafeText(f"asks: {words}{more}{_since(asked_ms, now_ms)}")


def _retry(session: Session, now_ms: int | None) -> SafeText | None:
    if session.retry is None or session.open_calls:
        return None
    event, place = session.retry
    nth = "" if event.attempt is None else f" {event.attempt}"
    most = "" if event.most_attempts is None or not nth else f" of {event.most_attempts}"
    message = cut(safe_line(event.message), _MESSAGE_COLUMNS)
    words = f"retry{nth}{most}{f': {message}' if message else ''}"
    waited = since_ms(place.seen_ms, now_ms)
    if event.delay_ms is None or waited is None:
        return SafeText(f"{words}{_since(place.seen_ms, now_ms)}")
    if waited < event.delay_ms:
        return SafeText(f"{words} · next in {running_clock(event.delay_ms - waited + 999)}")
    return SafeText(f"{words} · {running_clock(waited - event.delay_ms)}")


def _since(then_ms: int | None, now_ms: int | None) -> str:
    """Return ` · 0:14` for the time since a moment; empty if it is unknown."""
    passed = since_ms(then_ms, now_ms)
    return "" if passed is None else f" · {running_clock(passed)}"
