"""Which calls may wait for permission, by agent and mode."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentwatch.agents.program import CHANGES
from agentwatch.agents.session_entry import SessionEntry
from agentwatch.agents.state_report import Life, State
from agentwatch.catalog import states
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.session_status import UNKNOWN, Ground, Process, SessionStatus
from agentwatch.catalog.states import Steady, knowledge_of, may_ask
from agentwatch.catalog.tracked import Tracked
from agentwatch.session.events import Outcome, ToolKind
from tests.builders.on_disk import qwen_chat as qwen
from tests.catalog.states.cases import NOW_MS, call, working
from tests.conftest import case

ASKING: list[tuple[str, str, set[ToolKind]]] = [
    ("claude", "default", {ToolKind.EXECUTE, ToolKind.FETCH, *CHANGES}),
    ("claude", "acceptEdits", {ToolKind.EXECUTE, ToolKind.FETCH}),
    ("claude", "bypassPermissions", set()),
    ("qwen", "auto-edit", {ToolKind.EXECUTE, ToolKind.FETCH, ToolKind.DELEGATE}),
    ("qwen", "yolo", set()),
    ("codex", "on-request", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "untrusted", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "never", set()),
    ("opencode", "", {ToolKind.EXECUTE, *CHANGES}),
    ("pi", "", set()),
    ("gemini", "default", set()),
    ("copilot", "", set()),
    ("agentwatch", "default", set()),
    ("an agent of tomorrow", "", {ToolKind.EXECUTE}),
]


def test_an_agent_asks_for_some_kinds_of_calls() -> None:
    """The agent and the mode of the session decide which open calls may be questions."""
    for agent, mode, asking in ASKING:
        with case(f"{agent}, {mode}"):
            known = knowledge_of(agent)
            assert {kind for kind in ToolKind if may_ask(known, mode, kind)} == asking


def test_an_answer_of_gemini_announces_a_call() -> None:
    """Its instructions demand a sentence about what it does before each call; the last sentence counts."""
    announces = knowledge_of("gemini").announces
    assert announces is not None
    cases = {
        "I will run the tests.": True,
        "I'll look first.": True,
        "I\u2019m going to edit a.py.": True,
        "One file is missing. I'll write a summary.": True,
        "Fixed the first!\n\nNow I will fix the second.": True,
        "- Next, I need to read b.py": True,
        "Let me check the log.": True,
        "Reading these files:": True,
        "All tests pass.": False,
        "I will stop here. All tests pass.": False,
        "Let me know if you need more.": False,
        "I will delete it. Shall I?": False,
        "I must ask: is that right?": False,
        "I listed the files.": False,
        "": False,
    }
    for answer, expected in cases.items():
        with case(answer):
            assert announces(answer) is expected


def test_each_state_has_its_words() -> None:
    """The lines say what the agent is busy with, what it asks, and how it ended."""
    # A running call is what it acts on, or else its tool; a call that asks is both.
    assert states.call_words(call()) == "pytest -q"
    assert states.call_words(call(target="")) == "Tool"
    assert states.asked_words(call()) == "Tool pytest -q"
    assert states.asked_words(call(target="")) == "Tool"
    # A command has no child process; another call has no result.
    assert states.inferred_words(call()) == "Tool pytest -q (no child process)"
    assert states.inferred_words(call(ToolKind.EDIT, "a.py")) == "Tool a.py (no result)"
    # Without a call, the lines say what the agent is busy with.
    assert states.model_words(working()) == "thinking"
    assert (
        states.model_words(replace(working(), retry="retry 4 of 10: overloaded"))
        == "retry 4 of 10: overloaded"
    )
    assert states.model_words(replace(working(), retry="retry", is_compacting=True)) == "compacting"
    # The usual pause is shown where it is known.
    digest = working(seen_ago_ms=360_000)
    assert states.silence_words(digest, NOW_MS) == "nothing for 6 min"
    assert states.silence_words(replace(digest, seen_ms=None), NOW_MS) == ""
    # The last line has the question, if there is one. It is bounded.
    assert states.answer_words(None) == ""
    assert states.answer_words(Digest(last_text="Done.\n\n  Shall I push? \n\n")) == "Shall I push?"
    assert len(states.answer_words(Digest(last_text="x" * 400))) == 200
    # A reason may have many lines; an interruption has no reason.
    digest = Digest(outcome=Outcome.FAILED, reason="\nusage limit\ntry again")
    assert states.failure_words(digest) == "usage limit"
    assert states.failure_words(replace(digest, outcome=Outcome.CANCELLED)) == "cancelled"
    # What the last lines show is independent of the process.
    assert states.tail_words(None) == ""
    assert states.tail_words(working(call(target="a"), call(target="b", call_id="c2"))) == "a"
    assert states.tail_words(Digest(last_text="Hello")) == "Hello"


def test_all_words_are_bounded() -> None:
    """No row keeps a long foreign text."""
    for text in ("x" * 100_000, "x\n" * 100_000):
        digest = Digest(reason=text, last_text=text, retry=text, outcome=Outcome.FAILED)
        shown = [states.failure_words(digest), states.answer_words(digest), states.model_words(digest)]
        shown += [states.call_words(call(target=text)), states.asked_words(call(target=text))]
        assert max(map(len, shown)) <= 200


KEY = ("codex", "s1")
RUNS = SessionStatus(State.WORKING, Ground.INFERRED, now="make")
GUESS = SessionStatus(State.ASKS, Ground.INFERRED, now="make (no child process)")


def test_an_inferred_question_must_last_for_a_second() -> None:
    """A command that has just ended seems to ask until its result is written."""
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 999) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 1_000) is GUESS
    assert steady.shown(KEY, GUESS, GUESS, NOW_MS + 1_001) is GUESS
    # What an agent says itself, and any other state, is not held back.
    for known in (GUESS._replace(ground=Ground.SAID), RUNS, GUESS._replace(state=State.QUIET)):
        assert Steady().shown(KEY, known, RUNS, NOW_MS) is known
    # Two commands that end one after the other are not a question.
    steady = Steady()
    for at_ms in range(0, 5_000, 500):
        assert steady.shown(KEY, GUESS, RUNS, NOW_MS + at_ms) is RUNS
        assert steady.shown(KEY, RUNS, RUNS, NOW_MS + at_ms + 250) is RUNS
    assert steady._since == {}
    # A question is shown at the latest when the clock has jumped.
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS - 1) is GUESS
    # Nothing was seen to run that could have just ended.
    assert Steady().shown(KEY, GUESS, None, NOW_MS) is GUESS
    assert Steady().shown(KEY, GUESS, UNKNOWN, NOW_MS) is GUESS
    # Sessions that vanish while they are held back do not pile up.
    steady = Steady()
    for number in range(1_002):
        steady.shown(("codex", f"{number}"), GUESS, RUNS, NOW_MS)
    assert len(steady._since) == 1_000
    assert steady.shown(("codex", "1001"), GUESS, RUNS, NOW_MS + 1_000) is GUESS
    # It is judged then, not with the next look at all clocks; a session that was removed never is.
    steady = Steady()
    steady.shown(KEY, GUESS, RUNS, NOW_MS)
    assert [steady.due(NOW_MS + later_ms) for later_ms in (0, 999, 1000)] == [set(), set(), {KEY}]
    steady.forget(KEY)
    assert steady.due(NOW_MS + 1000) == set()


def test_another_look_is_needed_only_where_it_may_show_no_question(tmp_path: Path) -> None:
    """The CPU time of an agent does not show that its command runs, but that it works on another call."""
    agents: dict[str, dict[str, Any]] = {
        "the first look": {"is_idle": None, "is_calm": None},
        "it does little": {"is_idle": None, "is_calm": True},
        "it does much": {"is_idle": None, "is_calm": False},
        "it does nothing": {"is_idle": True, "is_calm": True},
        "it is known to be busy": {"is_idle": False},
    }
    expected = {
        "run_shell_command": [True, False, True, False, False],
        "edit": [True, True, True, False, False],
    }
    for name, doubts in expected.items():
        file = tmp_path / f"{name}.jsonl"
        lines = [qwen.user("Go", uuid="u"), qwen.call("c", name) | {"uuid": "a", "parentUuid": "u"}]
        file.write_text("".join(json.dumps(each) + "\n" for each in lines))
        found = SessionEntry("qwen", "s", file, file.stat().st_size, 0)
        for (why, facts), is_doubtful in zip(agents.items(), doubts, strict=True):
            with case((name, why)):
                session = Tracked(found)
                session.read()
                process = Process(1, 1, "qwen", qwen.AT_MS - 1_000)._replace(**facts)
                session.join(Life.LIVE, process)
                session.status = session.judged(qwen.AT_MS + 30_000)
                assert session.is_doubtful(qwen.AT_MS + 30_000) is is_doubtful
