"""A call: its duration, its shown action and tool."""

from agentwatch.agents.tool import Phrase
from agentwatch.session.actions import TOOL_COLUMNS, action, began_ms, shown_action, shown_tool
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.safe import columns
from tests.builders.lines import DONE, call, completed, delta, event, init, result, session, started, user
from tests.conftest import case


def test_start_and_end_are_joined_on_the_call_id() -> None:
    """Two lines with the same id are one call, whatever the id contains and however long it is; in the next
    run, or another session, it is another call. Ended calls are in the order of their ends; an end without
    a start is an orphan, once.
    """
    for call_id in ["toolu_1", "call_1\nfc_2", "Read_1", "[/x]\x1b[0m", ""]:
        with case(call_id):
            found = call(started("read", call_id, path="a"), completed("read", call_id, DONE))
            assert (found.call_id, found.outcome) == (call_id, Outcome.SUCCEEDED)
            assert found.started is not None
            assert found.ended is not None
    read = session(init(), started("read", "a\nb"), started("read", "a\nc"), completed("read", "a\nc", DONE))
    assert [found.outcome for found in read.calls] == [Outcome.UNFINISHED, Outcome.SUCCEEDED]
    once = (started("read", "Read_1", path="a"), completed("read", "Read_1", DONE), result())
    again = (started("shell", "Read_1", command="b"), completed("shell", "Read_1", {"error": {}}), result())
    read = session(init(), *once, init(), *again)
    seen = [(seen.run, seen.tool, seen.outcome) for seen in read.calls]
    assert seen == [(1, "read", Outcome.SUCCEEDED), (2, "shell", Outcome.FAILED)]
    other = started("grep", "c-1").replace(b'"s-1"', b'"s-2"')
    read = session(init(), started("read", "c-1"), other, completed("read", "c-1", DONE))
    assert [(seen.tool, seen.outcome) for seen in read.calls] == [
        ("read", Outcome.SUCCEEDED),
        ("grep", Outcome.UNFINISHED),
    ]
    long = "x" * 5_000
    other = started("read", "a").replace(b'"s-1"', b'"s-%b"' % long.encode())
    read = session(init(), started("read", f"{long}1"), started("read", f"{long}2"), other)
    ends = session(init(), started("read", f"{long}1"), completed("read", f"{long}1", DONE))
    assert len(read.calls) == 3
    assert [seen.outcome for seen in ends.calls] == [Outcome.SUCCEEDED]
    # Interleaved calls each get their own end.
    lines = [started("read", name, path=name) for name in "abc"]
    lines += [
        completed("read", "b", DONE),
        completed("read", "c", {"error": {}}),
        completed("read", "a", {"rejected": {}}),
    ]
    read = session(init(), *lines)
    assert [(found.target, found.outcome) for found in read.calls] == [
        ("a", Outcome.REJECTED),
        ("b", Outcome.SUCCEEDED),
        ("c", Outcome.FAILED),
    ]
    assert [found.target for found in read.ended_calls] == ["b", "c", "a"]
    assert read.ended_by_outcome[Outcome.FAILED] == 1
    # An end without a start is a call.
    read = session(init(), completed("webSearch", "w", {"rejected": {"reason": "no"}}, 9, searchTerm="x"))
    [found] = read.calls
    assert (found.outcome, found.target, found.started, found.started_ms) == (
        Outcome.REJECTED,
        "x",
        None,
        None,
    )
    assert (found.ended_ms, found.duration_ms) == (9, None)
    assert (read.completed_without_started, read.never_completed) == (1, 0)
    read = session(init(), completed("grep", result=DONE), completed("grep", result=DONE))
    assert (len(read.calls), len(read.ended_calls), read.completed_without_started) == (1, 1, 1)
    begun = (started("shell", at_ms=1000), started("shell", at_ms=2000))
    over = (completed("shell", result=DONE, at_ms=3000), completed("shell", result={"error": {}}, at_ms=4000))
    read = session(init(), *begun, *over)
    [found] = read.calls
    assert (found.outcome, found.started_ms, found.ended_ms) == (Outcome.SUCCEEDED, 1000, 3000)
    assert (list(read.ended_calls), read.ended_by_outcome[Outcome.FAILED]) == ([found], 0)
    assert (read.completed_without_started, read.never_completed) == (0, 0)
    assert read.lines.events == 5


