"""Cursor's stream: runs, texts, halves of emoji, plans and queries."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.cursor.stream import Queries
from agentwatch.session.actions import action
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Repair,
    RunStarted,
    Text,
    Tokens,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import (
    answered,
    asked,
    call,
    completed,
    delta,
    event,
    events,
    final,
    init,
    message,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import case


def test_an_init_starts_a_run() -> None:
    """The init contains session, model, cwd, permission mode and key source."""
    expected = RunStarted("cursor", "s-1", "Auto", "/home/ada/app", "default", "login")
    assert events(init()) == [expected]


def test_the_prompt_is_the_user_line() -> None:
    """A user line is a prompt, even if its content is a bare string."""
    assert events(init(), user("Do it.")) == [Prompt("Do it.")]
    assert events(init(), event("user", message={"content": "Do it."})) == [Prompt("Do it.")]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_without_text_is_unknown(role: str) -> None:
    """A message without text is unknown, not an empty message."""
    for content in ([], [{"type": "image"}], None, 7):
        [found] = events(init(), event(role, message={"content": content}))
        assert isinstance(found, Unknown)


def test_a_request_is_a_permission_without_an_answer() -> None:
    """A query is a permission without an answer yet."""
    assert events(init(), asked("webFetch", 5)) == [Permission("webFetch", None, at_ms=5, is_automatic=True)]


@pytest.mark.parametrize(
    ("answer", "decision", "reason"),
    [
        ({"approved": {}}, "approved", None),
        ({"rejected": {"reason": "no"}}, "rejected", "no"),
        ({"result": {"rejected": {"reason": "no"}}}, "rejected", "no"),
        ({}, "answered", None),
    ],
)
def test_a_response_contains_the_answer(answer: dict[str, Any], decision: str, reason: str | None) -> None:
    """The answer is approved, or rejected with its reason, even if nested one level deeper."""
    expected = Permission("webFetch", decision, reason, at_ms=5)
    assert events(init(), answered(answer, "webFetch", 5)) == [expected]


def test_the_subject_of_a_question_is_without_its_suffix() -> None:
    """`askQuestionInteractionQuery` asks about `askQuestion`."""
    line = event("interaction_query", "request", query_type="askQuestionInteractionQuery")
    assert events(init(), line) == [Permission("askQuestion", None, is_automatic=True)]


def test_what_happens_to_the_connection_is_a_notice() -> None:
    """A lost connection, a retry and a background task become notices."""
    cases: list[tuple[bytes, str]] = [
        (
            event("connection", "reconnecting", attempt=2, timestamp_ms=5),
            "connection reconnecting, attempt 2",
        ),
        (event("connection", "reconnected", timestamp_ms=5), "connection reconnected"),
        (event("retry", "starting", attempt="1", timestamp_ms=5), "retry starting, attempt 1"),
        (event("retry", "resuming", attempt=1, timestamp_ms=5), "retry resuming, attempt 1"),
        (
            event("system", "task_notification", title="Index", status="completed", timestamp_ms=5),
            "background task Index · completed",
        ),
        (event("system", "background_shell_timeout", timestamp_ms=5), "background shell timed out"),
    ]
    for line, notice in cases:
        with case(line):
            assert events(init(), line) == [Notice(notice, 5)]


def test_is_error_decides_and_the_subtype_only_without_it() -> None:
    """A translated subtype does not fail a run; the subtype decides only without is_error."""
    cases: list[tuple[dict[str, Any], Outcome]] = [
        ({"subtype": "success", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "succès", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "success", "is_error": True}, Outcome.FAILED),
        ({"subtype": "error_during_execution", "is_error": True}, Outcome.FAILED),
        ({"subtype": "success", "is_error": None}, Outcome.SUCCEEDED),
        ({"subtype": "error", "is_error": None}, Outcome.FAILED),
        ({"subtype": None, "is_error": None}, Outcome.FAILED),
    ]
    for fields, outcome in cases:
        with case(fields):
            [ended] = events(init(), result("x", **fields))
            assert isinstance(ended, TurnEnded)
            assert ended.outcome is outcome


def test_a_result_has_the_fields_of_its_line() -> None:
    """Text, request, durations and usage are those of the line; missing fields are None.

    The tokens are those of the usage, by the names that all agents share.
    """
    usage = {"inputTokens": 5, "cacheReadTokens": "7", "outputTokens": 3, "cacheWriteTokens": 9, "note": "x"}
    counts = Usage(Tokens(input=21, cached=7, output=3), UsageScope.TURN)
    whole = TurnEnded(Outcome.SUCCEEDED, "x", "s-1", "r-1", 5234, 5200, usage)
    assert events(init(), result("x", usage=usage)) == [whole, counts]
    bare = event("result", "success", session_id=None)
    assert events(init(), bare) == [TurnEnded(Outcome.SUCCEEDED)]


def test_an_unknown_type_or_subtype_is_kept_as_unknown() -> None:
    """An unknown type or subtype becomes an unknown event with its name."""
    cases: list[tuple[bytes, str]] = [
        (event("budget_notice", "update"), "type budget_notice/update"),
        (event("weather"), "type weather"),
        (event("thinking", "paused"), "type thinking/paused"),
        (event("tool_call", "progress"), "type tool_call/progress"),
        (event("system", "rebooted"), "type system/rebooted"),
        (event("interaction_query", "withdrawn"), "type interaction_query/withdrawn"),
        (b'{"subtype": "init"}', "type None/init"),
        (b"{}", "type None"),
    ]
    for line, what in cases:
        with case(line):
            assert events(init(), line) == [Unknown(what)]


def test_an_unknown_tool_is_a_call_and_unknown() -> None:
    """An unknown tool is a call like any other, with an unknown event besides."""
    first, second = events(init(), started("teleport", place="home"))
    assert isinstance(first, ToolStarted)
    assert second == Unknown("tool teleport")


@pytest.mark.parametrize("tool", ["askQuestion", "await", "createPlan", "getMcpTools"])
def test_a_tool_known_by_name_is_not_unknown(tool: str) -> None:
    """A tool seen in real recordings is known, even if only its name is."""
    assert len(events(init(), started(tool))) == 1


def test_unknown_fields_do_not_change_the_event() -> None:
    """Additional fields do not change the event."""
    extra = message("user", "Hi", locale="en", nested={"a": [1]})
    assert events(init(), extra) == [Prompt("Hi")]


def text_of(*lines: bytes) -> str:
    """Return the assistant's text."""
    return session(init(), *lines).text


