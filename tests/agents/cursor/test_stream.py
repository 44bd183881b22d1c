"""Cursor's stream: runs, texts, halves of emoji, plans and queries."""

from typing import Any

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


def test_each_line_has_its_event() -> None:
    """Inits, prompts, requests and incidents have events of their own."""
    # The init has session, model, cwd, permission mode and key source; a message without text is unknown.
    expected = RunStarted("cursor", "s-1", "Auto", "/home/ada/app", "default", "login")
    assert events(init()) == [expected]
    assert events(init(), user("Do it.")) == [Prompt("Do it.")]
    assert events(init(), event("user", message={"content": "Do it."})) == [Prompt("Do it.")]
    for role in ["user", "assistant"]:
        with case(role):
            for content in ([], [{"type": "image"}], None, 7):
                [found] = events(init(), event(role, message={"content": content}))
                assert isinstance(found, Unknown)
    # The answer is approved, or rejected with its reason, even if nested one level deeper.
    assert events(init(), asked("webFetch", 5)) == [Permission("webFetch", None, at_ms=5, is_automatic=True)]
    answers: list[tuple[dict[str, Any], str, str | None]] = [
        ({"approved": {}}, "approved", None),
        ({"rejected": {"reason": "no"}}, "rejected", "no"),
        ({"result": {"rejected": {"reason": "no"}}}, "rejected", "no"),
        ({}, "answered", None),
    ]
    for answer, decision, reason in answers:
        with case((answer, decision, reason)):
            other_expected = Permission("webFetch", decision, reason, at_ms=5)
            assert events(init(), answered(answer, "webFetch", 5)) == [other_expected]
    line = event("interaction_query", "request", query_type="askQuestionInteractionQuery")
    assert events(init(), line) == [Permission("askQuestion", None, is_automatic=True)]
    # A lost connection, a retry and a background task become notices.
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


def test_a_result_has_the_fields_of_its_line() -> None:
    """What its line has is known, and what is unknown is kept as unknown."""
    # `is_error` decides, and the subtype only without it; missing fields are None.
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
    usage = {"inputTokens": 5, "cacheReadTokens": "7", "outputTokens": 3, "cacheWriteTokens": 9, "note": "x"}
    counts = Usage(Tokens(input=21, cached=7, output=3, written=9), UsageScope.TURN)
    whole = TurnEnded(Outcome.SUCCEEDED, "x", "s-1", "r-1", 5234, 5200, usage)
    assert events(init(), result("x", usage=usage)) == [whole, counts]
    bare = event("result", "success", session_id=None)
    assert events(init(), bare) == [TurnEnded(Outcome.SUCCEEDED)]
    # A type or subtype has its name; an unknown tool is a call as well; additional fields change nothing.
    further: list[tuple[bytes, str]] = [
        (event("budget_notice", "update"), "type budget_notice/update"),
        (event("weather"), "type weather"),
        (event("thinking", "paused"), "type thinking/paused"),
        (event("tool_call", "progress"), "type tool_call/progress"),
        (event("system", "rebooted"), "type system/rebooted"),
        (event("interaction_query", "withdrawn"), "type interaction_query/withdrawn"),
        (b'{"subtype": "init"}', "type None/init"),
        (b"{}", "type None"),
    ]
    for line, what in further:
        with case(line):
            assert events(init(), line) == [Unknown(what)]
    first, second = events(init(), started("teleport", place="home"))
    assert isinstance(first, ToolStarted)
    assert second == Unknown("tool teleport")
    for tool in ["askQuestion", "await", "createPlan", "getMcpTools"]:
        with case(tool):
            assert len(events(init(), started(tool))) == 1
    extra = message("user", "Hi", locale="en", nested={"a": [1]})
    assert events(init(), extra) == [Prompt("Hi")]


def text_of(*lines: bytes) -> str:
    """Return the assistant's text."""
    return session(init(), *lines).text


