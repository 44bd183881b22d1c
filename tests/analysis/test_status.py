"""The status of a session, in full and in few columns, and what it waits for."""

from agentwatch.analysis.silence import is_quiet, is_stalled
from agentwatch.analysis.status import NO_WAITS, Wait, ending, status, user_wait, waiting_calls
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Limits,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunStarted,
    Text,
    TurnEnded,
)
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from agentwatch.text.safe import columns
from agentwatch.text.times import coming
from tests.builders.lines import (
    completed,
    delta,
    event,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.sentences import BUSY, IDLE, NOW, of_step, sentence
from tests.builders.subagents import begins, ends
from tests.conftest import case

FAILED = completed("shell", "x", {"failure": {"exitCode": 1}})


def test_before_the_first_event() -> None:
    """The status waits for the first event; a started agent is quiet after 60 s. A pipe without a line for
    20 s, and plain text, may lack the flag. Without an open call the model thinks, writes or is waited for;
    without a history, 60 s are quiet.
    """
    assert sentence() == "waiting for the first event"
    assert sentence(after_ms=None) == "waiting for the first event"
    assert sentence(after_ms=8_000, agent=BUSY) == "waiting for the first event · its processes use CPU"
    assert sentence(after_ms=62_000, agent=BUSY) == "quiet for 1:02, no event yet · its processes use CPU"
    assert sentence(after_ms=99_000) == "waiting for the first event"
    facts = AgentFacts(started_ms=NOW, silence="X prints at its end")
    silent = Session()
    hint = "X prints at its end"
    for after_ms, words in [(19_000, ""), (25_000, f" · 0:25 · {hint}"), (500_000, f" · 8:20 · {hint}")]:
        with case(after_ms):
            assert status(silent, NOW + after_ms, facts) == f"waiting for the first event{words}"
    assert sentence(init(), after_ms=25_000, agent=facts) == "waiting for the model · 0:25"
    asked = "waiting for the first event · only text so far: is --output-format stream-json missing?"
    assert sentence(b"I will fix it.\n") == asked
    assert sentence(b"A notice\n", init()) == "waiting for the model"
    # The status without an open call.
    cases: list[tuple[tuple[bytes, ...], str, str]] = [
        ((user(),), "waiting for the model", ""),
        ((thought("hm"), thought_through()), "waiting for the model", ""),
        ((delta("I"), started("read"), completed("read")), "waiting for the model", ""),
        ((result(), init()), "waiting for the model", ""),
        ((thought("hm"),), "thinking", " · while thinking"),
        ((delta("I"),), "writing", " · while writing"),
    ]
    for lines, words, in_the_middle in cases:
        with case((lines, words)):
            for late_ms in (0, 4_999, None):
                assert sentence(init(), *lines, after_ms=late_ms) == words
            lead = "quiet for " if words == "writing" else ""
            assert sentence(init(), *lines, after_ms=59_999) == f"{words} · {lead}0:59"
            quiet = f"quiet for 1:00, no open call{in_the_middle}"
            assert sentence(init(), *lines, after_ms=60_000) == quiet
            assert sentence(init(), *lines, after_ms=119_999) == quiet.replace("1:00", "1:59")
            assert sentence(init(), *lines, after_ms=120_000) == f"stalled? {quiet.replace('1:00', '2:00')}"


def test_a_result_is_the_last_word() -> None:
    """After the result the status is its outcome, however much time passes, before and after the end. A
    process that still lives 30 s after the result is reported, because agents may hang then. It neither
    succeeded nor failed: the exit code and the last line of stderr, or the last line that is no JSON,
    explain why. A code that contradicts the result is shown with it.
    """
    cases: list[tuple[tuple[bytes, ...], str]] = [
        ((result(),), "succeeded in 5.2 s"),
        ((result(duration_ms=None),), "succeeded"),
        ((result(duration_ms=59_949),), "succeeded in 59.9 s"),
        ((result(duration_ms=59_950),), "succeeded in 1:00"),
        ((result(duration_ms=3_733_000),), "succeeded in 1:02:13"),
        ((FAILED, result()), "succeeded in 5.2 s · 1 call, 1 failed"),
        ((FAILED, completed("read", "y", {"error": {}}), result()), "succeeded in 5.2 s · 2 calls, 2 failed"),
        ((completed("shell", "x", {"rejected": {}}), result()), "succeeded in 5.2 s · 1 call, 1 rejected"),
        ((FAILED, result("No", is_error=True)), "failed: No · 1 call, 1 failed"),
        ((result("No\nmore", is_error=True),), "failed: No"),
        ((result("\n a\x1b[2J \nb", is_error=True),), "failed: a␛[2J "),
        ((result(None, is_error=True),), "failed: no reason given"),
        ((result(" \n", is_error=True),), "failed: no reason given"),
    ]
    for lines, words in cases:
        with case(lines):
            for is_over in (False, True):
                assert sentence(init(), *lines, after_ms=99_000, is_over=is_over) == words
                read = session(init(), *lines, seen_ms=NOW, is_over=is_over)
                assert not is_quiet(read, NOW + 9_000_000)
    # A process that outlives its result is shown.
    lines = (init(), result())
    assert sentence(*lines, after_ms=29_999, agent=IDLE) == "succeeded in 5.2 s"
    words = "result came 0:30 ago, process 4121 still alive · succeeded in 5.2 s"
    assert sentence(*lines, after_ms=30_000, agent=IDLE) == words
    assert sentence(*lines, after_ms=30_000, agent=AgentFacts(exit_code=0)) == "succeeded in 5.2 s"
    assert sentence(*lines, after_ms=None, agent=IDLE) == "succeeded in 5.2 s"
    # An end without a result.
    for other_lines, other_words in [
        ((), "ended without a result"),
        ((init(), user()), "ended without a result"),
        ((init(), started("shell")), "ended without a result · 1 call, 1 unfinished"),
        ((init(), started("a", "a"), started("b", "b")), "ended without a result · 2 calls, 2 unfinished"),
    ]:
        with case((other_lines, other_words)):
            assert sentence(*other_lines, is_over=True) == other_words
    other_cases: list[tuple[AgentFacts, str]] = [
        (AgentFacts(exit_code=1, stderr=" no\x1b login "), "exit 1 · stderr: no␛ login"),
        (AgentFacts(exit_code=1), "exit 1"),
        (AgentFacts(exit_code=0), "exit 0"),
        (AgentFacts(exit_code=137), "exit 137 (SIGKILL)"),
        (AgentFacts(exit_code=255, stderr="x" * 999), f"exit 255 · stderr: {'x' * 119}…"),
    ]
    for agent, other_words in other_cases:
        with case(agent):
            assert sentence(is_over=True, agent=agent) == f"ended without a result · {other_words}"
            told_all = sentence(init(), started("shell"), is_over=True, agent=agent)
            assert told_all == f"ended without a result · {other_words} · 1 call, 1 unfinished"
    ended = AgentFacts(exit_code=1, stderr="oops")
    assert sentence(init(), result(), is_over=True, agent=ended) == "exit 1 · result says ✓ · stderr: oops"
    assert sentence(init(), result(), is_over=True, agent=AgentFacts(exit_code=0)) == "succeeded in 5.2 s"
    failed = (init(), result("No login", is_error=True))
    assert sentence(*failed, is_over=True, agent=ended) == "failed: No login · exit 1"
    unsaid = sentence(init(), result(None, is_error=True), is_over=True, agent=ended)
    assert unsaid == "failed: no reason given · exit 1 · stderr: oops"
    further: list[tuple[tuple[bytes, ...], AgentFacts, str]] = [
        ((init(), b"RetriableError: no\n"), NO_FACTS, "ended without a result: RetriableError: no"),
        (
            (init(), b"RetriableError: no\n", started("read")),
            AgentFacts(exit_code=1, stderr="oops"),
            "ended without a result: RetriableError: no · exit 1 · 1 call, 1 unfinished",
        ),
        ((init(), b"Bad key\n", result("", is_error=True)), NO_FACTS, "failed: Bad key"),
        ((init(), b"Bad key\n", result("No", is_error=True)), NO_FACTS, "failed: No"),
        ((init(), b"A notice\n", result()), NO_FACTS, "succeeded in 5.2 s"),
    ]
    for other_lines, agent, other_words in further:
        with case((other_lines, agent)):
            assert sentence(*other_lines, is_over=True, agent=agent) == other_words


def test_a_status_is_one_line() -> None:
    """No field of the stream or of the process breaks the status line. For an unknown agent it has the
    first line of its stream, and what can be done, which is kept in few columns.
    """
    hostile = "a\r\nb\u2028c\x85d"
    for lines in (
        (started("weather" + hostile, place=hostile),),
        (started("shell", command=hostile, timeout=1),),
        (event("result", "error", is_error=True, result=hostile),),
        (segment(hostile),),
    ):
        for is_over in (False, True):
            agent = AgentFacts(exit_code=1, stderr=hostile)
            words = sentence(init(), *lines, after_ms=99_000, is_over=is_over, agent=agent, width=37)
            assert len(words.splitlines()) == 1
    # An unknown agent is called unknown.
    for lines, end in [
        ((b"Hello\n",), "(first line: Hello): add --output-format stream-json to the agent's command"),
        (
            (event("report.started"),),
            (
                '(first line: {"type": "report.started", "session_id": "s-1"}): '
                "try --format NAME, or agentwatch doctor FILE, or add a format: docs/plugins.md"
            ),
        ),
    ]:
        with case((lines, end)):
            lead = "not a stream of an agent that this version knows"
            assert sentence(*lines, is_over=True) == f"{lead} {end}"
            assert sentence(*lines, is_over=True, agent=AgentFacts(exit_code=3)) == f"{lead} {end} · exit 3"
    for width, end in [
        (
            160,
            '"report…): try --format NAME, or agentwatch doctor FILE, or add a format: docs/plugins.md',
        ),
        (
            130,
            "version knows: try --format NAME, or agentwatch doctor FILE, or add a format: docs/plugins.md",
        ),
        (
            100,
            "unknown format: try --format NAME, or agentwatch doctor FILE, or add a format: docs/plugins.md",
        ),
        (80, "unknown format: try --format NAME, or agentwatch doctor FILE"),
        (40, "unknown format: try --format NAME, or a…"),
    ]:
        with case((width, end)):
            shown = sentence(event("report.started"), is_over=True, width=width)
            assert shown.endswith(end)
            assert len(shown) <= width
            ended = AgentFacts(exit_code=3)
            if width > 40:
                assert sentence(event("report.started"), is_over=True, width=width, agent=ended).endswith(
                    "or add a format: docs/plugins.md · exit 3"
                    if width > 100
                    else "or agentwatch doctor FILE · exit 3"
                )


COMMAND = started("shell", command="pytest -q " + "tests/test_nearest.py " * 9, timeout=120_000)
LATE = COMMAND.replace(b"120000", b"2000")
FETCH = started("webFetch", "f", url="https://docs.example.org/tide/tables")
STEP = tuple(of_step(name) for name in "abc")
MANY = tuple(started("shell", name, command=name, timeout=5000) for name in "ab")


def test_a_narrow_screen_still_has_the_time() -> None:
    """In few columns the wording is shorter, and the target is cut before the time, a path at its beginning;
    a stall keeps its evidence. A command is cut at 60 columns.
    """
    cases: list[tuple[tuple[bytes, ...], AgentFacts, int, str]] = [
        ((COMMAND,), NO_FACTS, 37, "running pytest -q tes… · 0:12 of 2:00"),
        ((COMMAND,), IDLE, 70, "running pytest -q tests/test_nearest.py test… · 0:12 of its 2:00 limit"),
        ((LATE,), NO_FACTS, 37, "running pytest -q … · 0:12, 0:10 over"),
        ((COMMAND,), NO_FACTS, 60, "running pytest -q tests/test_neare… · 0:12 of its 2:00 limit"),
        ((COMMAND,), IDLE, 60, "running pytest -q tests/test_neare… · 0:12 of its 2:00 limit"),
        ((COMMAND,), IDLE, 75, "running pytest -q tests/… · 0:12 of its 2:00 limit · its processes are idle"),
        ((FETCH,), NO_FACTS, 37, "running fetch https://docs.ex… · 0:12"),
        ((FETCH,), NO_FACTS, 24, "running fetch · 0:12"),
        (STEP, NO_FACTS, 37, "3 of 3 left: read a 0:12"),
        ((*STEP[:2], FETCH), NO_FACTS, 37, "3 calls, the oldest: read a 0:12"),
        (MANY, NO_FACTS, 37, "2 calls, the oldest: a 0:12, 0:07 ov…"),
        ((started("t" * 99, "t", x="y"),), NO_FACTS, 37, "running tttttttttt… ttttttttt… · 0:12"),
    ]
    for lines, agent, width, words in cases:
        with case((lines, agent, width)):
            found = sentence(init(), *lines, after_ms=12_000, agent=agent, width=width)
            assert found == words
            assert len(found) <= width
    further: list[tuple[tuple[bytes, ...], int, bool, AgentFacts, str]] = [
        ((user(),), 119, False, NO_FACTS, "quiet 1:59, no open call"),
        ((user(),), 120, False, NO_FACTS, "stalled? quiet 2:00, no open call"),
        ((user(),), 120, False, BUSY, "quiet 2:00, no open call · uses CPU"),
        ((COMMAND,), 190, False, NO_FACTS, "stalled? pytest -q… · 3:10, 1:10 over"),
        ((result(),), 30, False, IDLE, "process 4121 alive 0:30 after result…"),
        (
            (user(),),
            0,
            True,
            AgentFacts(exit_code=1, stderr="no login"),
            "no result · exit 1 · stderr: no login",
        ),
    ]
    for lines, after_s, is_over, agent, words in further:
        with case((lines, after_s, is_over)):
            found = sentence(init(), *lines, after_ms=after_s * 1000, is_over=is_over, agent=agent, width=37)
            assert found == words
    command = "pytest -q " + "tests/test_nearest.py " * 9
    words = f"running {command[:59]}… · 0:12 of its 2:00 limit"
    for other_width in (None, 200):
        assert sentence(init(), COMMAND, after_ms=12_000, width=other_width) == words
        assert sentence(init(), COMMAND, after_ms=12_000, width=other_width, agent=IDLE).startswith(words)
    for path in ["/home/ada/app/" + "deep/" * 20 + "test_nearest.py", "東京/" * 30 + "東.py"]:
        with case(path):
            words = sentence(init(), started("read", path=path), after_ms=12_000, width=37)
            assert words.startswith("running read …")
            assert words.endswith(path[-4:] + " · 0:12")
            assert columns(words) in (36, 37)
            short = sentence(init(), started("read", path="a/b.py"), after_ms=12_000, width=37)
            assert short == "running read a/b.py · 0:12"


START: list[Event] = [RunStarted("x"), Prompt("Do it.")]
ASKS = Permission("Bash", None, key="q", call_id="c", target="rm -rf build", at_ms=7)
SEEN_MS = 1_000_000
PERMISSION = Wait("waits for your permission", SEEN_MS)
ANSWER = Wait("waits for your answer", SEEN_MS)
BASH = begins("c", "Bash", "rm -rf build")
MAKE = begins("d", "Bash", "make")
TASK, READ = begins("t", "Task", "Look"), begins("r", "Read", "a.py", "t")


def made_at(events: list[Event], seen_ms: int | None = SEEN_MS) -> Session:
    """Return the session with these events applied at one time."""
    read = Session()
    for each in events:
        apply_line(read, [each], Place(0, 1, seen_ms))
    return read


def test_a_question_names_its_call() -> None:
    """The question's call, or else the main agent's newest; so do words that the agent says elsewhere, but
    the stream's word is better.
    """
    cases: list[tuple[list[Event], dict[int, Wait]]] = [
        ([BASH, MAKE], {}),
        ([BASH, MAKE, ASKS], {1: PERMISSION}),
        ([BASH, MAKE, ASKS, ASKS._replace(key="r", call_id="d")], {1: PERMISSION, 2: PERMISSION}),
        ([BASH, MAKE, ASKS, ASKS._replace(answer="allowed")], {}),
        ([BASH, MAKE, ASKS, ends("c", "Bash")], {}),
        ([BASH, MAKE, ASKS._replace(call_id="other")], {}),
        ([BASH, ASKS._replace(key="c")], {1: ANSWER}),
        ([BASH, TASK, READ, ASKS._replace(call_id=None)], {2: PERMISSION}),
        ([BASH, ASKS, ASKS._replace(key="r", call_id=None)], {1: PERMISSION}),
        ([READ, ASKS._replace(call_id=None)], {}),
        ([BASH, ASKS._replace(is_automatic=True)], {}),
    ]
    for events, waits in cases:
        with case(events):
            assert waiting_calls(made_at([*START, *events])) == waits
    further: list[tuple[list[Event], str, dict[int, Wait]]] = [
        ([BASH, MAKE], "Bash rm -rf build or 1 more", {1: PERMISSION}),
        ([TASK, READ], "Read a.py", {2: PERMISSION}),
        ([BASH, TASK, READ], "permission", {2: PERMISSION}),
        ([BASH, TASK, READ], "question", {2: ANSWER}),
        ([READ], "you", {}),
        ([], "permission", {}),
        ([BASH, MAKE, ASKS], "Bash make", {1: PERMISSION}),
    ]
    for events, words, waits in further:
        with case((events, words)):
            facts = AgentFacts(asks=words, asks_since_ms=SEEN_MS)
            assert waiting_calls(made_at([*START, *events]), facts) == waits
    assert waiting_calls(made_at([*START, BASH]), NO_FACTS) is NO_WAITS


def test_a_session_waits_for_the_user() -> None:
    """It waits since its oldest open question, by the clock of the arrival times, which is empty while a
    time is unknown.
    """
    session = made_at([*START, BASH, ASKS, ASKS._replace(key="r")])
    assert user_wait(session) == PERMISSION
    assert user_wait(made_at([*START, BASH, ASKS], None)) == Wait("waits for your permission", 7)
    assert user_wait(made_at([*START, BASH])) is None
    assert user_wait(made_at([*START, ASKS, TurnEnded(Outcome.SUCCEEDED)])) is None
    facts = AgentFacts(asks="Bash make", asks_since_ms=SEEN_MS)
    idle, calling = made_at(START), made_at([*START, MAKE])
    assert user_wait(idle, facts, waiting_calls(idle, facts)) == ANSWER
    assert user_wait(calling, facts, waiting_calls(calling, facts)) == PERMISSION
    assert user_wait(idle, facts._replace(asks="permission")) == PERMISSION
    assert PERMISSION.clock(SEEN_MS + 183_000) == "3:03"
    assert PERMISSION.clock(None) == Wait("", None).clock(5) == ""


ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build")
BEGAN_MS = 1_000_000
REFUSED = Limits((), is_refused=True, until_ms=BEGAN_MS + 3_600_000)
UNTIL = coming(BEGAN_MS + 3_600_000, BEGAN_MS)


def at(events: list[Event], after_ms: int, width: int | None = None) -> str:
    """Return the status some time after the events, which arrived at once."""
    return status(made(events), BEGAN_MS + after_ms, NO_FACTS, width)


def made(events: list[Event]) -> Session:
    """Return the session with these events applied at one time."""
    read = Session()
    for each in events:
        apply_line(read, [each], Place(0, 1, BEGAN_MS))
    return read


def test_what_is_waited_for() -> None:
    """An open question comes first, then a compaction, then a retry: these are not silence. The words are cut
    to the line; without times they have no durations.
    """
    cases: list[tuple[list[Event], str]] = [
        ([begins("c", "Bash", "rm -rf build"), ASKED], "asks: Bash rm -rf build · 0:14"),
        ([ASKED, ASKED._replace(key="r")], "asks: Bash rm -rf build (and 1 more) · 0:14"),
        ([ASKED._replace(limit_ms=26_000)], "asks: Bash rm -rf build · answers itself in 0:12 · 0:14"),
        ([ASKED._replace(limit_ms=14_000)], "asks: Bash rm -rf build · 0:14"),
        ([ASKED, ASKED._replace(answer="approved")], "waiting for the model · 0:14"),
        ([ASKED._replace(is_automatic=True)], "waiting for the model · 0:14"),
        ([begins("c", "Bash", "x"), ASKED, ends("c", "Bash")], "waiting for the model · 0:14"),
        ([Compaction(is_over=False)], "compacting the context · 0:14"),
        ([Compaction(is_over=False), Compaction(is_over=True)], "waiting for the model · 0:14"),
        ([Retry("overloaded", 4, 10, 22_000)], "retry 4 of 10: overloaded · next in 0:08"),
        ([Retry("overloaded", 4, 10, 10_000)], "retry 4 of 10: overloaded · 0:04"),
        ([Retry("", None, 10)], "retry · 0:14"),
        ([REFUSED], f"waits for the limit until {UNTIL}"),
        ([REFUSED._replace(until_ms=None)], "waits for the limit"),
        ([REFUSED, begins("c", "Bash", "make")], "running make · 0:14"),
        ([REFUSED, Text(Channel.ANSWER, "x")], "writing · quiet for 0:14"),
        ([REFUSED._replace(until_ms=BEGAN_MS + 14_000)], "waiting for the model · 0:14"),
        ([Retry("overloaded", 1), Text(Channel.ANSWER, "x")], "writing · quiet for 0:14"),
        ([begins("c", "Bash", "make"), Retry("busy", 1)], "running make · 0:14"),
    ]
    for events, words in cases:
        with case(events):
            assert at([*START, *events], 14_000) == words
    assert at([*START, ASKED], 14_000, 20) == "asks: Bash rm -rf b…"
    assert status(made([*START, ASKED]), None) == "asks: Bash rm -rf build"
    assert status(made([*START, Retry("busy", 2, None, 5_000)]), None) == "retry 2: busy"
    causes: list[tuple[Event, int]] = [
        (ASKED, 10**9),
        (Compaction(is_over=False), 500_000),
        (Retry("busy", 1, 9, 300_000), 350_000),
    ]
    for cause, explained_ms in causes:
        with case((cause, explained_ms)):
            read = made([*START, cause])
            assert not is_quiet(read, BEGAN_MS + explained_ms)
            assert not is_stalled(read, BEGAN_MS + explained_ms)
            if not isinstance(cause, Permission):
                assert is_quiet(read, BEGAN_MS + 700_000)


def test_a_run_that_was_not_finished_says_so() -> None:
    """A cancelled run did not fail; a later turn is not over, and subagents in the background are not a hang.
    Rejected edits have their cause.
    """
    for given, words, reason in [
        (None, "cancelled", "the run was cancelled"),
        (
            "interrupted by the user",
            "cancelled: interrupted by the user",
            "the run was cancelled: interrupted by the user",
        ),
    ]:
        with case((given, words, reason)):
            read = made([*START, TurnEnded(Outcome.CANCELLED, given)])
            assert status(read, None) == words
            assert ending(read, NO_FACTS) == reason
    read = made([*START, TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=9), Prompt("More.")])
    assert status(read, None) == "waiting for the model"
    close_session(read)
    assert status(read, None) == "ended without a result"
    moved = completed("task", "t", {"success": {}, "isBackground": True})
    assert sentence(init(), moved, after_ms=300_000) == "waiting for the model or its subagents · 5:00"
    assert sentence(init(), moved, after_ms=620_000).startswith("quiet for 10:20")
    assert sentence(init(), completed("read"), after_ms=300_000).startswith("stalled? quiet for 5:00")
    assert sentence(init(), moved, result(""), init(), after_ms=300_000).startswith("stalled? quiet")
    edit = completed("edit", "a", {"rejected": {"reason": ""}})
    why = "without --force, Cursor proposes changes and does not write them"
    found = sentence(init(), edit, result(""))
    assert found.endswith(f"1 call, 1 rejected · the only edit was rejected: {why}")


