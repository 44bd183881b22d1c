"""The summary is one JSON object with all known facts, and null for unknown ones."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentwatch.analysis import prices
from agentwatch.analysis.status import status
from agentwatch.catalog import kept_prices
from agentwatch.cli.printing import _print_end
from agentwatch.cli.schema import schema
from agentwatch.feed.feed import Feed
from agentwatch.output.log import ActionLog
from agentwatch.output.summary import final_answer, summary, whole_summary
from agentwatch.recording.saved import open_saved
from agentwatch.session.actions import action
from agentwatch.session.session import Session
from tests.analysis.verdict_history.sessions import STORY, edit, run_of_tests
from tests.builders.lines import (
    CURSOR_SHAPED,
    PROPERTY,
    answered,
    completed,
    delta,
    feed_of,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.screen.lines import ended
from tests.builders.screen.lines import init as claude_init
from tests.builders.screen.lines import started as called
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import watch

MEMBERS = schema("summary")["$defs"]
KEYS = ["version", *MEMBERS["session"]["properties"]]


@pytest.mark.slow
def test_the_summary_is_complete(recording: Saver) -> None:
    """The summary of a documented run is one object on one line, with exactly these keys and values."""
    read_ok = completed("read", "toolu_1", {"success": {"totalLines": 54}}, 1770823449980, path="README.md")
    write_ok = completed("write", "w\n1", {"success": {"linesCreated": 19}}, path="summary.txt")
    path = recording(
        init("/Users/user/project", model="Claude 4 Sonnet"),
        user("Read README.md and summarise it"),
        segment("I'll read it."),
        started("read", "toolu_1", 1770823449274, path="README.md"),
        read_ok,
        started("write", "w\n1", path="summary.txt"),
        write_ok,
        final("Done."),
        result("I'll read it.Done.", duration_ms=5234, duration_api_ms=5234),
    )
    done = watch(path, "--output-format", "summary")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    assert done.stdout.endswith(b"\n")
    printed = json.loads(done.stdout)
    assert list(printed) == KEYS
    assert [list(call) for call in printed["calls"]] == [[*MEMBERS["call"]["properties"]]] * 2
    unknown = dict.fromkeys(("error", "exit_code", "lines_added", "lines_removed"))
    assert printed == {
        "version": 1,
        "format": "cursor",
        "session_id": "s-1",
        "model": "Claude 4 Sonnet",
        "cwd": "/Users/user/project",
        "permission_mode": "default",
        "api_key_source": "login",
        "outcome": "succeeded",
        "exit_code": None,
        "result_outcome": "succeeded",
        "prompt": "Read README.md and summarise it",
        "text": "I'll read it.Done.",
        "result": "I'll read it.Done.",
        "text_matches_result": True,
        "duration_ms": 5234,
        "duration_api_ms": 5234,
        "request_id": "r-1",
        "usage": None,
        "runs": 1,
        "turns": 1,
        "tokens": dict.fromkeys(("input", "cached", "output", "cost_usd", "context_used", "context_size")),
        "cost_estimated_usd": None,
        "calls": [
            {
                "number": 1,
                "call_id": "toolu_1",
                "agent": None,
                "tool": "read",
                "kind": "read",
                "target": "README.md",
                "command": None,
                "action": "Read file README.md (54 lines)",
                "outcome": "succeeded",
                **unknown,
                "started_ms": 1770823449274,
                "ended_ms": 1770823449980,
                "duration_ms": 706,
            },
            {
                "number": 2,
                "call_id": "w\n1",
                "agent": None,
                "tool": "write",
                "kind": "edit",
                "target": "summary.txt",
                "command": None,
                "action": "Created new file summary.txt (19 lines)",
                "outcome": "succeeded",
                **unknown,
                "started_ms": None,
                "ended_ms": None,
                "duration_ms": None,
            },
        ],
        "calls_by_outcome": {"succeeded": 2},
        "lines": {"total": 9, "events": 9, "malformed": 0, "unknown": 0, "repaired": 0, "oversize": 0},
        "orphans": {"completed_without_started": 0, "never_completed": 0},
        "integrity": {
            "holds": True,
            "line": "text = result · 2 of 2 calls paired · 0 malformed · 0 unknown",
            "difference_at": None,
        },
        "tests": None,
    }
    # The summary of an empty stream is unfinished, without runs, and null for everything unknown.
    done = watch("--output-format", "summary", stdin=b"")
    printed = json.loads(done.stdout)
    assert (done.returncode, printed["runs"], printed["calls"]) == (1, 0, [])
    assert printed["outcome"] == "unfinished"
    assert [printed[key] for key in ("format", "model", "result", "text_matches_result", "usage")] == [
        None
    ] * 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "outcome"),
    [
        ("plain", 0, "succeeded"),
        pytest.param("failed-run", 1, "failed", marks=pytest.mark.system),
        pytest.param("unfinished", 1, "unfinished", marks=pytest.mark.system),
    ],
)
def test_a_summary_is_printed_whatever_the_outcome(name: str, code: int, outcome: str) -> None:
    """A run that failed, or has no result, has a summary too, and its own exit code."""
    done = watch(RECORDINGS / f"{name}.ndjson", "--output-format", "summary")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (code, outcome)


HUGE = b'{"type":"result","session_id":"s-1","is_error":false,"duration_ms":%s,"usage":%s}\n'


@pytest.mark.system
@pytest.mark.slow
@settings(PROPERTY, max_examples=60)
@given(st.lists(CURSOR_SHAPED, max_size=3))
def test_every_output_is_total(lines: list[dict[str, Any]]) -> None:
    """Arbitrary values in Cursor's fields produce a summary, a log, actions and a status of whole lines."""
    data = [json.dumps(fields).encode() + b"\n" for fields in lines]
    for read in (session(init(), *data), session(init(), started("read"), *data, is_over=False)):
        assert_printable(read)