def test_a_flush_adds_nothing() -> None:
    """Until something else begins, a flush repeats the deltas before it."""
    # Segments are joined. Equal deltas are kept, also equal segments without deltas; a flush is compared
    # with the text since the flush before it, and one that repeats nothing is new.
    assert text_of(segment("One."), started("read"), completed("read"), final("Two.")) == "One.Two."
    first = (delta("On"), delta("e."), segment("One."))
    last = (delta("Tw"), delta("o."), final("Two."))
    assert text_of(*first, started("read"), completed("read"), *last, result("One.Two.")) == "One.Two."
    pieces = ("**", "the", " the", " the", "**", "**")
    assert text_of(*map(delta, pieces), final("".join(pieces))) == "**the the the****"
    for flush in [segment, final]:
        with case(flush):
            assert text_of(delta("Yes."), flush("Yes.")) == "Yes."
    assert text_of(delta("Yes"), delta("."), segment("Yes."), final("Yes."), result("Yes.")) == "Yes."
    assert text_of(delta("a"), segment("a"), delta("a"), delta("b"), final("ab")) == "aab"
    assert text_of(segment("Again."), final("Again.")) == "Again.Again."
    assert text_of(delta("ab"), final("abc")) == "ababc"
    assert text_of(delta("a"), thought("hm"), thought_through(), delta("b"), segment("ab")) == "ab"
    parts = [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}]
    assert text_of(event("assistant", message={"role": "assistant", "content": parts})) == "ab"
    # After a tool call, a query, a result or an init, an equal text is a new segment, not a flush.
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
    lines = (
        segment("I ask."),
        started("shell"),
        completed("shell"),
        delta("Then I search."),
        asked("webSearch"),
    )
    refused = answered({"rejected": {"reason": "no"}}, "webSearch")
    assert text_of(*lines, refused, final("No luck.")) == "I ask.Then I search.No luck."


HIGH, LOW, EMOJI, BAD = "\ud83d", "\ude00", "\U0001f600", "\ufffd"


def escaped(line: bytes) -> bytes:
    """Return a line with its surrogates escaped, as an agent writes them."""
    text = line.decode(errors="surrogatepass")
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text).encode()


def session_of(*lines: bytes) -> Session:
    """Return the session of lines whose surrogates are escaped."""
    return session(init(), *map(escaped, lines))


def thoughts(read: Session) -> list[str]:
    return [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]


def test_halves_of_an_emoji_are_joined_or_bad() -> None:
    """Two halves are one character, and a lone half is a bad one."""
    # In the answer and in the reasoning, also with other lines in between; a flush with the whole emoji
    # adds no text.
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
    read = session_of(
        delta(f"a{HIGH}"), delta(""), thought("hm"), event("connection", "reconnected"), delta(LOW)
    )
    assert read.text == f"a{EMOJI}"
    read = session_of(
        delta(HIGH), delta(LOW), segment(EMOJI), started("read"), delta(f"x{HIGH}"), final(f"x{HIGH}")
    )
    assert read.text.startswith(f"{EMOJI}x")
    assert read.text.count("x") == 1
    # At the end of a segment, of the stream, of a thought or of a run, before other text, or if its other
    # half is in another channel, it is one U+FFFD. The repair is an event.
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
    read = session_of(delta(f"a{HIGH}b"), delta(f"{LOW}c"), delta(f"{HIGH}{HIGH}"), delta(LOW))
    assert read.text == f"a{BAD}b{BAD}c{BAD}{EMOJI}"
    for lines in [(delta(f"a{HIGH}"),), (delta(f"a{HIGH}"), final(f"a{HIGH}"))]:
        with case(lines):
            assert session_of(*lines).text == f"a{BAD}"
    read = session_of(thought(f"a{HIGH}"), thought_through(), thought(f"{LOW}b"), thought_through())
    assert thoughts(read) == [f"a{BAD}", f"{BAD}b"]
    read = session_of(thought(f"t{HIGH}"), delta(f"{LOW}a"), thought("u"), thought_through())
    assert read.text == f"{BAD}a"
    assert "".join(thoughts(read)) == f"t{BAD}u"
    assert events(init(), escaped(delta(f"a{HIGH}"))) == [Text(Channel.ANSWER, "a", 1000), Repair()]
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


