"""Digests of files, and the sessions that they must agree with."""

import os
from collections.abc import Iterable
from pathlib import Path

from agentwatch.agents import Decoder
from agentwatch.agents.session_entry import Reach, SessionEntry
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.digest.reading import Tail, format_of
from agentwatch.session.call import Place
from agentwatch.session.events import Event, LineTime, Outcome
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session, calls_by_outcome


def found(path: Path, agent: str = "claude", reach: Reach = Reach.LINES) -> SessionEntry:
    """Return what a search finds of a file."""
    try:
        status = path.stat()
    except OSError:
        return SessionEntry(agent, path.stem, path, 0, 0, reach=reach)
    return SessionEntry(agent, path.stem, path, status.st_size, status.st_mtime_ns, status.st_ino, reach)


def digest_of(path: Path, agent: str = "claude") -> Digest:
    """Return the digest of a file to which nothing is appended any more."""
    tail = Tail(found(path, agent))
    tail.update()
    tail.settle()
    assert tail.digest is not None
    return tail.digest


def session_of(lines: Iterable[bytes], agent: str) -> Session:
    """Return the session after all of these lines, before it is closed."""
    decoder, session, offset = Decoder(format_of(SessionEntry(agent, "", Path(), 0, 0))), Session(), 0
    for line in lines:
        if line.strip():
            events = decoder.decode(line)
            for each in (*decoder.take_redecoded(), events):
                apply_line(session, each, Place(offset, len(line), _time(each)))
        offset += len(line)
    apply_line(session, decoder.end(), Place(offset, 0, None), 0)
    return session


def facts_of_session(session: Session) -> dict[str, object]:
    """Return what a session knows of the facts in a digest."""
    outcomes, run = calls_by_outcome(session), session.run
    last = session.run.turn_result
    contexts = run.tokens
    calls = list(session.calls)
    return {
        "calls": len(session.calls),
        "failed": outcomes.get(Outcome.FAILED, 0),
        "rejected": outcomes.get(Outcome.REJECTED, 0),
        "open": [call.call_id for call in session.open_calls.values()][-32:],
        "added": sum(call.lines_added or 0 for call in calls),
        "removed": sum(call.lines_removed or 0 for call in calls),
        "outcome": None if last is None or not run.is_over else run.outcome,
        "model": run.model or "",
        "cwd": run.cwd or "",
        "branch": run.branch or "",
        "title": run.title or "",
        "mode": run.permission_mode or "",
        "prompt": (run.prompt or "").strip()[:240],
        "context": (contexts.context_used, contexts.context_size),
        "plan": len(session.plan),
        "question": "" if session.questions.oldest is None else session.questions.oldest.words,
        "seen": session.last_seen_ms,
        "took": session.duration_ms,
    }


def facts_of_digest(digest: Digest) -> dict[str, object]:
    """Return the same facts of a digest."""
    return {
        "calls": digest.calls,
        "failed": digest.failed,
        "rejected": digest.rejected,
        "open": list(digest.open_calls),
        "added": digest.lines_added,
        "removed": digest.lines_removed,
        "outcome": digest.outcome if digest.turn is Turn.ENDED else None,
        "model": digest.model,
        "cwd": digest.cwd,
        "branch": digest.branch or "",
        "title": digest.title,
        "mode": digest.permission_mode,
        "prompt": digest.first_prompt,
        "context": (digest.context_used, digest.context_size),
        "plan": 0 if digest.todo is None else digest.todo[1],
        "question": digest.question,
        "seen": digest.seen_ms,
        "took": digest.duration_ms(),
    }


def age(path: Path, seconds: float) -> None:
    """Set the time of a file's last change back."""
    status = path.stat()
    os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds))


def _time(events: list[Event]) -> int | None:
    return events[0].at_ms if events and isinstance(events[0], LineTime) else None
