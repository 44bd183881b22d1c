"""A session: what its events make of it, and its bounds."""

import gc
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import get_args

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.status import status
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.agent_process import exit_words, is_contradiction
from agentwatch.session.call import Place, bounded, bounded_id, bounded_members
from agentwatch.session.events import (
    Channel,
    Event,
    FormatDetected,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    Traits,
)
from agentwatch.session.reducers import _APPLIERS, apply_line, close_session, forget_texts
from agentwatch.session.session import Session, ending_of_turn
from agentwatch.session.transcript import Kind
from tests.builders.captures import OURS
from tests.builders.lines import (
    DONE,
    answered,
    call,
    completed,
    delta,
    event,
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
from tests.conftest import case


def test_a_session_may_only_count() -> None:
    """Without texts and rhythm, a session has the same calls, turns, tokens, prompt and outcome."""
    for path in OURS.find("**/*.jsonl", "**/*.ndjson"):
        readers = open_saved(path), open_saved(path)
        whole, counted = map(Feed, readers)
        counted.session.only_counts = True
        whole.advance()
        counted.advance()
        with case(OURS.name(path)):
            facts = [
                (each.outcome, each.turns, each.tokens, each.run.prompt, each.run.duration_ms, [*each.calls])
                for each in (whole.session, counted.session)
            ]
            assert facts[0] == facts[1]
            assert counted.session.text == ""
            assert counted.session.rhythm.began_ms is None
        for reader in readers:
            os.close(reader.fd)


def test_an_exit_code_is_stronger_than_the_result() -> None:
    """The outcome is the worse of exit code and result; an unknown exit code changes nothing."""
    cases = (
        (None, Outcome.SUCCEEDED, "succeeded"),
        (0, Outcome.SUCCEEDED, "succeeded"),
        (3, Outcome.FAILED, "exit 3 · result says ✓"),
        (137, Outcome.FAILED, "exit 137 (SIGKILL) · result says ✓"),
    )
    for exit_code, outcome, words in cases:
        with case(exit_code):
            read = session(init(), delta("x"), result("x"))
            read.exit_code = exit_code
            assert (read.outcome, read.outcome_words) == (outcome, words)
            assert read.result_outcome is Outcome.SUCCEEDED
            assert is_contradiction(words) is bool(exit_code)
    assert (exit_words(0), exit_words(None)) == ("", "")
    assert Session().outcome_words in ("", "unfinished", "running")


def test_an_exit_code_is_stronger_than_the_result_of_the_last_turn_only() -> None:
    """The turns before ended as their results say."""
    read = session(init(), delta("x"), result("x"), user(), delta("y"), result("y"))
    read.exit_code = 3
    results = [entry.result for entry in read.transcript if entry.result is not None]
    assert [ending_of_turn(read, each).words for each in results] == ["succeeded", "exit 3 · result says ✓"]


@pytest.mark.costs
def test_texts_are_forgotten_at_a_cost_that_does_not_grow_with_the_runs() -> None:
    """Forgetting texts 50,000 times, in a session of 4,000 runs, takes less than a second."""
    read = session(*[init(), delta("x"), result("x")] * 4_000, is_over=False)
    forget_texts(read)
    assert all(not run.answer for run in read.runs)
    began = time.process_time()
    for _ in range(50_000):
        forget_texts(read)
    assert time.process_time() - began < 1


LARGE = "x" * 1_000_000


def unknown(number: int) -> Iterator[bytes]:
    """Yield a line with a large unknown type."""
    yield event(f"{number}{LARGE}", LARGE)


def shell(number: int) -> Iterator[bytes]:
    """Yield a call with large texts."""
    yield started("shell", f"c{number}", command=LARGE)
    yield completed("shell", f"c{number}", {"failure": {"error": LARGE}}, command=LARGE)


def unending(number: int) -> Iterator[bytes]:
    """Yield the start of a call with large ids."""
    yield event(
        "tool_call",
        "started",
        call_id=f"{number}{LARGE}",
        session_id=f"{number}{LARGE}",
        model_call_id=LARGE,
        tool_call={f"{LARGE}ToolCall": {"args": {"path": LARGE}}},
    )


def run(number: int) -> Iterator[bytes]:
    """Yield a run whose facts are large."""
    yield init(cwd=LARGE, model=LARGE, session_id=f"{number}{LARGE}")
    yield user(LARGE)
    yield result(LARGE, request_id=LARGE, usage={LARGE: LARGE})


def plan(number: int) -> Iterator[bytes]:
    """Yield an addition to the to-do list."""
    todos = [{"content": f"{number}{LARGE}", "status": "pending"}]
    yield completed("updateTodos", f"c{number}", DONE, todos=todos, merge=True)


def text(number: int) -> Iterator[bytes]:
    """Yield a large delta."""
    yield delta(f"{number}{LARGE}")


@pytest.mark.system
@pytest.mark.parametrize("count", [12, pytest.param(50, marks=pytest.mark.long)])
def test_large_lines_are_not_kept(count: int) -> None:
    """Lines of megabytes leave less than 8 MB in memory, for each kind of line that a session keeps."""
    cases: list[Callable[[int], Iterator[bytes]]] = [unknown, shell, unending, run, plan, text]
    for lines_of in cases:
        with case(lines_of):
            tracemalloc.start()
            reader = Reader()
            for number in range(count):
                for line in lines_of(number):
                    reader.take(line)
            del line
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert reader.session.lines.total > count
            assert kept < 8_000_000


class Reader:
    """Applies lines to a session one by one, and keeps none of them."""

    def __init__(self) -> None:
        from agentwatch.agents import Decoder
        from agentwatch.feed.feed import LineJoiner
        from agentwatch.recording.lines import Line

        self.session = Session()
        self._joiner = LineJoiner(Decoder())
        self._line = Line
        self._offset = 0
        self.take(init())

    def take(self, line: bytes) -> None:
        for found in self._joiner.take(self._line(self._offset, line.removesuffix(b"\n"), None)):
            apply_line(self.session, *found)
        self._offset += len(line)


@pytest.mark.system
def test_thousands_of_calls_with_long_texts_are_packed() -> None:
    """8,000 calls with texts of 4,000 characters take less than 16 MB, and all of them are read back."""
    reader = Reader()
    lines = [completed("shell", "c-1", {"failure": {"error": "e" * 4_000}}, command="x" * 4_000)]
    tracemalloc.start()
    for number in range(8_000):
        reader.take(lines[0].replace(b"c-1", b"c%d" % number))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 16_000_000
    assert {(call.target, call.error) for call in reader.session.calls} == {("x" * 4_000, "e" * 4_000)}


def test_strings_are_bounded() -> None:
    """Ids of up to 512 characters and texts of up to 4,096 stay as they are, and longer ids stay different;
    of a usage object the first 256 members are kept.
    """
    first, second = "i" * 5_000 + "1", "i" * 5_000 + "2"
    lines = (started("read", first), started("read", second), completed("read", second, DONE))
    read = session(init(), *lines, is_over=False)
    assert [call.outcome for call in read.calls] == ["running", "succeeded"]
    assert all(len(call.call_id) == 512 for call in read.calls)
    found = call(*(line for line in (started("shell", "c" * 512, command="x" * 4_096),)))
    assert (found.call_id, found.target) == ("c" * 512, "x" * 4_096)
    assert bounded(None) is None
    assert bounded("x" * 4_097) == "x" * 4_095 + "…"
    assert bounded_id("x" * 513) != bounded_id("x" * 514)
    usage = {"input": 5, "note": "as it is", "none": None}
    assert bounded_members(usage) == usage
    assert bounded_members(None) is None
    assert len(bounded_members({str(number): number for number in range(9_000)}) or {}) == 256
    assert bounded_members({"k" * 5_000: "v" * 5_000}) == {"k" * 4_095 + "…": "v" * 4_095 + "…"}


START = RunStarted("other", session_id="s", model="one")
ENDED = ToolEnded("c", "s", "Bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran")


def session_of(traits: Traits, *events: Event, is_over: bool = True) -> Session:
    session = Session()
    for each in (FormatDetected("other", traits), *events):
        apply_line(session, [each], Place(0, 1, None))
    if is_over:
        close_session(session)
    return session


def test_texts_and_formats_without_a_result() -> None:
    """Without a result, and with an error message as the result, nothing is compared; nor after the texts
    were forgotten. Later texts are kept. A format whose calls have one line has nothing unpaired, and says
    how many there are; of one without a result, none is missing.
    """
    cases: list[tuple[tuple[bytes, ...], bool | None]] = [
        ((final("x"), result("x")), True),
        ((final("x"), result("y")), False),
        ((result(""),), True),
        ((final("x"),), None),
        ((final("x"), result(None)), None),
        ((final("x"), result("no credit", is_error=True)), None),
        ((final("x"), result("x", is_error=True)), None),
    ]
    for lines, matches in cases:
        with case(lines):
            assert session(init(), *lines).run.text_matches_result is matches
    same = session(init(), final("x"), result("x", is_error=True)).run.turn_result
    other = session(init(), final("x"), result("no credit", is_error=True)).run.turn_result
    assert same is not None
    assert same.is_streamed
    assert other is not None
    assert not other.is_streamed
    assert not session(init(), final("x")).run.turn_result
    read = session(init(), delta("before "), started("read"), delta("after "), is_over=False)
    forget_texts(read)
    assert (read.text, len(read.transcript), len(read.calls)) == ("", 1, 1)
    apply_line(read, [Text(Channel.ANSWER, "more", 1)], Place(0, 0, None))
    assert (read.text, read.transcript[-1].text) == ("after more", "after more")
    read = session(init(), final("a"), result("b"))
    assert integrity(read).text_matches_result is False
    assert (read.run.result_length, read.run.result_part(0, 9)) == (1, "b")
    assert read.run.turn_result is not None
    read.run.turn_result.forget_text()
    assert (read.run.result, read.run.result_length, read.run.result_part(0, 9)) == (None, 0, "")
    assert integrity(read).text_matches_result is None
    # A format may lack starts and results.
    assert integrity(session_of(Traits(announces_calls=False), START, ENDED)).paired == 1
    assert integrity(session_of(Traits(), START, ENDED)).paired == 0
    assert "no result yet" in integrity(session_of(Traits(), START, is_over=False)).line()
    found = integrity(session_of(Traits(has_result=False), START, is_over=False))
    assert "no result line in this format" in found.line()
    assert status(session_of(Traits(), START), None) == "ended without a result"
    assert status(session_of(Traits(has_result=False), START), None) == "ended"
    traits = Traits(announces_calls=False, has_result=False)
    found = integrity(session_of(traits, START, ENDED))
    assert found.line() == "no result line in this format · 1 call · 0 malformed · 0 unknown"
    assert found.passes
    begun = ToolStarted("d", "s", "Bash", ToolKind.EXECUTE, "Ran", None)
    found = integrity(session_of(traits, START, ENDED, begun))
    assert "1 of 2 calls ended" in found.line()
    assert found.problems() == "1 call not ended"


TASK = ToolStarted("t", None, "Task", ToolKind.DELEGATE, "Ran subagent", "Find it")
GREP = ToolStarted("g", None, "Grep", ToolKind.SEARCH, "Searched files", "x", parent_call="t")


def after(*events: Event) -> Session:
    """Return a session after these events, one per line of 10 bytes."""
    session = Session()
    for number, each in enumerate((RunStarted("other"), *events)):
        apply_line(session, [each], Place(10 * number, 9, 1000))
    return session


def test_every_line_counts_once() -> None:
    """Events, malformed and unknown lines add up to the lines that are not blank; each kind of unknown line
    is noted once, and every type of event is applied. A run is running until its result, whatever its
    calls, or unfinished where the next begins. Lines before any init belong to a run, and without lines
    there is none. Prompt, reasoning, answers, calls, notices and result are in the order in which they
    arrived. A call of a subagent has the id and the number of its parent, or 0; each piece continues the
    text of its own agent.
    """
    lines = (
        init(),
        b"\n",
        user(),
        b"warning\n",
        thought("x"),
        thought_through(),
        b" \r\n",
        b"[1]\n",
        event("weather"),
        started("teleport", "t"),
        completed("read", "r", {"later": {}}),
        delta("x"),
        final("x"),
        answered({"approved": {}}),
        result("x"),
    )
    read = session(*lines)
    assert (read.lines.events, read.lines.malformed, read.lines.unknown) == (8, 2, 3)
    assert read.lines.total == 13
    assert set(_APPLIERS) == set(get_args(Event))
    read = session(init(), event("odd"), event("even"), event("odd"), event("odd"))
    assert [entry.text for entry in read.transcript] == ["unknown: type odd", "unknown: type even"]
    assert read.lines.unknown == 4
    # Fields are those of the last run and calls those of all.
    first = (init(model="A"), user("one"), segment("1."), started("read", "x"), completed("read", "x", DONE))
    second = (init(model="B"), user("two"), user("more"), final("2."), started("read", "y"))
    read = session(*first, result("1.", request_id="r-1"), *second, result("2.", request_id="r-2"))
    assert len(read.runs) == 2
    run = read.run
    assert (run.model, run.prompt, run.result, run.request_id) == ("B", "two", "2.", "r-2")
    assert (read.text, run.text_matches_result) == ("1.2.", True)
    assert [(found.run, found.call_id) for found in read.calls] == [(1, "x"), (2, "y")]
    read = session(init(), final("x"), init(), result("y"))
    assert [run.outcome for run in read.runs] == [Outcome.UNFINISHED, Outcome.SUCCEEDED]
    assert session(init(), final("x"), is_over=False).outcome is Outcome.RUNNING
    assert session(init(), final("x")).outcome is Outcome.UNFINISHED
    assert session(init(), result(is_error=True)).outcome is Outcome.FAILED
    read = session(init(), completed("shell", result={"failure": {"exitCode": 1}}), result())
    assert (read.outcome, read.ended_by_outcome[Outcome.FAILED]) == (Outcome.SUCCEEDED, 1)
    read = session()
    assert (read.runs, list(read.calls), read.text, read.lines.total) == ([], [], "", 0)
    assert (read.run.result, read.run.text_matches_result) == (None, None)
    read = session(started("read"), completed("read", result=DONE), final("x"), result("x"))
    assert (len(read.runs), read.run.model, read.outcome) == (1, None, Outcome.SUCCEEDED)
    assert read.run.session_id == "s-1"
    # The transcript is in order of arrival.
    other_lines = (user("Do."), thought("hm"), thought(" so"), thought_through(), delta("I "), delta("look."))
    more = (
        segment("I look."),
        started("read"),
        completed("read", result=DONE),
        event("connection", "reconnected"),
    )
    other_read = session(init(), *other_lines, *more, b"oops\n", final("Done."), result("I look.Done."))
    assert [(other_entry.kind, other_entry.text) for other_entry in other_read.transcript] == [
        (Kind.PROMPT, "Do."),
        (Kind.REASONING, "hm so"),
        (Kind.ANSWER, "I look."),
        (Kind.CALL, ""),
        (Kind.NOTICE, "connection reconnected"),
        (Kind.NOTICE, "not an event (not JSON): oops"),
        (Kind.ANSWER, "Done."),
        (Kind.RESULT, ""),
    ]
    assert not any(other_entry.is_open for other_entry in other_read.transcript)
    # A call of a subagent knows its parent.
    task, grep = after(TASK, GREP).calls
    assert (task.parent_call, task.parent) == (None, None)
    assert (grep.parent_call, grep.parent) == ("t", 1)
    [lone] = after(GREP).calls
    assert (lone.parent_call, lone.parent) == ("t", 0)
    assert [other_entry.parent for other_entry in after(TASK, GREP).transcript] == [None, 1]
    other_found = after(
        TASK,
        Prompt("Search", parent_call="t"),
        Text(Channel.ANSWER, "main "),
        Text(Channel.ANSWER, "sub", parent_call="t"),
        Text(Channel.ANSWER, "!", parent_call="t"),
        TextEnded(Channel.ANSWER, parent_call="t"),
        Text(Channel.ANSWER, "again"),
    )
    texts = [
        (other_entry.text, other_entry.parent)
        for other_entry in other_found.transcript
        if other_entry.kind is not Kind.CALL
    ]
    assert texts == [("Search", 1), ("main ", None), ("sub!", 1), ("again", None)]
    assert (other_found.text, other_found.run.turns) == ("main again", 0)
    pieces = [
        Text(Channel.ANSWER, f"{number}", parent_call="t" if number % 2 else None) for number in range(9000)
    ]
    transcript = after(TASK, *pieces).transcript
    assert [(transcript[at].text, transcript[at].parent) for at in (1, 2)] == [("0", None), ("1", 1)]


def test_later_lines_describe_a_call() -> None:
    """Pieces of output are appended or replaced, arguments may come later, and an end alone has the start
    time that the agent measured.
    """
    events = TASK, ToolProgress("t", None, "one "), ToolProgress("t", None, "two"), ToolProgress("t", None)
    [call] = after(*events).calls
    assert call.output == "one two"
    [call] = after(*events, ToolProgress("t", None, "x" * 9000, is_whole=True)).calls
    assert call.output == "x" * 4096
    ended = ToolEnded("t", None, "Task", ToolKind.DELEGATE, Outcome.SUCCEEDED, "Ran subagent")
    [call] = after(*events, ended).calls
    assert call.output is None
    assert len(after(ToolProgress("none", None, "x")).calls) == 0
    update = TASK._replace(target="Find all", kind=ToolKind.OTHER, limit_ms=5, is_update=True)
    [call] = after(TASK, update).calls
    assert (call.target, call.kind, call.limit_ms) == ("Find all", ToolKind.OTHER, 5)
    assert call.started == Place(10, 9, 1000)
    assert call.arguments_place == Place(20, 9, 1000)
    [call] = after(TASK, update._replace(is_update=False)).calls
    assert (call.target, call.arguments_place) == ("Find it", Place(10, 9, 1000))
    ended = ToolEnded("t", None, "Task", ToolKind.DELEGATE, Outcome.SUCCEEDED, "Ran subagent")
    [call] = after(TASK, ended, update).calls
    assert call.target == "Find it"
    ended = ToolEnded(
        "t", None, "bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran", at_ms=900, started_ms=300
    )
    [call] = after(ended._replace(more_paths=("a", "b"))).calls
    assert (call.started_ms, call.duration_ms, call.more_paths) == (300, 600, ("a", "b"))
    [call] = after(ended._replace(at_ms=None, duration_ms=70)).calls
    assert call.duration_ms == 70
