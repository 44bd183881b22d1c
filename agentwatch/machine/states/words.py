"""What a session does now, in one line. All of it is foreign text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Outcome, ToolKind
from agentwatch.text.durations import age_words

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.parts import OpenCall

_MOST = 200
RUNNING = "its process runs"
BUSY = "busy"
MODEL_OR_TOOL = "model or tool"


def call_words(call: OpenCall) -> str:
    """Return what a running call acts on: `pytest -q`, or else its tool."""
    return (call.target or call.tool)[:_MOST]


def asked_words(call: OpenCall) -> str:
    """Return a call that asks: its tool and what it acts on, `Bash rm -rf build`."""
    return f"{call.tool} {call.target}".strip()[:_MOST]


def inferred_words(call: OpenCall) -> str:
    """Return a call that seems to ask, with what shows it: `shell npm ci (no child process)`."""
    reason = "no child process" if call.kind is ToolKind.EXECUTE else "no result"
    return f"{asked_words(call)} ({reason})"


def model_words(digest: Digest) -> str:
    """Return what an agent does that makes no call: it compacts, waits for a retry, or thinks."""
    if digest.is_compacting:
        return "compacting"
    return digest.retry[:_MOST] or "thinking"


def silence_words(digest: Digest, now_ms: int) -> str:
    """Return how long nothing has happened: `nothing for 6 min (usually 20 s)`; empty if it is unknown."""
    if digest.seen_ms is None:
        return ""
    usual = "" if digest.usual_pause_ms is None else f" (usually {age_words(digest.usual_pause_ms)})"
    return f"nothing for {age_words(now_ms - digest.seen_ms)}{usual}"


def answer_words(digest: Digest | None) -> str:
    """Return the last line of the last answer, in which it asks or says what is done."""
    return "" if digest is None else digest.last_text.rstrip().rpartition("\n")[2].strip()[:_MOST]


def failure_words(digest: Digest) -> str:
    """Return why the last turn failed: the first line of the reason, or else its outcome."""
    if digest.outcome is Outcome.CANCELLED:
        return "interrupted"
    return digest.reason.lstrip().partition("\n")[0][:_MOST]


def tail_words(digest: Digest | None) -> str:
    """Return what the last lines of a session show, whether or not it still runs."""
    if digest is None:
        return ""
    call = next(iter(digest.open_calls.values()), None)
    return answer_words(digest) if call is None else call_words(call)
