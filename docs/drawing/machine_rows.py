"""The sessions of made machines that the pictures of the list show: all states at one time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground, SessionStatus

_S = 1000
_MIN, _H, _D = 60 * _S, 3600 * _S, 24 * 3600 * _S
_OLD = 412
"""The number of sessions that are older than a week."""
_ONE_LINERS = 6


class Sessions:
    """Makes the sessions of the machine, as they are at one time."""

    def __init__(self, now_ms: int, demo: Path) -> None:
        """Take the time, in ms since the epoch, and the recording of the demo."""
        self._now_ms = now_ms
        self._demo = demo
        self.rows: list[Row] = []

    def add(
        self,
        agent: str,
        place: str,
        title: str,
        state: State,
        lasts_ms: int,
        now: str = "",
        now_lasts_ms: int | None = None,
        *,
        ground: Ground = Ground.SAID,
        age_ms: int = 0,
        **fields: Any,
    ) -> None:
        """Add a session.

        Args:
            agent: Its agent.
            place: Its repository and its branch.
            title: Its title.
            state: Its state.
            lasts_ms: How long it has been in that state, or how long ago it has ended.
            now: What it does.
            now_lasts_ms: For how long it has done that; None as long as the state lasts.
            ground: How the state is known.
            age_ms: How long ago it began; by default twice as long ago as its state.
            fields: Other fields of its row.
        """
        repo, _, branch = place.partition(" ")
        number = len(self.rows)
        at_ms = self._now_ms
        is_calling = fields.pop("is_calling", False)
        since_ms = at_ms - (lasts_ms if now_lasts_ms is None else now_lasts_ms)
        status = SessionStatus(state, ground, at_ms - lasts_ms, now, since_ms, is_calling)
        values: dict[str, Any] = {
            "path": self._demo,
            "seen_ms": at_ms - lasts_ms,
            "began_ms": at_ms - (age_ms or 2 * lasts_ms),
            "duration_ms": (age_ms or 2 * lasts_ms) - lasts_ms,
            "cwd": f"/src/{repo}",
            "failed": 0,
            "context_size": 100,
            **fields,
        }
        self.rows.append(
            Row(
                key=(agent, f"{number:08x}"),
                agent=agent,
                id=f"{number:08x}-7a95-4b1e-9d2c-0123456789ab",
                status=status,
                title=title,
                repo=repo,
                branch=branch,
                **values,
            )
        )


def made_rows(now_ms: int, demo: Path) -> list[Row]:
    """Return the sessions of the machine.

    Args:
        now_ms: The time, in ms since the epoch.
        demo: The recording of the demo.
    """
    sessions = Sessions(now_ms, demo)
    add, inferred = sessions.add, Ground.INFERRED
    asks, working, turn = State.ASKS, State.WORKING, State.YOUR_TURN
    add(
        *("claude", "api retry-limits", "Add retry limits to the client"),
        *(asks, 14 * _S, "Bash rm -rf build"),
        age_ms=21 * _MIN,
        calls=33,
        failed=2,
        context_used=62,
        is_marked=True,
        lines_added=120,
        lines_removed=33,
    )
    add(
        *("codex", "web main", "Port the settings page", asks, 62 * _S),
        "shell npm ci (no child process)",
        ground=inferred,
        age_ms=34 * _MIN,
        calls=12,
        context_used=18,
        lines_added=41,
        lines_removed=12,
    )
    add(
        *("copilot", "infra main", "Terraform the new bucket", State.TURN_FAILED, 4 * _MIN),
        "quota exceeded",
        age_ms=52 * _MIN,
        calls=8,
        failed=1,
    )
    add(
        *("cursor", "tidepool fix-lows", "Fix test_nearest_low_just_past", working, 46 * _S),
        *("Check .seconds in chart.py", 9 * _S),
        calls=9,
        failed=1,
        is_calling=True,
        is_own=True,
        age_ms=46 * _S,
        lines_added=8,
        lines_removed=3,
    )
    add(
        *("claude", "api docs", "Write the migration guide", working, 3 * _MIN),
        *("thinking", 14 * _S),
        age_ms=3 * _MIN,
        calls=5,
        context_used=9,
        worktree="docs-2",
        subagents=2,
    )
    add(
        *("qwen", "lantern main", "移行ガイドを書く", working, 95 * _S, "thinking", 9 * _S),
        ground=inferred,
        calls=6,
        context_used=11,
    )
    add(
        *("opencode", "web checkout", "Find the slow query", State.QUIET, 370 * _S),
        "nothing for 6 min (usually 20 s)",
        ground=inferred,
        age_ms=40 * _MIN,
        calls=21,
        context_used=44,
    )
    add(
        *("claude", "site main", "Rename the blog", turn, 760 * _S),
        "The blog has its new name everywhere. Shall I push?",
        age_ms=58 * _MIN,
        calls=44,
        context_used=71,
        lines_added=212,
        lines_removed=198,
    )
    add(
        *("claude", "web main", "Start the preview server", State.SHELL, 25 * _MIN),
        "The server runs at port 5173.",
        age_ms=42 * _MIN,
        calls=3,
        context_used=6,
        rings=False,
    )
    add(
        *("pi", "lantern main", "Raise the request timeout", turn, 2 * _H),
        "TIMEOUT_SECONDS in lantern/settings.py is now 45.",
        calls=4,
        context_used=8,
    )
    ended: Sequence[tuple[str, str, str, State, int, str, int, dict[str, Any]]] = (
        ("cursor", "tidepool fix-lows", "Find where lows are computed", State.SUCCEEDED, 3, "", 9, {}),
        ("codex", "web main", "Upgrade the bundler", State.FAILED, 4, "usage limit", 67, {"failed": 7}),
        ("claude", "api main", "Explain the cache keys", State.UNFINISHED, 5, "Bash make bench", 12, {}),
        ("gemini", "infra main", "List the unused roles", State.SUCCEEDED, 6, "", 17, {}),
        ("cursor", "site main", "Compress the images", State.UNKNOWN, 8, "", 0, {"can_open": False}),
        ("claude", "lantern limits", "Test the limits of uploads", State.SUCCEEDED, 30, "", 51, {}),
        ("codex", "tidepool main", "Review the tide tables", State.SUCCEEDED, 31, "", 38, {}),
        ("claude", "web main", "Add the dark theme", State.SUCCEEDED, 49, "", 83, {"failed": 3}),
        ("qwen", "api main", "Translate the error messages", State.SUCCEEDED, 52, "", 24, {}),
        ("claude", "infra certs", "Rotate the certificates", State.SUCCEEDED, 54, "", 33, {}),
        ("opencode", "web main", "Remove the old router", State.FAILED, 55, "interrupted", 29, {"failed": 1}),
        ("claude", "site main", "Fix the links of the feed", State.SUCCEEDED, 57, "", 14, {}),
        ("pi", "lantern main", "Write a test for retries", State.SUCCEEDED, 73, "", 22, {"failed": 4}),
        ("codex", "api main", "Name the fields of the log", State.SUCCEEDED, 76, "", 19, {}),
        ("claude", "tidepool main", "Draw the tide as a curve", State.SUCCEEDED, 78, "", 64, {"failed": 2}),
    )
    for agent, place, title, state, hours, now, calls, more in ended:
        lasted = (calls + 2) * 30 * _S
        ground = Ground.UNKNOWN if state is State.UNKNOWN else Ground.SAID
        counts = {}
        if state is not State.UNKNOWN:
            counts = {"calls": calls, "lines_added": calls, "lines_removed": calls // 3}
        add(
            agent,
            place,
            title,
            state,
            hours * _H,
            now,
            ground=ground,
            age_ms=hours * _H + lasted,
            **counts,
            **more,
        )
    _add_old(sessions)
    return sessions.rows


def rows_of_film(now_ms: int, demo: Path) -> tuple[list[Row], list[tuple[int, Row]]]:
    """Return the sessions at the start of the film, and the rows that come later, each with its time in ms.

    Args:
        now_ms: The time at the start, in ms since the epoch: 8 s after the start of the demo.
        demo: The recording of the demo.
    """
    rows = made_rows(now_ms, demo)
    asking, failing, own = rows[0], rows[2], rows[3]

    def working(row: Row, since: float, now: str, now_since: float) -> Row:
        since_ms, now_since_ms = now_ms + int(since * _S), now_ms + int(now_since * _S)
        is_calling = now != "thinking"
        status = SessionStatus(State.WORKING, Ground.SAID, since_ms, now, now_since_ms, is_calling)
        return row._replace(status=status, began_ms=since_ms, is_marked=False, is_own=False)

    def ending(row: Row, seconds: float) -> tuple[int, Row]:
        at_ms = now_ms + int(seconds * _S)
        return at_ms, row._replace(status=row.status._replace(since_ms=at_ms, now_since_ms=at_ms))

    rows[0] = working(asking, -140, "Bash make test", -6)
    rows[2] = working(failing, -50, "shell terraform plan", -21)
    rows[3] = working(own, -8, "thinking", -2.8)
    steps = (("pytest -q", 1.1), ("thinking", 9.7), ("thinking", 26.3), ("Check .seconds in chart.py", 28.9))
    calls = [(now_ms + int(at * _S), working(own, -8, now, at)) for now, at in steps]
    return rows, sorted([*calls, ending(asking, 4), ending(failing, 8)], key=lambda each: each[0])


def rows_of_machines(now_ms: int, demo: Path) -> list[Row]:
    """Return the sessions of this machine, of an engine with CI jobs, and of a host.

    Args:
        now_ms: The time, in ms since the epoch.
        demo: The recording of the demo.
    """
    sessions = Sessions(now_ms, demo)
    add, working = sessions.add, State.WORKING
    add(
        "claude",
        "api retry-limits",
        "Add retry limits to the client",
        State.ASKS,
        14 * _S,
        "Bash rm -rf build",
        calls=33,
    )
    add(
        "cursor",
        "tidepool fix-lows",
        "Fix test_nearest_low_just_past",
        working,
        46 * _S,
        "pytest -q",
        calls=9,
        failed=1,
    )
    add("claude", "site main", "Rename the blog", State.YOUR_TURN, 760 * _S, "Shall I push?", calls=44)
    add("codex", "web main", "Upgrade the bundler", State.FAILED, 4 * _H, "usage limit", calls=67, failed=7)
    here = len(sessions.rows)
    add(
        "codex",
        "web checkout",
        "Repair the nightly build",
        State.ASKS,
        95 * _S,
        "shell npm publish",
        calls=12,
        host="runner-17",
    )
    add(
        "claude",
        "api main",
        "Triage issue 2041",
        working,
        130 * _S,
        "make test",
        calls=21,
        is_calling=True,
        host="runner-18",
    )
    add(
        "claude",
        "infra certs",
        "Rotate the certificates",
        working,
        48 * _S,
        "terraform plan",
        calls=7,
        is_calling=True,
        host="build1",
    )
    add(
        "gemini",
        "lantern limits",
        "Test the limits of uploads",
        State.UNKNOWN,
        260 * _S,
        "pytest tests/uploads",
        calls=15,
        host="runner-9",
        lost_ms=now_ms - 260 * _S,
    )
    add("claude", "api main", "Triage issue 2038", State.SUCCEEDED, 1 * _H, calls=18, host="runner-16")
    add(
        "codex",
        "infra main",
        "List the unused roles",
        State.FAILED,
        2 * _H,
        "exit 1",
        calls=31,
        failed=4,
        host="build1",
    )
    rows = sessions.rows[:here]
    for row in sessions.rows[here:]:
        place = "ssh://build1" if row.host == "build1" else "nats://team"
        rows.append(row._replace(key=(place, row.id), address=f"{place}/{row.id}"))
    return rows


def _add_old(sessions: Sessions) -> None:
    """Add what the list folds and hides."""
    add = sessions.add
    for number in range(_ONE_LINERS):
        words = f"Name the change, part {number}"
        add(
            "claude", "api main", words, State.SUCCEEDED, 70 * _H, age_ms=70 * _H + 20 * _S, is_one_liner=True
        )
    for number in range(_OLD):
        add("claude", "api main", f"Older {number}", State.SUCCEEDED, 8 * _D + number * _H, calls=1)
