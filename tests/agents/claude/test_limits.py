"""The usage limits that Claude Code reports."""

from __future__ import annotations

from agentwatch.agents.claude.limits import limits_in
from agentwatch.session.events import Limits, LimitWindow
from tests.conftest import case

RESET_S, WEEK_S = 1_790_184_600, 1_790_290_800
SHORT, WEEK = LimitWindow("5h", 33.0, RESET_S * 1000), LimitWindow("7d", 55.0, WEEK_S * 1000)
UNIFIED = {
    "five_hour": {"utilization": 0.33, "resetsAt": RESET_S},
    "seven_day": {"utilization": 0.55, "resetsAt": WEEK_S},
}


def test_each_form_of_a_report_is_read() -> None:
    """All windows where they are reported; otherwise the only one, whose share may be unknown."""
    own = {"rateLimitType": "five_hour", "resetsAt": RESET_S}
    bare = SHORT._replace(used_percent=None)
    cases: list[tuple[dict[str, object], list[Limits]]] = [
        ({"status": "allowed", **own, "unifiedWindows": UNIFIED}, [Limits((SHORT, WEEK), False)]),
        ({"status": "allowed", **own}, [Limits((bare,), False)]),
        ({"status": "allowed_warning", **own, "utilization": 0.33}, [Limits((SHORT,), False)]),
        ({"status": "rejected", **own}, [Limits((bare,), True, RESET_S * 1000)]),
        ({"status": "rejected", **own, "isUsingOverage": True}, [Limits((bare,), False)]),
        ({"status": "rejected"}, [Limits((), True)]),
        ({**own}, [Limits((bare,), None)]),
        ({"status": "allowed"}, []),
        ({}, []),
        ({"status": "allowed", "rateLimitType": "overage", "resetsAt": RESET_S}, []),
        (
            {"unifiedWindows": {"seven_day_opus": {"utilization": 0.29}}},
            [Limits((LimitWindow("7d opus", 29.0),))],
        ),
        ({"unifiedWindows": {"five_hour": {}, "five_hours": 3, "x": {"utilization": 1}}}, []),
        ({"unifiedWindows": "x", "rateLimitType": 7, "status": ["rejected"]}, []),
    ]
    for info, expected in cases:
        with case(info):
            assert limits_in(info) == expected


def test_impossible_values_are_unknown() -> None:
    """A share or a time that cannot be is not taken for one."""
    cases: list[tuple[object, object]] = [
        *((True, 0), (-0.1, -5), (1e9, 1 << 70), ("0.5", "soon"), (None, None), ([], {})),
    ]
    for used, resets in cases:
        info: dict[str, object] = {"unifiedWindows": {"five_hour": {"utilization": used, "resetsAt": resets}}}
        with case(info):
            assert limits_in(info) == []


def test_windows_are_bounded() -> None:
    """At most 6 windows of a line are read, and the names are cut."""
    many = {f"seven_day_{'m' * 99}{number}": {"utilization": 0.1} for number in range(9)}
    few = {f"seven_day_{number}": {"utilization": 0.1} for number in range(9)}
    assert [len(window.name) for window in limits_in({"unifiedWindows": many})[0].windows] == [33]
    assert len(limits_in({"unifiedWindows": few})[0].windows) == 6