def test_segments_are_joined_without_a_separator() -> None:
    """Without partial output each segment arrives once, and the text is their concatenation."""
    assert text_of(segment("One."), started("read"), completed("read"), final("Two.")) == "One.Two."


def test_a_flush_that_repeats_its_deltas_adds_nothing() -> None:
    """With partial output a segment's flush, before a tool call or at the end, adds no text."""
    first = (delta("On"), delta("e."), segment("One."))
    last = (delta("Tw"), delta("o."), final("Two."))
    assert text_of(*first, started("read"), completed("read"), *last, result("One.Two.")) == "One.Two."


def test_equal_deltas_are_all_kept() -> None:
    """A delta equal to an earlier one adds its text again."""
    pieces = ("**", "the", " the", " the", "**", "**")
    assert text_of(*map(delta, pieces), final("".join(pieces))) == "**the the the****"


@pytest.mark.parametrize("flush", [segment, final])
def test_a_segment_of_one_delta_is_flushed_too(flush: Any) -> None:
    """A flush that equals the only delta before it adds nothing."""
    assert text_of(delta("Yes."), flush("Yes.")) == "Yes."


def test_a_flush_that_repeats_its_segment_adds_nothing() -> None:
    """A repeated flush adds nothing."""
    assert text_of(delta("Yes"), delta("."), segment("Yes."), final("Yes."), result("Yes.")) == "Yes."


def test_deltas_after_a_flush_begin_a_new_segment() -> None:
    """A flush is compared with the text since the flush before it, not with all earlier text."""
    assert text_of(delta("a"), segment("a"), delta("a"), delta("b"), final("ab")) == "aab"


def test_equal_whole_segments_are_both_kept() -> None:
    """Two equal whole segments are two texts, because there were no deltas to repeat."""
    assert text_of(segment("Again."), final("Again.")) == "Again.Again."


def test_a_whole_segment_that_differs_from_the_deltas_is_new() -> None:
    """A line with the form of a flush that repeats nothing is the only copy of its text."""
    assert text_of(delta("ab"), final("abc")) == "ababc"


def test_a_segment_ends_where_something_else_begins() -> None:
    """After a tool call, a query, a result or an init, an equal text is a new segment, not a flush."""
    cases: list[tuple[str, bytes]] = [
        ("started", started("read")),
        ("completed", completed("read")),
        ("asked", asked()),
        ("answered", answered({"approved": {}})),
        ("result", result("x")),
        ("init", init()),
    ]
    for name, closer in cases:
        with case(name):
            assert text_of(delta("x"), closer, final("x")) == "xx"


