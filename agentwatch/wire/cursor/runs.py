"""How a Cursor run ends."""

from __future__ import annotations

from agentwatch.events import Outcome, RunEnded
from agentwatch.wire.fields import Fields, number, text


def run_ended(fields: Fields) -> RunEnded:
    """Read a result line.

    `is_error` decides whether the run failed. The subtype may be translated, so it decides only without
    `is_error`.
    """
    is_error = fields.get("is_error")
    failed = is_error if isinstance(is_error, bool) else fields.get("subtype") != "success"
    result = fields.get("result")
    return RunEnded(
        Outcome.FAILED if failed else Outcome.SUCCEEDED,
        result if isinstance(result, str) else None,
        text(fields, "session_id"),
        text(fields, "request_id"),
        number(fields, "duration_ms"),
        number(fields, "duration_api_ms"),
        _usage(fields.get("usage")),
    )


def _usage(value: object) -> dict[str, object] | None:
    """Return the token counts unchanged, without values that are not plain or are too large."""
    if not isinstance(value, dict):
        return None
    return {
        key: inner
        for key, inner in value.items()
        if isinstance(inner, str | bool | float | None) or number(value, key) is not None
    }
