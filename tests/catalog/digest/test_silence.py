"""What a file does not say follows from its silence, until more is written."""

from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.catalog.digest.digest import Digest, LastTests, Turn
from agentwatch.catalog.digest.reading import Tail, apply_lines, decoder_for
from agentwatch.session.events import Outcome
from tests.analysis.verdict_history.sessions import edit, run_of_tests
from tests.builders.on_disk import transcript as claude
from tests.builders.screen.lines import ended, init, shell, started
from tests.catalog.digest.conftest import append, jsonl, tail_of
from tests.conftest import case


def silent(tail: Tail, path: Path, seconds: float) -> bool:
    """Let time pass without a change of a file, and return whether anything follows from that."""
    return tail.pass_time(path.stat().st_mtime_ns // 10**6 + round(seconds * 1000))


def gemini(text: str, key: str) -> dict[str, object]:
    """Return an answer of Gemini without calls."""
    return {"id": key, "timestamp": claude.AT, "type": "gemini", "content": text, "model": "g"}


def gemini_prompt(text: str, key: str) -> dict[str, object]:
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


def test_a_title_does_not_open_a_turn_that_silence_has_ended(path: Path) -> None:
    """Gemini adds a title to a session that waits when another one begins. An answer that follows is read."""
    head = {"sessionId": "s", "projectHash": "h"}
    path.write_bytes(jsonl(head, gemini_prompt("Go", "1"), gemini("Hi", "2")))
    tail, _ = tail_of(path, "gemini")
    assert silent(tail, path, 5)
    append(path, jsonl({"$set": {"summary": "A title", "memoryScratchpad": {"version": 1}}}))
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.turn, tail.digest.outcome) == (Turn.ENDED, Outcome.SUCCEEDED)
    assert tail.digest.title == "A title"
    assert not tail.is_silent(claude.AT_MS + 700_000)
    new, digest = tail_of(path, "gemini")  # a new list reads the title with the answer
    assert digest.outcome is None
    assert new.pass_time(claude.AT_MS + 5000)
    assert digest.turn is Turn.ENDED
    append(path, jsonl(gemini("More", "3")))
    assert tail.update()
    assert (tail.digest.turn, tail.digest.last_text) == (Turn.OPEN, "More")


def test_a_session_is_silent_when_something_follows_from_it(path: Path) -> None:
    """It is after 5 s; if nothing that has ended well is held then, after 10 min; never after that."""
    head = {"sessionId": "s", "projectHash": "h"}
    path.write_bytes(jsonl(head, gemini_prompt("Go", "1"), gemini("Hi", "2")))
    tail, _ = tail_of(path, "gemini")
    changed_ms = path.stat().st_mtime_ns // 10**6
    assert [tail.is_silent(changed_ms + each) for each in (0, 4_900, 5_000)] == [False, False, True]
    assert silent(tail, path, 5)
    assert not tail.is_silent(changed_ms + 700_000)


def qwen(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "sessionId": "s", "timestamp": claude.AT, "cwd": "/w", "version": "0", **more}


def overloaded(path: Path) -> tuple[Tail, Digest]:
    """Return the tail of a session of Qwen Code whose last request has failed, and its digest."""
    event = {"event.name": "qwen-code.api_error", "status_code": 503, "error_message": "overloaded"}
    error = qwen("system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
    path.write_bytes(jsonl(qwen("user", message={"parts": [{"text": "Go"}]}), error))
    return tail_of(path, "qwen")


def test_an_error_that_may_be_repeated_fails_the_turn_only_in_the_end(path: Path) -> None:
    """While Qwen Code may repeat a request, the turn is open; it has failed once the process has ended."""
    tail, digest = overloaded(path)
    assert not silent(tail, path, 60)
    assert (digest.turn, digest.retry) == (Turn.OPEN, "retry: overloaded")
    assert tail.settle()
    assert (digest.turn, digest.outcome, digest.reason) == (Turn.ENDED, Outcome.FAILED, "overloaded")
    assert not tail.settle()
    append(path, jsonl(qwen("assistant", message={"parts": [{"text": "Done."}]})))
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.outcome, tail.digest.last_text) == (Outcome.SUCCEEDED, "Done.")
    # A repeated request belongs to the turn that seemed to have failed.
    thought = qwen("assistant", message={"parts": [{"text": "Hm", "thought": True}]})
    for is_settled in (True, False):
        with case(is_settled):
            tail, digest = overloaded(path)
            assert not silent(tail, path, 60)
            assert not tail.update()
            if is_settled:
                tail.settle()
            assert digest.outcome is (Outcome.FAILED if is_settled else None)
            append(path, jsonl({**thought, "timestamp": "2026-11-21T23:00:00.000Z"}))
            tail.update()
            assert tail.digest is not None
            assert (tail.digest.turn, tail.digest.turn_ms) == (Turn.OPEN, claude.AT_MS)
    # An old file is read as one that has ended: after ten minutes nothing more is expected.
    tail, digest = overloaded(path)
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