def test_a_whole_segment_before_a_query_is_text() -> None:
    """A segment with the keys of a delta, before an interaction query, is text."""
    lines = (
        segment("I ask."),
        started("shell"),
        completed("shell"),
        delta("Then I search."),
        asked("webSearch"),
    )
    refused = answered({"rejected": {"reason": "no"}}, "webSearch")
    assert text_of(*lines, refused, final("No luck.")) == "I ask.Then I search.No luck."


def test_reasoning_is_not_text_and_ends_no_segment() -> None:
    """Reasoning is not part of the text, and a flush after it still repeats the deltas before it."""
    assert text_of(delta("a"), thought("hm"), thought_through(), delta("b"), segment("ab")) == "ab"


def test_a_message_in_several_parts_is_one_text() -> None:
    """All text parts of a message count; parts of other types do not."""
    parts = [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}]
    assert text_of(event("assistant", message={"role": "assistant", "content": parts})) == "ab"


HIGH, LOW, EMOJI, BAD = "\ud83d", "\ude00", "\U0001f600", "\ufffd"


def escaped(line: bytes) -> bytes:
    """Return a line with its surrogates escaped, as an agent writes them."""
    text = line.decode(errors="surrogatepass")
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text).encode()


def session_of(*lines: bytes) -> Session:
    """Return the session of lines whose surrogates are escaped."""
    return session(init(), *map(escaped, lines))


def thoughts(read: Session) -> list[str]:
    """Return the blocks of reasoning."""
    return [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]


def test_halves_of_an_emoji_in_two_deltas_are_one() -> None:
    """An emoji split over two deltas is joined, in the answer and in the reasoning."""
    read = session_of(
        thought(f"t{HIGH}"),
        thought(f"{LOW}!"),
        thought_through(),
        delta(f"a{HIGH}"),
        delta(f"{LOW}b{HIGH}"),
        delta(LOW),
        final(f"a{EMOJI}b{EMOJI}"),
        result(f"a{EMOJI}b{EMOJI}"),
    )
    assert (read.text, thoughts(read)) == (f"a{EMOJI}b{EMOJI}", [f"t{EMOJI}!"])
    assert read.run.text_matches_result
    assert read.lines == LineCounts(events=9, repaired=5)


def test_other_lines_between_the_halves_do_not_part_them() -> None:
    """A delta without text, a thought or a notice between the surrogates does not prevent joining."""
    read = session_of(
        delta(f"a{HIGH}"), delta(""), thought("hm"), event("connection", "reconnected"), delta(LOW)
    )
    assert read.text == f"a{EMOJI}"


def test_halves_in_answer_and_reasoning_are_not_joined() -> None:
    """A surrogate in a thought and one in the answer are not joined."""
    read = session_of(thought(f"t{HIGH}"), delta(f"{LOW}a"), thought("u"), thought_through())
    assert read.text == f"{BAD}a"
    assert "".join(thoughts(read)) == f"t{BAD}u"


def test_a_lone_half_at_the_end_of_a_segment_is_a_bad_character() -> None:
    """A surrogate without its other half in the segment is one U+FFFD in its place."""
    cases: list[tuple[str, bytes]] = [
        ("call", started("read")),
        ("end of a call", completed("read")),
        ("query", asked()),
        ("result", result("")),
        ("init", init()),
        ("flush", segment(f"a{BAD}") + started("read")),
        ("halved flush", segment(f"a{HIGH}") + started("read")),
        ("final flush", final(f"a{HIGH}") + result(f"a{HIGH}")),
        ("empty", delta("") + started("read")),
    ]
    for name, closer in cases:
        with case(name):
            read = session_of(delta(f"a{HIGH}"), closer, escaped(delta(f"{LOW}b")))
            assert read.text == f"a{BAD}{BAD}b"


def test_a_lone_half_in_the_middle_is_a_bad_character_at_once() -> None:
    """A surrogate followed by other text in its delta becomes U+FFFD at once."""
    read = session_of(delta(f"a{HIGH}b"), delta(f"{LOW}c"), delta(f"{HIGH}{HIGH}"), delta(LOW))
    assert read.text == f"a{BAD}b{BAD}c{BAD}{EMOJI}"