def _without_blanks(text: str) -> str:
    """Return a text without blanks such as U+00A0, which `isprintable` refuses and no terminal acts on."""
    return "".join(char for char in text if unicodedata.category(char) != "Zs")


def assert_printable(read: Session) -> None:
    """Check that every output of a session can be made, and that each of its lines is a single line."""
    assert b"\n" not in b"".join(summary(read))
    assert list(json.loads(b"".join(summary(read)))) == KEYS[:-1]
    texts = [*ActionLog(read).new_lines(is_over=True), *map(action, read.calls), status(read, 5_000)]
    assert all(_without_blanks(text).isprintable() for text in texts)


def test_turns_outcomes_and_tokens_are_counted() -> None:
    """Turns are the prompts of all runs; their calls are counted by their outcome. Cursor's
    usage is printed unchanged, and its counts by their common names; the rest is null. The format is that of
    the line that was recognised, also without a line that starts a run.
    """
    calls = (completed("shell", "b", {"rejected": {}}), completed("shell", "c", {"failure": {"exitCode": 1}}))
    first = (init(), user("one"), completed("read", "a", {"success": {}}), result("x"))
    read = session(*first, init(), user("two"), user("three"), *calls, started("read", "d"))
    printed = json.loads(b"".join(summary(read)))
    assert (printed["runs"], printed["turns"]) == (2, 3)
    assert printed["calls_by_outcome"] == {"succeeded": 1, "failed": 1, "rejected": 1, "unfinished": 1}
    usage = {"inputTokens": 9723, "outputTokens": 169, "cacheReadTokens": 44288, "cacheWriteTokens": 0}
    printed = json.loads(b"".join(summary(session(init(), result("x", usage=usage)))))
    assert printed["usage"] == usage
    known = {"input": 54011, "cached": 44288, "output": 169}
    assert printed["tokens"] == known | dict.fromkeys(("cost_usd", "context_used", "context_size"))
    assert json.loads(b"".join(summary(session(result("x")))))["format"] == "cursor"
    # A line with huge numbers or deep nesting is printed in every format.
    for ending in (
        HUGE % (b"100000000000000000000", b"null"),
        HUGE % (b"1e300", b"null"),
        HUGE % (b"1", b'{"a":123456789012345678901234567890,"b":NaN}'),
        HUGE % (b"9" * 400, b'{"b":NaN}'),
        HUGE % (b"1", b'{"a":' * 300 + b"1" + b"}" * 300),
        completed("shell", result={"success": {"exitCode": 10**30}}, at_ms=1e300),
    ):
        with case(ending[:60]):
            read = session(init(), started("shell", at_ms=1), ending)
            assert list(json.loads(b"".join(summary(read)))) == KEYS[:-1]
            assert list(ActionLog(read).new_lines(is_over=True))
            assert [action(call) for call in read.calls]
    # Earlier text, thoughts, notices and earlier runs are left out.
    for stream, answer in ANSWERS:
        with case(answer):
            assert final_answer(session(*stream)) == answer


