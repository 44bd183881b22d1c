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
        outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
        result=result if isinstance(result, str) else None,
        session_id=text(fields, "session_id"),
        request_id=text(fields, "request_id"),
        duration_ms=number(fields, "duration_ms"),
        duration_api_ms=number(fields, "duration_api_ms"),
        usage=_usage(fields.get("usage")),
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