@pytest.mark.parametrize(
    "lines", [(delta(f"a{HIGH}"),), (delta(f"a{HIGH}"), final(f"a{HIGH}"))], ids=["killed", "flushed"]
)
def test_a_lone_half_at_the_end_of_the_stream_is_a_bad_character(lines: tuple[bytes, ...]) -> None:
    """A stream that ends after a lone surrogate shows it as U+FFFD; nothing is dropped."""
    assert session_of(*lines).text == f"a{BAD}"


def test_a_lone_half_at_the_end_of_a_thought_is_a_bad_character() -> None:
    """A lone surrogate at the end of a block of reasoning is U+FFFD, and not part of the next block."""
    read = session_of(thought(f"a{HIGH}"), thought_through(), thought(f"{LOW}b"), thought_through())
    assert thoughts(read) == [f"a{BAD}", f"{BAD}b"]


def test_a_flush_of_halves_is_recognised() -> None:
    """A flush with the whole emoji repeats deltas with its surrogates, and adds no text."""
    read = session_of(
        delta(HIGH), delta(LOW), segment(EMOJI), started("read"), delta(f"x{HIGH}"), final(f"x{HIGH}")
    )
    assert read.text.startswith(f"{EMOJI}x")
    assert read.text.count("x") == 1


def test_a_repair_is_an_event_besides_the_others() -> None:
    """A repaired line gives its own event and a Repair event."""
    assert events(init(), escaped(delta(f"a{HIGH}"))) == [Text(Channel.ANSWER, "a", 1000), Repair()]


def test_half_a_thought_does_not_reach_the_next_run() -> None:
    """A lone surrogate at the end of an unclosed block belongs to that block, not to the next."""
    half = thought("a?").replace(b"?", b"\\ud83d")
    read = session(half, init(), thought("b"))
    blocks = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert blocks == ["a\ufffd", "b"]


DONE = {"content": "Read it", "status": "TODO_STATUS_COMPLETED"}
NEXT = {"content": "Mend it", "status": "TODO_STATUS_PENDING"}
DONE_ENTRY = PlanEntry("Read it", PlanStatus.COMPLETED)
NEXT_ENTRY = PlanEntry("Mend it", PlanStatus.PENDING)


def ended(result: Any, *before: bytes, call_id: str = "c-1", **args: Any) -> Event | None:
    """Return the plan of a completed call; None without one."""
    found = events(init(), *before, completed("updateTodos", call_id, result, **args))
    return next((event for event in found if isinstance(event, Plan)), None)


def test_the_list_of_the_result_replaces_the_plan() -> None:
    """A result with entries is the whole list, whatever the arguments say."""
    before = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {"todos": [DONE, NEXT]}}, before) == Plan((DONE_ENTRY, NEXT_ENTRY))


def test_without_a_list_in_the_result_the_arguments_count() -> None:
    """The arguments replace the plan, or update it if they say so; the start line may be their only place."""
    assert ended({"success": {}}, started("updateTodos", todos=[DONE])) == Plan((DONE_ENTRY,))
    merged = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {}}, merged) == Plan((NEXT_ENTRY,), is_update=True)
    assert ended({"success": {}}, todos=[NEXT]) == Plan((NEXT_ENTRY,))


def test_a_call_without_arguments_or_success_has_no_plan() -> None:
    """A call that failed, or of which nothing is known, leaves the plan as it is."""
    assert ended({"error": {"error": "no"}}, started("updateTodos", todos=[DONE])) is None
    assert ended({"success": {}}) is None
    assert ended({"success": {}}, started("updateTodos")) is None


def test_the_arguments_of_64_open_calls_are_kept() -> None:
    """Of more calls that were started and not completed, the oldest are forgotten."""
    before = [started("updateTodos", f"c-{number}", todos=[DONE]) for number in range(65)]
    assert ended({"success": {}}, *before, call_id="c-0") is None
    assert ended({"success": {}}, *before, call_id="c-1") == Plan((DONE_ENTRY,))


def test_an_update_is_merged_by_text() -> None:
    """An update changes the status of entries with the same text, and adds the others at the end."""

    def plan(*lines: bytes) -> tuple[PlanEntry, ...]:
        read: Session = session(init(), *lines)
        return read.plan

    first = completed("updateTodos", "c-1", {"success": {"todos": [NEXT]}})
    update = started("updateTodos", "c-2", todos=[NEXT | {"status": "completed"}, DONE], merge=True)
    end = completed("updateTodos", "c-2", {"success": {}})
    assert plan(first) == (NEXT_ENTRY,)
    assert plan(first, update, end) == (NEXT_ENTRY._replace(status=PlanStatus.COMPLETED), DONE_ENTRY)