TURN = (init(), user(), started("shell", at_ms=1000), completed("shell", at_ms=2500))


def test_calls_and_durations() -> None:
    """The result, the next run and the end of the stream leave a call unfinished; an end after the result
    still counts. A duration is a difference of two agent times in order; `startedAtMs` is another clock.
    The repr has the number, the tool, the target, the outcome and the duration, safe to print. A call knows
    the places of its lines. The duration of a session is that of the only result, or from the first line to
    the last.
    """
    read = session(init(), started("shell"), is_over=False)
    assert [found.outcome for found in read.calls] == [Outcome.RUNNING]
    assert list(read.open_calls.values()) == list(read.calls)
    assert (len(read.ended_calls), read.never_completed) == (0, 0)
    for closer in [b"", result(), init()]:
        with case(closer):
            read = session(init(), started("shell"), closer)
            [found] = read.calls
            assert (found.outcome, found.ended, found.ended_ms, found.duration_ms) == (
                Outcome.UNFINISHED,
                None,
                None,
                None,
            )
            assert (read.never_completed, read.open_calls, list(read.ended_calls)) == (1, {}, [found])
    read = session(init(), started("shell"), result(), is_over=False)
    assert [found.outcome for found in read.calls] == [Outcome.UNFINISHED]
    read = session(init(), started("shell"), result(), completed("shell", result=DONE))
    assert [found.outcome for found in read.ended_calls] == [Outcome.SUCCEEDED]
    assert (read.never_completed, read.completed_without_started) == (0, 0)
    # A duration needs both ends of one clock.
    cases: list[tuple[int | None, int | None, int | None]] = [
        (1000, 1706, 706),
        (1000, 1000, 0),
        (None, 1706, None),
        (1000, None, None),
        (1706, 1000, None),
    ]
    for start, end, duration in cases:
        with case((start, end)):
            found = call(started("read", at_ms=start), completed("read", result=DONE, at_ms=end))
            assert found.duration_ms == duration
    body = {"readToolCall": {"args": {}, "result": DONE}, "startedAtMs": "1", "completedAtMs": "9"}
    ended = event("tool_call", "completed", call_id="c-1", tool_call=body, timestamp_ms=1500)
    found = call(started("read"), ended)
    assert (found.started_ms, found.ended_ms, found.duration_ms) == (None, 1500, None)
    # A call and its session describe themselves in one line.
    other_read = session(
        init(),
        started("read", "a", 1000, path="a.py"),
        completed("read", "a", DONE, 1500),
        completed("shell", "b", {"failure": {"exitCode": 1}}, command="\x1b[31m" + "x" * 100),
        started("odd", "c"),
        started("shell", "d"),
        result(),
    )
    assert [repr(other_found) for other_found in other_read.calls] == [
        "<Call #1 read 'a.py': succeeded, 0.5 s>",
        f"<Call #2 shell '\\x1b[31m{'x' * 55}'…: failed ('exit 1')>",
        "<Call #3 odd 'odd': unfinished>",
        "<Call #4 shell: unfinished>",
    ]
    assert repr(other_read) == "<Session of cursor: succeeded, 4 calls, 1 failed>"
    assert repr(session()) == "<Session of an unknown agent: unfinished, 0 calls>"
    lines = (init(), user("日本"), started("read"), completed("read", result=DONE))
    data = b"".join(lines)
    [other_found] = session(data).calls
    for place, line in ((other_found.started, lines[2]), (other_found.ended, lines[3])):
        assert place is not None
        assert data[place.offset : place.offset + place.length] == line.rstrip(b"\n")
    other_ended = call(started("read", "c-1"), completed("read", "c-1", DONE))
    assert other_ended.result_place == other_ended.ended
    other_ended.has_result = False
    assert other_ended.ended is not None
    assert other_ended.result_place is None
    # The duration of a session.
    assert session(*TURN, result(), seen_ms=1000).duration_ms == 5234
    for timed, seen_ms, expected in (
        ((*TURN, result(), *TURN, result()), None, 1500),
        ((init(), user(), delta("a", 2000), delta("b", 5000)), None, 3000),
        ((init(), user()), None, None),
        (TURN, 7000, None),  # all timed came at once
    ):
        with case(expected):
            assert session(*timed, seen_ms=seen_ms).duration_ms == expected


