"""What happened since a moment, in one line."""

from __future__ import annotations

from agentwatch.analysis.files import TouchedFiles
from agentwatch.analysis.since.mark import Happened, Mark, happened, mark
from agentwatch.events import Outcome
from agentwatch.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns

_MOST_CALLS = 5_000
"""After more calls than this the files are not counted: that takes 8 ms per 1,000 calls, and the line is
shown at once."""
_NOTHING = SafeText("nothing happened since")


def since_words(session: Session, since: Mark) -> SafeText:
    """Return what happened since a mark: `37 events: 6 calls, 2 failed, 3 files`.

    Parts that are zero are left out; `nothing happened since` if nothing did. The files are those that were
    changed.

    Args:
        session: The session.
        since: The mark, made by `mark` from the session as it was then.
    """
    new = happened(session, since)
    files = _changed_files(session, since)
    parts = [*_counts(new), plural(files[0], "file") if files[0] else "", ending_words(session, new)]
    words = ", ".join(filter(None, parts))
    if not new.events:
        return SafeText(words) or _NOTHING
    return SafeText(f"{plural(new.events, 'event')}: {words}" if words else plural(new.events, "event"))


def away_summary(session: Session, since: Mark, now_ms: int) -> SafeText:
    """Return what happened while the user was away: `6:12 away: 14 calls, 1 failed, 3 files +41 −7`.

    Args:
        session: The session.
        since: The mark, made by `mark` when the user left.
        now_ms: The present time, by the clock of `since.at_ms`.

    Returns:
        The summary; empty if nothing happened.
    """
    new = happened(session, since)
    if new.is_nothing:
        return SafeText("")
    count, added, removed = _changed_files(session, since)
    files = plural(count, "file") if count else ""
    changed = " ".join(filter(None, (files, f"+{added}" if added else "", f"−{removed}" if removed else "")))
    words = ", ".join(filter(None, (*_counts(new), changed, ending_words(session, new))))
    span = duration_words(now_ms - (now_ms if since.at_ms is None else since.at_ms))
    return SafeText(f"{span} away: {words or plural(new.events, 'event')}")


def behind_words(shown: Session, live: Session, when: SafeText, width: int) -> SafeText:
    """Return how far an earlier moment is behind the live end, in the longest form that fits.

    The cost is constant. The forms, for a moment named `09:14:31`:

    - `as of 09:14:31 · 37 events, 6 calls, 1 failure behind live: L`
    - `as of 09:14:31 · 37 events behind live`
    - `as of 09:14:31 · 37 behind · L`
    - `as of 09:14:31`

    Args:
        shown: The session as it was at the moment.
        live: The live session.
        when: The name of the moment: a time of day, or `62 %`.
        width: The columns that are free.
    """
    new = happened(live, mark(shown, 0, None))
    failed = new.outcomes.get(Outcome.FAILED, 0)
    calls = plural(new.calls, "call") if new.calls else ""
    events = plural(new.events, "event")
    parts = ", ".join(filter(None, (events, calls, plural(failed, "failure") if failed else "")))
    lead = f"as of {when}"
    forms = (
        f"{lead} · {parts} behind live: L",
        f"{lead} · {events} behind live",
        f"{lead} · {new.events} behind · L",
    )
    return next((SafeText(form) for form in forms if columns(SafeText(form)) <= width), SafeText(lead))


_OVER = {
    Outcome.SUCCEEDED: "the run succeeded",
    Outcome.FAILED: "the run failed",
    Outcome.CANCELLED: "the run was cancelled",
    Outcome.UNFINISHED: "the run ended without a result",
}


def ending_words(session: Session, new: Happened) -> str:
    """Return how the run ended, if it has ended since: `the run failed`; otherwise an empty string."""
    if new.ending is None:
        return ""
    is_silent = new.ending is Outcome.UNFINISHED and not session.traits.has_result
    return "the run ended" if session.outcome is None or is_silent else _OVER[new.ending]


def _counts(new: Happened) -> list[str]:
    """Return the number of calls, and of those that did not succeed."""
    calls = [plural(new.calls, "call")] if new.calls else []
    return calls + [f"{count} {outcome}" for outcome, count in new.outcomes.items()]


def _changed_files(session: Session, since: Mark) -> tuple[int, int, int]:
    """Return the number of files that were changed since a mark, and of their added and removed lines.

    The number is 0 after more than 5,000 calls.
    """
    if len(session.ended_calls) - since.ended_calls > _MOST_CALLS:
        return 0, 0, 0
    touched = TouchedFiles(session, since.ended_calls)
    while touched.update():
        pass
    files = [file for file in touched.by_name() if file.is_changed]
    added, removed = (
        sum(count or 0 for count in counts)
        for counts in (
            [file.lines_added for file in files],
            [file.lines_removed for file in files],
        )
    )
    return len(files), added, removed
