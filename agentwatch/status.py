"""What is going on, in words: one line that also says why it is quiet when it is quiet."""

from __future__ import annotations

from agentwatch.actions import target
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.session import Call, Kind, Session

QUIET_MS = 10_000


def status(session: Session, now_ms: int | None) -> SafeText:
    """Return what the session is doing.

    Args:
        session: The session.
        now_ms: The time that it is for the session, by the clock of its arrival times.
    """
    run = session.run
    if not session.runs:
        return SafeText("waiting for the first event")
    if run.is_over:
        return _over(session)
    quiet_ms = _since(session.last_seen_ms, now_ms)
    running = list(session.open_calls.values())
    if running:
        return _running(running, now_ms)
    quiet = "" if quiet_ms is None or quiet_ms < QUIET_MS else f" · quiet for {quiet_ms // 1000} s"
    entry = session.transcript.last
    if entry is not None and entry.kind is Kind.REASONING and entry.is_open:
        return SafeText(f"thinking{quiet}")
    if entry is not None and entry.kind is Kind.ANSWER and entry.is_open:
        return SafeText(f"writing{quiet}")
    return SafeText(f"waiting for the model, no open call{quiet}")


def _over(session: Session) -> SafeText:
    run = session.run
    if run.outcome is Outcome.UNFINISHED:
        count = session.never_completed
        left = f" · {count} {'call' if count == 1 else 'calls'} never completed" if count else ""
        return SafeText(f"ended without a result{left}")
    if run.outcome is Outcome.FAILED:
        return safe_line(f"failed: {(run.result or 'no reason given').strip().partition(chr(10))[0]}")
    failed = session.failed_calls
    calls = f" · {failed} {'call' if failed == 1 else 'calls'} failed on the way" if failed else ""
    return SafeText(f"succeeded{calls}")


def _running(running: list[Call], now_ms: int | None) -> SafeText:
    oldest = running[0]
    words = f"{oldest.tool} {target(oldest)}".strip()
    since_ms = _since(oldest.started.seen_ms if oldest.started else None, now_ms)
    since = "" if since_ms is None else f" · {since_ms // 1000} s"
    limit = "" if oldest.limit_ms is None else f" of its {oldest.limit_ms // 1000} s limit"
    if len(running) == 1:
        return safe_line(f"running {words}{since}{limit if since else ''}")
    return safe_line(f"{len(running)} parallel calls, the oldest: {words}{since}")


def _since(then_ms: int | None, now_ms: int | None) -> int | None:
    if then_ms is None or now_ms is None:
        return None
    return max(now_ms - then_ms, 0)