def test_a_text_of_many_pieces_is_printed_whole() -> None:
    """The text of 1,100 answers, of 70,000 characters, equals that of its result."""
    answers = [f"Answer {number} é🙂 ".ljust(64, ".") for number in range(1_100)]
    lines = [line for text in answers for line in (final(text), started("ls", text))]
    printed = json.loads(b"".join(summary(session(init(), *lines, result("".join(answers))))))
    assert printed["text"] == printed["result"] == "".join(answers)
    assert printed["text_matches_result"] is True


LONG = f"pytest {'x' * 300}\x1b[2J\ud800"


def tests_of(recording: Saver, *lines: bytes) -> Any:
    """Return the member `tests` of the summary of a recording."""
    feed = feed_of(recording(claude_init(), *lines))
    return json.loads(b"".join(whole_summary(feed)))["tests"]


def test_tests_have_the_last_verdict_or_nulls(recording: Saver) -> None:
    """A session without tests, linters and builds has null. A command has its call, its tool, the verdict and
    its source, the counts, and what changed after it. The last call of a command was killed: the verdict
    is `none`, and the state is `unknown`. A command is cut, and contains nothing that could control a
    terminal.
    """
    assert tests_of(recording, edit(1, "a.py")) is None
    lines = (
        STORY + edit(9, "a.py") + run_of_tests(10, 1, "mypy", "Success: no issues found in 3 source files")
    )
    mypy = {"command": "mypy", "call": 10, "tool": "mypy", "of_tests": False, "verdict": "red"}
    pytest = {"command": "pytest -q", "call": 8, "tool": "pytest", "of_tests": True, "verdict": "green"}
    none = {"failed": 0, "errors": 0, "skipped": 0}
    assert tests_of(recording, lines) == {
        "state": "red",
        "commands": [
            {**mypy, "source": "exit", "words": "no errors, exit 1", "passed": 0, **none, "changed_by": None},
            {**pytest, "source": "pattern", "words": "20 passed", "passed": 20, **none, "changed_by": 9},
        ],
        "complete": True,
    }
    args: dict[str, object] = {"command": "pytest -q"}
    killed = called("k", "shell", args) + ended("k", "shell", args, {"failure": {"aborted": True}})
    found = tests_of(recording, run_of_tests(1, 0), killed)
    assert found["state"] == "unknown"
    assert found["commands"] == [
        {
            "command": "pytest -q",
            "call": 2,
            "tool": "pytest",
            "of_tests": True,
            "verdict": "none",
            **dict.fromkeys(("source", "words", "passed", "failed", "errors", "skipped", "changed_by")),
        }
    ]
    command = tests_of(recording, run_of_tests(1, 0, LONG), run_of_tests(2, 0, "pytest\x1b[2J\ud800"))
    shown = [each["command"] for each in command["commands"]]
    assert all(each.isprintable() and len(each) <= 200 for each in shown)
    assert shown[1].endswith("…")


CALL = (started("read"), completed("read"))


ANSWERS: list[tuple[tuple[bytes, ...], str]] = [
    ((init(), user(), final("Hi."), result("Hi.")), "Hi."),
    ((init(), user(), segment("First."), *CALL, final("Last."), result("First.Last.")), "Last."),
    ((init(), user(), segment("First."), *CALL, result("First.")), ""),
    (
        (init(), *CALL, delta("a"), delta("b"), thought("hm"), thought_through(), delta("c"), result("")),
        "abc",
    ),
    ((init(), *CALL, segment("One. "), answered({}), final("Two."), result("")), "One. Two."),
    ((init(), final("Old."), result("Old."), init(), result("")), ""),
    ((init(), final("Old."), init(), user(), final("New."), result("New.")), "New."),
    ((init(), user(), final("One."), user("More"), final("Two."), result("")), "Two."),
    ((result("Only this."),), "Only this."),
    ((), ""),
]


def test_the_prices_of_a_summary_are_kept_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A session whose lines have no times is priced as of this day. The second summary is the same without
    the price list, which takes longer to import than 20 MB to read; and a model without a price is kept too.
    """
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path / "state"))
    path = tmp_path / "r.ndjson"

    def printed() -> bytes:
        kept_prices.load_kept.cache_clear()
        prices.looked_up.clear()
        feed = Feed(open_saved(path))
        prices.count_uses(feed.session)
        feed.advance()
        _print_end(feed, "summary")
        return capfdbinary.readouterr().out

    for model, cost in (("claude-opus-4-5", 5), ("none", None)):
        with case(model), monkeypatch.context() as patched:
            path.write_bytes(init(model=model) + result(usage={"inputTokens": 1_000_000}))
            first = printed()
            assert json.loads(first)["cost_estimated_usd"] == cost
            patched.setattr(prices, "_asked", None)
            assert printed() == first
