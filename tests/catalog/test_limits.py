"""The usage limits of the agents, as the newest reports of all sessions have them."""

from typing import Any

from agentwatch.catalog.limits import FRESH_MS, NewestLimits, forms, is_scarce, limits_words
from agentwatch.catalog.row import Row
from agentwatch.session.limits import Reported
from agentwatch.text.times import coming
from tests.builders.machine.rows import NOW_MS, row

HOUR_MS, DAY_MS = 3_600_000, 24 * 3_600_000
SHORT = Reported("5h", 62.0, NOW_MS + HOUR_MS, NOW_MS - 180_000)
WEEK = Reported("7d", 87.9, NOW_MS + 3 * DAY_MS, NOW_MS - 120_000)
CODEX = Reported("5h", 7.0, NOW_MS + 2 * HOUR_MS, NOW_MS)


def reports(*windows: Reported, **fields: Any) -> Row:
    """Return a session that reports windows."""
    return row(limits=windows, **fields)


def newest(*rows: Row) -> NewestLimits:
    """Return the limits of sessions, taken one after the other."""
    limits = NewestLimits()
    for each in rows:
        limits.update([each])
    return limits


def test_the_newest_report_of_each_open_window_counts() -> None:
    """An older one that is read later does not, nor does one without a share or of another machine."""
    rows = (
        reports(SHORT, WEEK),
        reports(SHORT._replace(used_percent=1.0, said_ms=NOW_MS - DAY_MS), number=1),
        reports(SHORT._replace(used_percent=None, said_ms=NOW_MS), number=2),
        reports(SHORT._replace(used_percent=99.0, said_ms=NOW_MS), number=3, host="build1"),
        reports(SHORT._replace(used_percent=99.0, said_ms=NOW_MS), number=4, agent=""),
        reports(WEEK._replace(used_percent=88.0, said_ms=NOW_MS), number=5),
        reports(CODEX, number=6, agent="codex"),
    )
    assert newest(*rows).shown(NOW_MS) == {
        "claude": [SHORT, WEEK._replace(used_percent=88.0, said_ms=NOW_MS)],
        "codex": [CODEX],
    }
    # After the reset nobody has said how full the window is; after 5 hours it may have changed elsewhere.
    limits = newest(reports(SHORT, WEEK))
    assert limits.shown(NOW_MS + HOUR_MS) == {"claude": [WEEK]}
    assert limits.shown(NOW_MS - 120_000 + FRESH_MS) == {}
    assert newest(reports(SHORT._replace(said_ms=None))).shown(NOW_MS) == {}
    # An agent's name and its windows come from lines: at most 8 agents with 4 windows each are kept.
    windows = [SHORT._replace(name=f"{number}h") for number in range(1, 20)]
    many = [reports(*windows, number=number, agent=f"a{number}") for number in range(20)]
    shown = newest(*many).shown(NOW_MS)
    assert (len(shown), {len(each) for each in shown.values()}) == (8, {4})


def test_the_words_name_the_shares_the_next_reset_and_the_age() -> None:
    """A full window's reset is named in place of an earlier one: nothing can be done before."""
    soon, late = coming(NOW_MS + HOUR_MS, NOW_MS), coming(NOW_MS + 3 * DAY_MS, NOW_MS)
    fresh = SHORT._replace(said_ms=NOW_MS - 59_999)
    shown = {"claude": [SHORT, WEEK], "codex": [CODEX._replace(resets_ms=None)]}
    assert limits_words(shown, NOW_MS) == (
        f"claude 5 h 62 % · week 87 % · resets {soon} · 3 min ago, codex 5 h 7 %"
    )
    full = [fresh, WEEK._replace(used_percent=100.0, said_ms=NOW_MS)]
    assert limits_words({"claude": full}, NOW_MS) == f"claude 5 h 62 % · week 100 % · resets {late}"
    opus = [WEEK._replace(name="7d opus", resets_ms=None, said_ms=NOW_MS)]
    assert limits_words({"claude": opus}, NOW_MS) == "claude week opus 87 %"
    for name, words in (("90m", "90 min"), ("2d", "2 d"), ("1h", "1 h")):
        assert limits_words({"x\x1b[31m": [CODEX._replace(name=name, resets_ms=None)]}, NOW_MS).endswith(
            f" {words} 7 %"
        )
    assert "\x1b" not in limits_words({"x\x1b[31m": [CODEX]}, NOW_MS)
    assert limits_words({}, NOW_MS) == ""


def test_the_forms_become_shorter_and_warn_from_80_percent() -> None:
    """The other agent goes first, then the reset, then the window that is less full, then a small age. Then
    the header has the colour of a warning."""
    soon, late = coming(NOW_MS + HOUR_MS, NOW_MS), coming(NOW_MS + 3 * DAY_MS, NOW_MS)
    other = coming(NOW_MS + 2 * HOUR_MS, NOW_MS)
    assert forms({"claude": [SHORT, WEEK], "codex": [CODEX]}, NOW_MS) == [
        f"claude 5 h 62 % · week 87 % · resets {soon} · 3 min ago, codex 5 h 7 % · resets {other}",
        f"claude 5 h 62 % · week 87 % · resets {soon} · 3 min ago",
        "claude 5 h 62 % · week 87 % · 3 min ago",
        f"claude week 87 % · resets {late} · 2 min ago",
        "claude week 87 % · 2 min ago",
        "claude week 87 %",
    ]
    old = WEEK._replace(said_ms=NOW_MS - 600_000)
    assert forms({"claude": [old]}, NOW_MS)[-1] == "claude week 87 % · 10 min ago"
    assert forms({"codex": [CODEX]}, NOW_MS) == [f"codex 5 h 7 % · resets {other}", "codex 5 h 7 %"]
    assert forms({}, NOW_MS) == []
    assert is_scarce({"claude": [SHORT, WEEK._replace(used_percent=80.0)]})
    assert not is_scarce({"claude": [SHORT, WEEK._replace(used_percent=79.9)], "codex": []})