GREEN, RED = LastTests(False, 20, 0), LastTests(True, 18, 2)
MYPY = "Success: no issues found in 3 source files"


def call(number: int, result: dict[str, Any], command: str = "pytest -q") -> bytes:
    """Return a command with this result."""
    args: dict[str, object] = {"command": command}
    return started(f"x-{number}", "shell", args) + ended(f"x-{number}", "shell", args, result)


def applied(digest: Digest, *readings: bytes) -> Digest:
    """Apply lines to a digest, in one or several readings."""
    decoder = decoder_for(digest)
    for data in readings:
        apply_lines(digest, decoder, data.splitlines(keepends=True))
    return digest


VERDICTS: dict[str, tuple[list[bytes], LastTests | None]] = {
    "green": ([run_of_tests(1, 0)], GREEN),
    "red": ([run_of_tests(1, 2)], RED),
    "the newest counts": ([run_of_tests(1, 2), run_of_tests(2, 0)], GREEN),
    "other commands": ([run_of_tests(1, 2), shell(2)], RED),
    "a linter is no test": ([run_of_tests(1, 0), run_of_tests(2, 0, "mypy", MYPY)], GREEN),
    "only a linter": ([run_of_tests(1, 0, "mypy", MYPY)], None),
    "an old output": ([run_of_tests(1, 2, "cat pytest.log")], None),
    "changed since": ([run_of_tests(1, 0), edit(2, "a")], GREEN._replace(is_stale=True)),
    "red and changed": ([run_of_tests(1, 2), edit(2, "a")], RED._replace(is_stale=True)),
    "an edit failed": ([run_of_tests(1, 0), edit(2, "a", is_failed=True)], GREEN),
    "changed before": ([edit(1, "a"), run_of_tests(2, 0)], GREEN),
    "changed before another command": (
        [run_of_tests(1, 0), edit(2, "a") + shell(3)],
        GREEN._replace(is_stale=True),
    ),
    "the last run was killed": ([run_of_tests(1, 0), call(2, {"failure": {"aborted": True}})], None),
    "another command was killed": (
        [run_of_tests(1, 0), call(2, {"failure": {"aborted": True}}, "sleep 9")],
        GREEN,
    ),
    "a rejected call": ([run_of_tests(1, 0), call(2, {"rejected": {"reason": "no"}})], GREEN),
    "nothing ran": ([run_of_tests(1, 0), run_of_tests(2, 0, output="3 deselected in 0.1s")], None),
}


def test_the_newest_verdict_of_tests() -> None:
    """It is the same whether the lines are read at once or as they are appended."""
    for name, (pieces, tests) in VERDICTS.items():
        for readings in (1, 2):
            with case(f"{name}, {readings}"):
                data = [init() + b"".join(pieces)] if readings == 1 else [init(), *pieces]
                assert applied(Digest(format="cursor"), *data).tests == tests


def test_few_outputs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many commands of one reading, the output of the newest six is read; the tests before are unknown."""
    read: list[str] = []
    blocks = Decoder.blocks

    def counted(decoder: Decoder, data: bytes, call_id: str = "") -> Any:
        read.append(call_id)
        return blocks(decoder, data, call_id)

    monkeypatch.setattr(Decoder, "blocks", counted)
    others = b"".join(call(number, {"success": {"stdout": "x"}}, f"./go {number}") for number in range(40))
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0) + others).tests is None
    assert read == [f"x-{number}" for number in range(39, 33, -1)]
    # The result in a line over 1 MiB is unknown.
    output = "x\n" * 600_000 + "20 passed in 0.1s"
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0, output=output)).tests is None
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0, output=output[-9000:])).tests == GREEN
    # After a gap, the tests before it are unknown.
    digest = applied(Digest(format="cursor"), init() + run_of_tests(1, 0))
    digest.skip()
    assert digest.tests is None


def test_the_tests_of_a_file_that_grows(path: Path) -> None:
    """A result names only its call; the command is that of the call's start."""
    tail, digest = tail_of(path)
    append(path, jsonl(claude.call("c1", given={"command": "pytest -q"})))
    tail.update()
    line = claude.returned("c1")
    line["message"]["content"][0]["content"] = "3 passed in 0.1s"
    append(path, jsonl(line))
    tail.update()
    assert digest.tests == LastTests(False, 3, 0)
