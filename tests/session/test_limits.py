"""What is known about the usage limits of a session, line after line."""

from __future__ import annotations

from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Event,
    Limits,
    LimitWindow,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TurnEnded,
    agent_ms,
)
from agentwatch.session.limits import NO_LIMITS, KnownLimits, Reported, most_used, with_report
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.times import coming
from tests.builders.subagents import begins
from tests.conftest import case

NOW_MS = 1_795_000_000_000
HOUR_MS = 3_600_000
SHORT = LimitWindow("5h", 62.0, NOW_MS + HOUR_MS)
WEEK = LimitWindow("7d", 87.0, NOW_MS + 50 * HOUR_MS)
REFUSED = Limits((), is_refused=True)


def known(*reports: Limits) -> KnownLimits:
    """Return what is known after reports, a minute apart."""
    found = NO_LIMITS
    for minute, report in enumerate(reports):
        found = with_report(found, report, NOW_MS + 60_000 * minute)
    return found


def after(*events: Event) -> Session:
    """Return the session after events."""
    session = Session()
    for event in events:
        apply_line(session, [event], Place(0, 1, NOW_MS))
    return session


def test_each_window_is_known_by_its_newest_report() -> None:
    """A report of one window leaves the other as it was, with the time at which it was reported."""
    found = known(Limits((SHORT, WEEK)), Limits((SHORT._replace(used_percent=70.0),)))
    assert found.windows == (
        Reported("5h", 70.0, NOW_MS + HOUR_MS, NOW_MS + 60_000),
        Reported("7d", 87.0, NOW_MS + 50 * HOUR_MS, NOW_MS),
    )
    timed = with_report(NO_LIMITS, Limits((SHORT,), at_ms=5), NOW_MS)
    assert timed.windows[0].said_ms == 5


def test_a_share_that_is_not_repeated_stays_known_until_the_next_window() -> None:
    """Claude Code names a window without its share while all is allowed."""
    bare, later = SHORT._replace(used_percent=None), SHORT._replace(used_percent=None, resets_ms=NOW_MS * 2)
    assert known(Limits((SHORT,)), Limits((bare,))).windows[0].used_percent == 62
    assert known(Limits((SHORT,)), Limits((later,))).windows[0] == Reported(
        "5h", None, NOW_MS * 2, NOW_MS + 60_000
    )


def test_windows_are_bounded() -> None:
    """Of more than 8 windows, the newest are kept."""
    many = Limits(tuple(LimitWindow(f"{hours}h", 1.0, None) for hours in range(20)))
    assert [window.name for window in known(many).windows] == [f"{hours}h" for hours in range(12, 20)]


def test_a_refusal_lasts_until_the_time_that_was_reported() -> None:
    """Without one, it lasts until the full windows are empty; if none is full, until the agent continues."""
    full = SHORT._replace(used_percent=100.0)
    cases: list[tuple[tuple[Limits, ...], int | None]] = [
        ((Limits((WEEK,), is_refused=True, until_ms=NOW_MS + 5),), NOW_MS + 5),
        ((Limits((full, WEEK)), REFUSED), NOW_MS + HOUR_MS),
        ((Limits((full, WEEK._replace(used_percent=100.0))), REFUSED), NOW_MS + 50 * HOUR_MS),
        ((Limits((SHORT, WEEK)), REFUSED), None),
        ((Limits((full._replace(resets_ms=None),)), REFUSED), None),
    ]
    for reports, until_ms in cases:
        with case(reports):
            found = known(*reports)
            assert (found.is_refused, found.until_ms) == (True, until_ms)
            assert found.waits(NOW_MS)
            assert not found.waits(None)
            assert found.waits(NOW_MS + 100 * HOUR_MS) == (until_ms is None)


def test_only_a_report_about_requests_ends_a_refusal() -> None:
    """Codex repeats its windows after a refusal, and does not say whether requests are allowed."""
    assert known(REFUSED, Limits((SHORT,))).is_refused
    assert not known(REFUSED, Limits((SHORT,), is_refused=False)).is_refused
    assert not NO_LIMITS.waits(NOW_MS)


def test_a_turn_or_a_call_ends_a_refusal() -> None:
    """The end of the turn that was refused does not; the next prompt, call or run does."""
    refused = (RunStarted("x"), Prompt("a"), REFUSED, TurnEnded(Outcome.FAILED, "limit"))
    assert after(*refused).limits.is_refused
    for event in (Prompt("b"), begins("c", "Bash", "make"), RunStarted("x")):
        with case(event):
            assert not after(*refused, event).limits.is_refused


def test_the_fullest_window_that_is_not_over_counts() -> None:
    """A window whose reset has passed is empty by an unknown part, and so is one without a share."""
    windows = known(Limits((SHORT, WEEK))).windows
    assert most_used(windows, NOW_MS) == 87
    assert most_used(windows[:1], NOW_MS + HOUR_MS) is None
    assert most_used(windows, NOW_MS + 51 * HOUR_MS) is None
    assert most_used([Reported("5h", None, None, NOW_MS)], NOW_MS) is None


def test_the_end_of_a_limit_is_not_the_time_of_its_line() -> None:
    """A line is as old as its report, or as the last piece of its text; when a limit ends is to come."""
    refused = Limits((), is_refused=True, until_ms=NOW_MS + 3_600_000)
    assert agent_ms([refused]) is None
    assert agent_ms([refused._replace(at_ms=NOW_MS)]) == NOW_MS
    assert agent_ms([Text(Channel.ANSWER, "a", 5, 7), refused]) == 7


def test_the_words_of_waiting_have_the_reset_if_it_is_known() -> None:
    """A limit whose reset is not known is waited for without a time."""
    soon = coming(NOW_MS + HOUR_MS, NOW_MS)
    assert known(REFUSED).words(NOW_MS) == "waits for the limit"
    full = SHORT._replace(used_percent=100.0)
    assert known(Limits((full,), is_refused=True)).words(NOW_MS) == f"waits for the limit until {soon}"
