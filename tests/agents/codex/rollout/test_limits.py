"""The usage limits that Codex writes with each token count, and its refusals."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.session.events import Outcome, Permission
from agentwatch.session.limits import Reported
from tests.builders.codex.lines import META, Json, event, function, read
from tests.conftest import case

RESET_S = 1_771_890_497
SHORT = {"used_percent": 7.0, "window_minutes": 300, "resets_at": RESET_S}
WEEK = {"used_percent": 11.0, "window_minutes": 10_080, "resets_at": RESET_S}


def windows(**limits: Any) -> list[tuple[str, float | None, int | None]]:
    """Return the windows that are known after a token count."""
    found = read(META, event("token_count", info=None, rate_limits=limits)).limits.windows
    return [(each.name, each.used_percent, each.resets_ms) for each in found]


def test_the_windows_of_the_account_are_read() -> None:
    """Another `limit_id` counts a single model, and older versions write none."""
    both = [("5h", 7.0, RESET_S * 1000), ("7d", 11.0, RESET_S * 1000)]
    assert windows(limit_id="codex", primary=SHORT, secondary=WEEK) == both
    assert windows(primary=SHORT, secondary=WEEK) == both
    assert windows(limit_id="codex", primary=WEEK, secondary=None) == both[1:]
    assert windows(limit_id="codex_bengalfox", primary=SHORT) == []
    for minutes, name in ((60, "1h"), (90, "90m"), (1440, "1d"), (43_200, "30d")):
        assert windows(primary={**SHORT, "window_minutes": minutes})[0][0] == name


def test_what_cannot_be_a_window_is_ignored() -> None:
    """Without a length or a share there is none. An unknown reset is left out."""
    for change in (
        {"window_minutes": 0},
        {"used_percent": None},
        {"window_minutes": 1 << 40},
        {"used_percent": "7"},
    ):
        with case(change):
            assert windows(primary={**SHORT, **change}) == []
    others: list[object] = [None, [], "x", 7]
    for other in others:
        with case(other):
            assert windows(primary=other) == []
            assert read(META, event("token_count", rate_limits=other)).limits.windows == ()
    assert windows(primary={**SHORT, "resets_at": 0}) == [("5h", 7.0, None)]


def test_a_refusal_is_the_error_of_the_turn() -> None:
    """It lasts until the full window is empty, which the token count before it says."""
    full = event("token_count", rate_limits={"primary": {**SHORT, "used_percent": 100.0}, "secondary": WEEK})
    error = {"message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
    other = {"message": "overloaded", "codex_error_info": "server_overloaded"}
    cases: list[tuple[list[Json], bool]] = [
        ([event("task_complete", error=error)], True),
        ([event("error", **error), event("task_complete")], True),
        ([event("task_complete", error=other)], False),
        ([event("error", message="x", codex_error_info={"a": 1}), event("task_complete")], False),
    ]
    for ends, is_refused in cases:
        with case(ends):
            session = read(META, event("task_started"), event("user_message", message="Go"), full, *ends)
            assert session.limits.is_refused == is_refused
            assert session.limits.until_ms == (RESET_S * 1000 if is_refused else None)
            assert session.run.outcome is Outcome.FAILED
            assert session.limits.windows[0] == Reported(
                "5h", 100.0, RESET_S * 1000, session.limits.windows[0].said_ms
            )


def test_a_question_may_answer_itself() -> None:
    """Versions up to 0.146 write after how many milliseconds; other values are not a time."""
    cases: list[tuple[object, int | None]] = [
        *(
            (60_000, 60_000),
            ("60000", 60_000),
            (None, None),
            (0, None),
            (-5, None),
            (1 << 40, None),
            ([], None),
        ),
    ]
    for limit, expected in cases:
        with case(limit):
            arguments = {"questions": [{"question": "Which port?"}], "autoResolutionMs": limit}
            asked = Decoder(agent_named("codex-rollout")).decode(
                json.dumps(function("request_user_input", arguments)).encode()
            )
            assert [each.limit_ms for each in asked if isinstance(each, Permission)] == [expected]