NO = {"rejected": {"reason": "User Rejected"}}
QUERY = (asked("webSearch", searchTerm="tides", toolCallId="c-1"), answered(NO, "webSearch"))
START, END = started("webSearch"), completed("webSearch", result=NO)


@pytest.mark.parametrize(
    "lines",
    [
        (*QUERY, END),
        (*QUERY, START, END),
        (START, *QUERY, END),
        (*QUERY, started("webSearch", toolCallId="c-1"), END),
    ],
    ids=["without a start", "before the start", "after the start", "arguments without the term"],
)
def test_the_term_of_a_rejected_search_is_in_its_query(lines: tuple[bytes, ...]) -> None:
    """A web search whose lines never contain its term has the term of the query with its id."""
    found = call(*lines)
    assert action(found) == "Searched the web tides (rejected)"
    assert found.error == "User Rejected"


def test_a_call_that_runs_has_the_term_of_its_query() -> None:
    """A search that has started and not ended has the term of the query before it."""
    [found] = session(init(), *QUERY, START, is_over=False).calls
    assert found.target == "tides"


def test_an_id_may_be_beside_the_arguments() -> None:
    """The id of a call may be beside the query, as a question has it, or beside the arguments."""
    name = "askQuestionInteractionQuery"
    query = {"id": 0, name: {"args": {"title": "Which?", "questions": []}}, "toolCallId": "c-1"}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("askQuestion", result=NO)).target == "askQuestion Which?"
    name = "webFetchRequestQuery"
    query = {"id": 0, name: {"args": {"url": "https://example.com"}, "toolCallId": "c-1"}}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("webFetch", result=NO)).target == "https://example.com"


def test_only_the_query_of_a_call_describes_it() -> None:
    """A query with another id, of another tool or of an earlier run does not describe a call."""
    cases: list[tuple[str, bytes]] = [
        ("another call", asked("webSearch", searchTerm="tides", toolCallId="c-2")),
        ("no id", asked("webSearch", searchTerm="tides")),
        ("no term", asked("webSearch", toolCallId="c-1")),
        ("another tool", asked("webFetch", url="tides", toolCallId="c-1")),
        ("an earlier run", asked("webSearch", searchTerm="tides", toolCallId="c-1") + init()),
    ]
    for name, query in cases:
        with case(name):
            [found] = session(init(), query, END).calls
            assert found.target is None


def test_the_own_arguments_of_a_call_count() -> None:
    """A call whose lines contain its arguments has its target from them."""
    assert call(*QUERY, started("webSearch", searchTerm="moons"), END).target == "moons"
    assert call(*QUERY, START, completed("webSearch", result=NO, searchTerm="moons")).target == "moons"


def test_a_query_describes_one_call() -> None:
    """A query is forgotten when its call completes: a later call may have the same id."""
    queries = Queries()
    query = {"webSearchRequestQuery": {"args": {"searchTerm": "x" * 20_000, "toolCallId": "c"}}}
    queries.request({"query_type": "webSearchRequestQuery", "query": query})
    assert queries.target("c", "webSearch") == "x" * 10_000
    queries.forget("c")
    assert queries.target("c", "webSearch") is None


@pytest.mark.parametrize(("length", "kept"), [(1000, True), (1001, False)])
def test_a_query_with_a_huge_id_is_not_kept(length: int, kept: bool) -> None:
    """The query of a call whose id has more than 1,000 characters is not kept."""
    query = asked("webSearch", searchTerm="tides", toolCallId="c" * length)
    found = call(query, completed("webSearch", "c" * length, NO))
    assert found.target == ("tides" if kept else None)


def test_a_term_may_be_the_name_of_the_tool() -> None:
    """A search for the word `webSearch` has that term, from its query or from its own arguments."""
    query = asked("webSearch", searchTerm="webSearch", toolCallId="c-1")
    assert call(query, END).target == "webSearch"
    assert call(completed("grep", result=NO, pattern="grep")).target == "grep"


def test_at_most_64_queries_are_kept() -> None:
    """Of 100 queries without a completed call the last 64 are kept."""
    queries = Queries()
    for number in range(100):
        args = {"searchTerm": f"term {number}", "toolCallId": f"c-{number}"}
        query = {"webSearchRequestQuery": {"args": args}}
        queries.request({"query_type": "webSearchRequestQuery", "query": query})
    kept = [number for number in range(100) if queries.target(f"c-{number}", "webSearch")]
    assert kept == list(range(36, 100))
