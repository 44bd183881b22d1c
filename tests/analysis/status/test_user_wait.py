"""Which open calls wait for the user, and what a session waits for."""

from __future__ import annotations

from agentwatch.analysis.status import NO_WAITS, Wait, user_wait, waiting_calls
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Outcome, Permission, Prompt, RunStarted, TurnEnded
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.subagents import begins, ends
from tests.conftest import case

START: list[Event] = [RunStarted("x"), Prompt("Do it.")]
ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build", at_ms=7)
SEEN_MS = 1_000_000
PERMISSION = Wait("waits for your permission", SEEN_MS)
ANSWER = Wait("waits for your answer", SEEN_MS)
BASH = begins("c", "Bash", "rm -rf build")
MAKE = begins("d", "Bash", "make")
TASK, READ = begins("t", "Task", "Look"), begins("r", "Read", "a.py", "t")


def made(events: list[Event], seen_ms: int | None = SEEN_MS) -> Session:
    """Return the session with these events applied at one time."""
    read = Session()
    for event in events:
        apply_line(read, [event], Place(0, 1, seen_ms))
    return read


def test_a_question_of_the_stream_names_its_call() -> None:
    """Calls are found by the question's call; one that names none is about the main agent's newest call."""
    cases: list[tuple[list[Event], dict[int, Wait]]] = [
        ([BASH, MAKE], {}),
        ([BASH, MAKE, ASKED], {1: PERMISSION}),
        ([BASH, MAKE, ASKED, ASKED._replace(key="r", call_id="d")], {1: PERMISSION, 2: PERMISSION}),
        ([BASH, MAKE, ASKED, ASKED._replace(answer="allowed")], {}),
        ([BASH, MAKE, ASKED, ends("c", "Bash")], {}),
        ([BASH, MAKE, ASKED._replace(call_id="other")], {}),
        ([BASH, ASKED._replace(key="c")], {1: ANSWER}),
        ([BASH, TASK, READ, ASKED._replace(call_id=None)], {2: PERMISSION}),
        ([BASH, ASKED, ASKED._replace(key="r", call_id=None)], {1: PERMISSION}),
        ([READ, ASKED._replace(call_id=None)], {}),
        ([BASH, ASKED._replace(is_automatic=True)], {}),
    ]
    for events, waits in cases:
        with case(events):
            assert waiting_calls(made([*START, *events])) == waits


def test_what_the_agent_says_elsewhere_is_about_a_call_that_it_names() -> None:
    """Its words name a call, or else it is the newest call of the main agent. The stream's word is better."""
    cases: list[tuple[list[Event], str, dict[int, Wait]]] = [
        ([BASH, MAKE], "Bash rm -rf build or 1 more", {1: PERMISSION}),
        ([TASK, READ], "Read a.py", {2: PERMISSION}),
        ([BASH, TASK, READ], "permission", {2: PERMISSION}),
        ([BASH, TASK, READ], "question", {2: ANSWER}),
        ([READ], "you", {}),
        ([], "permission", {}),
        ([BASH, MAKE, ASKED], "Bash make", {1: PERMISSION}),
    ]
    for events, words, waits in cases:
        with case((events, words)):
            facts = AgentFacts(asks=words, asks_since_ms=SEEN_MS)
            assert waiting_calls(made([*START, *events]), facts) == waits
    assert waiting_calls(made([*START, BASH]), NO_FACTS) is NO_WAITS


def test_a_session_waits_for_the_user() -> None:
    """It waits since its oldest open question; of two clocks, by that of the arrival times."""
    session = made([*START, BASH, ASKED, ASKED._replace(key="r")])
    assert user_wait(session) == PERMISSION
    assert user_wait(made([*START, BASH, ASKED], None)) == Wait("waits for your permission", 7)
    assert user_wait(made([*START, BASH])) is None
    assert user_wait(made([*START, ASKED, TurnEnded(Outcome.SUCCEEDED)])) is None
    facts = AgentFacts(asks="Bash make", asks_since_ms=SEEN_MS)
    idle, calling = made(START), made([*START, MAKE])
    assert user_wait(idle, facts, waiting_calls(idle, facts)) == ANSWER
    assert user_wait(calling, facts, waiting_calls(calling, facts)) == PERMISSION
    assert user_wait(idle, facts._replace(asks="permission")) == PERMISSION


def test_a_wait_has_a_clock() -> None:
    """It is empty while one of its two times is unknown."""
    assert PERMISSION.clock(SEEN_MS + 183_000) == "3:03"
    assert PERMISSION.clock(None) == Wait("", None).clock(5) == ""
