"""What a file does not say follows from its silence, until more is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.catalog.digest import Tail, Turn
from agentwatch.session.events import Outcome
from tests.builders.on_disk import transcript as claude
from tests.catalog.digest.growing import append, jsonl, tail_of


def silent(tail: Tail, path: Path, seconds: float) -> bool:
    """Let time pass without a change of a file, and return whether anything follows from that."""
    return tail.pass_time(path.stat().st_mtime_ns // 10**6 + round(seconds * 1000))


def gemini(text: str, key: str) -> dict[str, object]:
    """Return an answer of Gemini without calls."""
    return {"id": key, "timestamp": claude.AT, "type": "gemini", "content": text, "model": "g"}


def gemini_prompt(text: str, key: str) -> dict[str, object]:
    """Return a prompt to Gemini."""
    return {"id": key, "timestamp": claude.AT, "type": "user", "content": [{"text": text}]}


def test_silence_ends_a_turn_that_no_line_ends(path: Path) -> None:
    """Gemini writes no end: five seconds after an answer without calls, it is the user's turn."""
    path.write_bytes(
        jsonl({"sessionId": "s", "projectHash": "h"}, gemini_prompt("Go", "1"), gemini("Hi", "2"))
    )
    tail, digest = tail_of(path, "gemini")
    assert digest.turn is Turn.OPEN
    assert not silent(tail, path, 4.9)
    assert silent(tail, path, 5)
    assert (digest.turn, digest.outcome, digest.turn_ms) == (Turn.ENDED, Outcome.SUCCEEDED, claude.AT_MS)
    assert not tail.update()
    append(path, jsonl(gemini_prompt("More", "3")))
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.turn, tail.digest.last_prompt) == (Turn.OPEN, "More")


def qwen(kind: str, **more: object) -> dict[str, object]:
    """Return a line of Qwen Code."""
    return {"type": kind, "sessionId": "s", "timestamp": claude.AT, "cwd": "/w", "version": "0", **more}


def test_an_error_that_may_be_repeated_fails_the_turn_only_in_the_end(path: Path) -> None:
    """While Qwen Code may repeat a request, the turn is open; it has failed once the process has ended."""
    event = {"event.name": "qwen-code.api_error", "status_code": 503, "error_message": "overloaded"}
    error = qwen("system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
    answer = qwen("assistant", message={"parts": [{"text": "Done."}]})
    path.write_bytes(jsonl(qwen("user", message={"parts": [{"text": "Go"}]}), error))
    tail, digest = tail_of(path, "qwen")
    assert not silent(tail, path, 60)
    assert (digest.turn, digest.retry) == (Turn.OPEN, "retry: overloaded")
    assert tail.settle()
    assert (digest.turn, digest.outcome, digest.reason) == (Turn.ENDED, Outcome.FAILED, "overloaded")
    assert not tail.settle()
    append(path, jsonl(answer))
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.outcome, tail.digest.last_text) == (Outcome.SUCCEEDED, "Done.")


LATER = "2026-11-21T23:00:00.000Z"


@pytest.mark.parametrize("is_settled", [True, False])
def test_what_follows_from_the_end_is_taken_back_when_more_is_written(path: Path, is_settled: bool) -> None:
    """A repeated request belongs to the turn that seemed to have failed."""
    event = {"event.name": "qwen-code.api_error", "status_code": 503, "error_message": "overloaded"}
    error = qwen("system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
    path.write_bytes(jsonl(qwen("user", message={"parts": [{"text": "Go"}]}), error))
    tail, digest = tail_of(path, "qwen")
    assert not silent(tail, path, 60)
    assert not tail.update()
    if is_settled:
        tail.settle()
    assert digest.outcome is (Outcome.FAILED if is_settled else None)
    append(
        path,
        jsonl(
            {**qwen("assistant", message={"parts": [{"text": "Hm", "thought": True}]}), "timestamp": LATER}
        ),
    )
    tail.update()
    assert tail.digest is not None
    assert (tail.digest.turn, tail.digest.turn_ms) == (Turn.OPEN, claude.AT_MS)


def test_after_ten_minutes_nothing_more_is_expected(path: Path) -> None:
    """An old file is read as one that has ended."""
    event = {"event.name": "qwen-code.api_error", "status_code": 503, "error_message": "overloaded"}
    error = qwen("system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
    path.write_bytes(jsonl(qwen("user", message={"parts": [{"text": "Go"}]}), error))
    tail, digest = tail_of(path, "qwen")
    assert silent(tail, path, 700)
    assert digest.outcome is Outcome.FAILED


def test_a_released_tail_is_read_again_when_the_file_grows(path: Path) -> None:
    """Without a change, a released tail keeps its digest and reads nothing."""
    tail, digest = tail_of(path)
    tail.release()
    assert not tail.update()
    assert tail.digest is digest
    append(path, jsonl(claude.said("Hm")))
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.first_prompt, tail.digest.last_text) == ("Fix it", "Hm")