def test_a_question_that_the_agent_reports_elsewhere_is_shown() -> None:
    """Such a session does not hang, also after the end of a turn; the words of the stream say more."""
    facts = AgentFacts(asks="permission", asks_since_ms=BEGAN_MS + 5_000)
    session, now_ms = made(START), BEGAN_MS + 400_000
    assert status(session, now_ms, facts) == "asks: permission · 6:35"
    assert not is_stalled(session, now_ms, facts)
    assert is_stalled(session, now_ms)
    facts = AgentFacts(asks="permission")
    assert status(made([*START, ASKED]), BEGAN_MS, facts).startswith("asks: Bash rm -rf build")
    ended = made([*START, TurnEnded(Outcome.SUCCEEDED)])
    assert status(ended, None, AgentFacts(asks="dialog")) == "asks: dialog"


def test_a_turn_that_a_limit_has_refused_waits_for_it() -> None:
    """The reason follows in the agent's words, and the silence has a cause. After the reset or the end of
    the session, it has failed.
    """
    refused: list[Event] = [*START, REFUSED, TurnEnded(Outcome.FAILED, "You've hit your limit")]
    assert at(refused, 14_000) == f"waits for the limit until {UNTIL} · You've hit your limit"
    assert at(refused, 3_600_000).startswith("failed: You've hit your limit")
    session = made(refused)
    assert status(session, None).startswith("failed: ")
    close_session(session)
    assert status(session, BEGAN_MS).startswith("failed: ")
    ended = made([*START, REFUSED, TurnEnded(Outcome.SUCCEEDED, "done")])
    assert status(ended, BEGAN_MS).startswith("succeeded")
    late_ms = BEGAN_MS + 3_000_000
    assert not is_quiet(made([*START, REFUSED]), late_ms)
    assert not is_stalled(made([*START, REFUSED]), late_ms)
    assert is_quiet(made([*START, REFUSED]), late_ms + 3_000_000)