def test_a_list_is_the_plan() -> None:
    """The result replaces it, and an update is merged by text."""
    # Without a list in the result the arguments replace or update the plan, those of the last 64 open
    # calls; a call that failed leaves it.
    before = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {"todos": [DONE, NEXT]}}, before) == Plan((DONE_ENTRY, NEXT_ENTRY))
    assert ended({"success": {}}, started("updateTodos", todos=[DONE])) == Plan((DONE_ENTRY,))
    merged = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {}}, merged) == Plan((NEXT_ENTRY,), is_update=True)
    assert ended({"success": {}}, todos=[NEXT]) == Plan((NEXT_ENTRY,))
    assert ended({"error": {"error": "no"}}, started("updateTodos", todos=[DONE])) is None
    assert ended({"success": {}}) is None
    assert ended({"success": {}}, started("updateTodos")) is None
    other_before = [started("updateTodos", f"c-{number}", todos=[DONE]) for number in range(65)]
    assert ended({"success": {}}, *other_before, call_id="c-0") is None
    assert ended({"success": {}}, *other_before, call_id="c-1") == Plan((DONE_ENTRY,))

    # An update changes the status of entries with the same text, and adds the others at the end.
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


def test_a_query_describes_one_call() -> None:
    """The query with the id of a call has its term and its description."""
    # A search whose lines never contain its term has that of the query with its id; its own arguments
    # count first.
    for lines in [
        (*QUERY, END),
        (*QUERY, START, END),
        (START, *QUERY, END),
        (*QUERY, started("webSearch", toolCallId="c-1"), END),
    ]:
        with case(lines):
            found = call(*lines)
            assert action(found) == "Searched the web tides (rejected)"
            assert found.error == "User Rejected"
    [found] = session(init(), *QUERY, START, is_over=False).calls
    assert found.target == "tides"
    name = "askQuestionInteractionQuery"
    query = {"id": 0, name: {"args": {"title": "Which?", "questions": []}}, "toolCallId": "c-1"}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("askQuestion", result=NO)).target == "askQuestion Which?"
    name = "webFetchRequestQuery"
    query = {"id": 0, name: {"args": {"url": "https://example.com"}, "toolCallId": "c-1"}}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("webFetch", result=NO)).target == "https://example.com"
    assert call(*QUERY, started("webSearch", searchTerm="moons"), END).target == "moons"
    assert call(*QUERY, START, completed("webSearch", result=NO, searchTerm="moons")).target == "moons"
    other_query = asked("webSearch", searchTerm="webSearch", toolCallId="c-1")
    assert call(other_query, END).target == "webSearch"
    assert call(completed("grep", result=NO, pattern="grep")).target == "grep"
    # A query with another id, of another tool or an earlier run describes none; it is forgotten when its
    # call completes. The last 64 are kept, none with a huge id.
    cases: list[tuple[str, bytes]] = [
        ("another call", asked("webSearch", searchTerm="tides", toolCallId="c-2")),
        ("no id", asked("webSearch", searchTerm="tides")),
        ("no term", asked("webSearch", toolCallId="c-1")),
        ("another tool", asked("webFetch", url="tides", toolCallId="c-1")),
        ("an earlier run", asked("webSearch", searchTerm="tides", toolCallId="c-1") + init()),
    ]
    for other_name, further_query in cases:
        with case(other_name):
            [found] = session(init(), further_query, END).calls
            assert found.target is None
    queries = Queries()
    later_query = {"webSearchRequestQuery": {"args": {"searchTerm": "x" * 20_000, "toolCallId": "c"}}}
    queries.request({"query_type": "webSearchRequestQuery", "query": later_query})
    assert queries.target("c", "webSearch") == "x" * 10_000
    queries.asked.pop("c")
    assert queries.target("c", "webSearch") is None
    for length, kept in [(1000, True), (1001, False)]:
        with case((length, kept)):
            tides = asked("webSearch", searchTerm="tides", toolCallId="c" * length)
            found = call(tides, completed("webSearch", "c" * length, NO))
            assert found.target == ("tides" if kept else None)
    queries = Queries()
    for number in range(100):
        args = {"searchTerm": f"term {number}", "toolCallId": f"c-{number}"}
        search_query = {"webSearchRequestQuery": {"args": args}}
        queries.request({"query_type": "webSearchRequestQuery", "query": search_query})
    other_kept = [number for number in range(100) if queries.target(f"c-{number}", "webSearch")]
    assert other_kept == list(range(36, 100))
