"""The sessions of a small machine."""

from __future__ import annotations

from agentwatch.agents.reported import State
from agentwatch.catalog.standing import Ground
from tests.builders.home.home_app import MINUTE_MS, NOW_MS, row

_SECOND_MS = 1000
_HOUR_MS = 60 * MINUTE_MS

ROWS = [
    row(
        "ask",
        State.ASKS,
        now="Bash rm -rf build",
        since_ms=NOW_MS - 14 * _SECOND_MS,
        branch="retry-limits",
        title="Add retry limits to the client",
        calls=33,
        failed=2,
        context_used=124_000,
        context_size=200_000,
        lines_added=120,
        lines_removed=33,
        is_marked=True,
    ),
    row(
        "asks",
        State.ASKS,
        Ground.INFERRED,
        agent="codex",
        now="shell npm ci (no child process)",
        since_ms=NOW_MS - 62 * _SECOND_MS,
        seen_ms=NOW_MS - 62 * _SECOND_MS,
        repo="web",
        title="Port the settings page",
        calls=12,
        context_used=18,
        context_size=100,
    ),
    row(
        "tool",
        agent="cursor",
        now="pytest -q",
        is_calling=True,
        since_ms=NOW_MS - 125 * _SECOND_MS,
        now_since_ms=NOW_MS - 48 * _SECOND_MS,
        repo="tidepool",
        branch="fix-lows",
        title="Fix the failing test",
        calls=18,
        failed=1,
        lines_added=8,
        lines_removed=3,
    ),
    row(
        "model",
        now="thinking",
        now_since_ms=NOW_MS - 14 * _SECOND_MS,
        seen_ms=NOW_MS - 2 * MINUTE_MS,
        branch="docs",
        worktree="docs-2",
        subagents=2,
        title="移行ガイドを書く",
    ),
    row(
        "turn",
        State.YOUR_TURN,
        now="The blog has its new name everywhere. Shall I push?",
        since_ms=NOW_MS - 760 * _SECOND_MS,
        repo="site",
        title="Rename the blog",
        calls=44,
        context_used=71,
        context_size=100,
        rings=False,
    ),
    row(
        "ended",
        State.SUCCEEDED,
        agent="cursor",
        since_ms=NOW_MS - 4 * _HOUR_MS,
        began_ms=NOW_MS - 4 * _HOUR_MS - 182 * _SECOND_MS,
        repo="tidepool",
        branch="fix-lows",
        title="Find where lows are computed",
        calls=9,
    ),
    row(
        "broken",
        State.FAILED,
        agent="codex",
        now="usage limit",
        since_ms=NOW_MS - 5 * _HOUR_MS,
        seen_ms=NOW_MS - 5 * _HOUR_MS,
        began_ms=NOW_MS - 5 * _HOUR_MS - 1330 * _SECOND_MS,
        repo="web",
        title="a\x1b[31m hostile\ntitle\u202e",
        calls=67,
        failed=7,
    ),
]
