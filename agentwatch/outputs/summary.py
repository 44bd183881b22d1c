"""The summary: everything the screen knows, as one JSON object on one line (CONTRACT, section 3)."""

from __future__ import annotations

import re

import orjson

from agentwatch.actions import action, target
from agentwatch.integrity import integrity
from agentwatch.session import Call, Session

_CAN_ACT = re.compile("[\\x7f-\\x9f\\xad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")


def summary(session: Session) -> bytes:
    """Return the summary of a session, without a line end.

    What could drive the terminal that shows it stands as a JSON escape: the values are unchanged.
    """
    run, found = session.run, integrity(session)
    fields = {
        "format": run.format,
        "session_id": run.session_id,
        "model": run.model,
        "cwd": run.cwd,
        "permission_mode": run.permission_mode,
        "api_key_source": run.api_key_source,
        "outcome": session.outcome,
        "prompt": run.prompt,
        "text": session.text,
        "result": run.result,
        "text_matches_result": run.text_matches_result,
        "duration_ms": run.duration_ms,
        "duration_api_ms": run.duration_api_ms,
        "request_id": run.request_id,
        "usage": run.usage,
        "runs": len(session.runs),
        "calls": [_call(call) for call in session.calls],
        "lines": {
            "total": session.lines.total,
            "events": session.lines.events,
            "malformed": session.lines.malformed,
            "unknown": session.lines.unknown,
            "repaired": session.lines.repaired,
            "oversize": session.lines.oversize,
        },
        "orphans": {
            "completed_without_started": session.completed_without_started,
            "never_completed": session.never_completed,
        },
        "integrity": {"holds": found.holds, "line": found.line(), "difference_at": found.difference_at},
    }
    line = orjson.dumps(fields).decode()
    return _CAN_ACT.sub(lambda found: f"\\u{ord(found[0]):04x}", line).encode()


def _call(call: Call) -> dict[str, object]:
    return {
        "call_id": call.call_id,
        "tool": call.tool,
        "target": target(call) or None,
        "action": action(call),
        "outcome": call.outcome,
        "error": call.error,
        "exit_code": call.exit_code,
        "lines_added": call.lines_added,
        "lines_removed": call.lines_removed,
        "started_ms": call.started_ms,
        "ended_ms": call.ended_ms,
        "duration_ms": call.duration_ms,
    }