WAITS = "waits for your permission"


def made(phrase: str, target: str | None, kind: ToolKind, outcome: Outcome = Outcome.RUNNING) -> Call:
    return Call(1, 1, "c", "tool", phrase, target, kind=kind, outcome=outcome)


def test_an_open_call_is_in_the_present_tense() -> None:
    """Every phrase of the text format has a present tense; an ended call has another sign of the removed
    lines. A long name is its last word.
    """
    cases = [
        ("Ran terminal command", "make", ToolKind.EXECUTE, "Running make", "Wants to run make"),
        (
            "Ran terminal command",
            None,
            ToolKind.EXECUTE,
            "Running terminal command",
            "Wants to run terminal command",
        ),
        ("Ran subagent", "Look", ToolKind.DELEGATE, "Running subagent Look", "Wants to run subagent Look"),
        ("Created new file", "a", ToolKind.EDIT, "Creating new file a", "Wants to create new file a"),
        ("Searched the web", "x", ToolKind.SEARCH, "Searching the web x", "Wants to search the web x"),
        ("Moved file", "a", ToolKind.MOVE, "Moved file a (running)", "Moved file a"),
    ]
    for phrase, target, kind, runs, wants in cases:
        call = made(phrase, target, kind)
        with case((phrase, target)):
            assert shown_action(call) == runs
            assert shown_action(call, WAITS) == f"{wants} ({WAITS})"
            assert action(call) == " ".join(filter(None, (phrase, target, "(running)")))
    for name, phrase in vars(Phrase).items():
        if name.isupper():
            with case(phrase):
                assert shown_action(made(phrase, None, ToolKind.OTHER)).split()[0].endswith("ing")
    call = made("Edited file", "src/a-b.py", ToolKind.EDIT, Outcome.SUCCEEDED)
    assert shown_action(call) == action(call) == "Edited file src/a-b.py"
    call.lines_added, call.lines_removed = 3, 1
    assert action(call) == "Edited file src/a-b.py (+3 -1)"
    assert shown_action(call) == "Edited file src/a-b.py (+3 −1)"
    call.note = "lines 3-5 of 9"
    assert shown_action(call) == action(call) == "Edited file src/a-b.py (lines 3-5 of 9)"
    failed = made("Ran terminal command", "make", ToolKind.EXECUTE, Outcome.FAILED)
    assert shown_action(failed) == action(failed) == "Ran terminal command make (failed)"
    for tool, name in NAMES:
        with case(name):
            assert shown_tool(tool) == name
            assert columns(shown_tool(tool)) <= TOOL_COLUMNS


NAMES: list[tuple[str, str]] = [
    *(("updateTodos", "todos"), ("webFetch", "fetch"), ("readLints", "lints"), ("read", "read")),
    *(("run_terminal_command", "command"), ("exec", "exec"), ("computerUse", "computerUse")),
    *(("Bash", "Bash"), ("teleport", "teleport"), ("x" * 90, "x" * 11 + "…"), ("a\x1bb", "a␛b")),
    *(("delete; run_shell", "delete; run…"), ("rm\x1b]0;read", "rm␛]0;read"), ("日本語" * 9, "日本語日本…")),
    ("mcp.github-createIssue", "issue"),
    *(("read_file", "read"), ("todo_write", "todo"), ("command_execution", "command")),
    *(("webSearch", "webSearch"), ("semSearch", "semSearch"), ("NotebookEdit", "NotebookEdit")),
]


def test_a_call_began_at_the_time_of_its_agent() -> None:
    """Without one it is the arrival of its line, or else when it ended; None if nothing is known."""
    known = Call(1, 1, "c", "Bash", "Ran")
    assert began_ms(known) is None
    known.ended_ms = 3000
    assert began_ms(known) == 3000
    known.started = Place(0, 1, 2000)
    assert began_ms(known) == 2000
    known.started_ms = 1000
    assert began_ms(known) == 1000
