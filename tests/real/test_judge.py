"""The comparison of the stage `real` finds what is wrong, without an agent."""

from pathlib import Path
from typing import Any

from tests.conftest import case
from tests.real.agents import AGENTS
from tests.real.judge import NO_ROW, Check, Difference, Phase, Sample, Verdict, contents, states
from tests.real.lane import excuse, reason
from tests.real.model import scripted_model
from tests.real.script import ANSWER, SCENARIOS, Step, usage
from tests.real.terminal import row_states, screen_state

FULL = SCENARIOS["full"]
TURN = frozenset({"your turn"})
WORK = frozenset({"working"})
KINDS = {"shell": "execute", "write": "edit", "edit": "edit", "read": "read"}


def summary() -> dict[str, Any]:
    """Return a summary of the scenario `full` in which everything is right."""
    used = [usage(number) for number in range(len(FULL))]
    calls = [
        {
            "agent": None,
            "kind": KINDS[call.kind],
            "target": call.command or call.path,
            "outcome": call.outcome,
            "exit_code": call.exit_code,
        }
        for step in FULL
        for call in step.calls
    ]
    tokens = {
        "input": sum(each.uncached + each.cached for each in used),
        "cached": sum(each.cached for each in used),
        "output": sum(each.output for each in used),
    }
    texts = "".join(step.text for step in FULL)
    return {
        "outcome": "succeeded",
        "text": texts,
        "result": ANSWER,
        "calls": calls,
        "tokens": tokens,
        "lines": {},
    }


def test_each_difference_of_a_summary_is_found() -> None:
    """A wrong value is wrong, and a missing one is unknown; tokens may include those of requests of its own.

    A scripted call without a shown one is wrong, and the other way round.
    """
    assert contents(summary(), FULL, 0) == []
    fails = "call echo oops >&2; exit 3"
    outcome, code = f"{fails}: outcome", f"{fails}: exit code"
    run = "the outcome of the run"
    for change, path, value, expected in (
        ("outcome", ("calls", 1, "outcome"), "succeeded", (Verdict.WRONG, outcome, "failed", "succeeded")),
        ("no outcome", ("calls", 1, "outcome"), "returned", (Verdict.UNKNOWN, outcome, "failed", "–")),
        ("code", ("calls", 1, "exit_code"), 4, (Verdict.WRONG, code, "3", "4")),
        ("no code", ("calls", 1, "exit_code"), None, (Verdict.UNKNOWN, code, "3", "–")),
        ("tokens", ("tokens", "cached"), 1, (Verdict.WRONG, "cached tokens", "280", "1")),
        ("no tokens", ("tokens", "cached"), None, (Verdict.UNKNOWN, "cached tokens", "280", "–")),
        ("result", ("result",), "Nothing.", (Verdict.WRONG, "the result", ANSWER, "Nothing.")),
        ("run", ("outcome",), "failed", (Verdict.WRONG, run, "succeeded", "failed")),
        ("end", ("outcome",), "unfinished", (Verdict.UNKNOWN, run, "succeeded", "–")),
        ("lines", ("lines", "unknown"), 3, (Verdict.UNKNOWN, "unknown lines", "0", "3")),
    ):
        changed: Any = summary()
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = value
        with case(change):
            assert contents(changed, FULL, 0) == [expected]
    more = summary()
    more["tokens"]["input"] += usage(0).uncached
    assert contents(more, FULL, 1) == []
    assert [each.what for each in contents(more, FULL, 0)] == ["input tokens"]
    without = summary()
    del without["calls"][2]  # the call that edits the file is taken for the one that writes it
    assert [each[1:] for each in contents(without, FULL, 0)] == [("call edit notes.txt", "a call", "no call")]
    more = summary()
    more["calls"].append({"agent": None, "kind": "execute", "action": "Ran ls", "outcome": "failed"})
    assert [each[1:] for each in contents(more, FULL, 0)] == [("call Ran ls", "no call", "failed")]


def samples(*runs: tuple[str, float, float]) -> list[Sample]:
    """Return samples every half second: of each run its state, its begin and its end."""
    return [
        Sample(begins + half / 2, state)
        for state, begins, ends in runs
        for half in range(int((ends - begins) * 2))
    ]


def test_a_state_that_is_late_false_or_missing_is_found() -> None:
    """A state may be late by 5 s, while the state before it is shown; then nothing else may be shown."""
    phases = [Phase("answers", 0, 10, WORK), Phase("ended", 10, 20, TURN)]
    for name, runs, expected in (
        ("right", [("working?", 0, 10), ("your turn", 10, 20)], []),
        ("late", [(NO_ROW, 0, 2), ("working", 2, 14), ("your turn", 14, 20)], []),
        ("early", [("working", 0, 8.5), ("your turn", 8.5, 20)], []),
        ("too early", [("working", 0, 7), ("your turn", 7, 20)], [(Verdict.WRONG, "answers")]),
        ("too late", [("working", 0, 16), ("your turn", 16, 20)], [(Verdict.WRONG, "ended")]),
        ("never", [("working", 0, 20)], [(Verdict.WRONG, "ended")]),
        (
            "false",
            [("working", 0, 10), ("your turn", 10, 15), ("asks?", 15, 16), ("your turn", 16, 20)],
            [(Verdict.WRONG, "ended")],
        ),
        (
            "false at first",
            [("asks?", 0, 1), ("working", 1, 10), ("your turn", 10, 20)],
            [(Verdict.WRONG, "answers")],
        ),
        ("unknown", [("working", 0, 10), ("unknown", 10, 20)], [(Verdict.UNKNOWN, "ended")]),
        ("no row", [("working", 0, 10), (NO_ROW, 10, 20)], [(Verdict.WRONG, "ended")]),
        ("two rows", [("working", 0, 10), ("your turn, unknown", 10, 20)], [(Verdict.WRONG, "ended")]),
    ):
        with case(name):
            found = states("list", phases, samples(*runs)).differences
            assert [each[:2] for each in found] == expected
    # A turn of the Gemini CLI has ended after 5 s of silence.
    phases = [Phase("works", 0, 10, WORK), Phase("ended", 10, 24, TURN)]
    late = samples(("working", 0, 16.5), ("your turn?", 16.5, 24))
    assert [each.what for each in states("v", phases, late).differences] == ["ended"]
    assert states("v", phases, late, 7.0).differences == []


def test_a_phase_that_is_over_before_its_state_is_due_is_not_judged() -> None:
    """What was shown before it may be shown all the time, and nothing else."""
    phases = [Phase("before", 0, 10, TURN), Phase("tries", 10, 12, WORK)]
    for shown, expected in (("your turn", []), ("asks", ["tries"])):
        with case(shown):
            found = states("list", phases, samples(("your turn", 0, 10), (shown, 10, 12)))
            assert [each.what for each in found.differences] == expected


def test_the_state_of_a_row_on_the_screen_is_read() -> None:
    """Sign and word of the row of the agent and the folder give the state, and `?` stays."""
    row = "│▐{} 0:08  gemini  terminal ⎇ main    Please do RUN-turn now   –   –   8 s │"
    for shown, state in (
        ("◐ model? ", "working?"),
        ("◐ tool   ", "working"),
        ("! asks   ", "asks"),
        ("!? asks? ", "asks?"),
        ("› turn   ", "your turn"),
        ("✓ 10:00  ", "succeeded"),
        ("◌ 10:00? ", "unfinished?"),
        ("✗ failed ", "failed"),
        ("? quiet  ", "quiet"),
        ("– unknown", "unknown"),
        ("○ new    ", "○ new"),
    ):
        with case(shown):
            assert screen_state(f"│ YOUR TURN\n{row.format(shown)}\n", "gemini", "terminal") == state
    assert screen_state(row.format("› turn   "), "gemini", "hooked") == NO_ROW
    assert screen_state(row.format("› turn   "), "pi", "terminal") == NO_ROW


def test_a_scenario_ends_with_an_answer() -> None:
    """Each scenario but the refused one ends with a text, which is its result."""
    assert len(FULL) > 1
    for name, steps in SCENARIOS.items():
        with case(name):
            last = steps[-1]
            assert isinstance(last, Step)
            assert bool(last.text) != (bool(last.error) and not last.refusals)
            assert not last.calls


def test_an_agent_without_commands_gets_no_calls(tmp_path: Path) -> None:
    """What it has no tool for would be played by a command. A forbidden write is tried all the same."""
    with scripted_model(tmp_path) as model:
        asked = [(True, "Please do RUN-full now", False)]
        tools: dict[str, Any] = {"read_file": {}, "web_fetch": {}}
        assert model.answer(asked, tools, {}).calls == []
        assert model.answer(asked, {**tools, "run_shell_command": {}}, {}).calls
        [(_, tried)] = model.answer([(True, "Please do RUN-write now", False)], {"read": {}}, {}).calls
        assert tried.tool == "write"


def test_the_reason_of_a_failed_installation_is_named() -> None:
    """The last line of npm only names its log."""
    log = "npm error A complete log of this run can be found in: /x.log"
    cases = {
        "npm error code E\nnpm error notarget No version 1.5.2.\nnpm error notarget Or so.\n" + log: (
            "npm error notarget No version 1.5.2."
        ),
        "npm error one\n" + log: "npm error one",
        "ERROR: No matching distribution\n": "ERROR: No matching distribution",
        "": "no message",
    }
    for printed, words in cases.items():
        with case(printed):
            assert reason(printed) == words


def test_a_difference_that_is_the_agents_own_is_a_note() -> None:
    """The stream of Gemini says that a failed command has succeeded; its file does not."""
    outcome = Difference(Verdict.WRONG, "call echo oops >&2; exit 3: outcome", "failed", "succeeded")
    for view, is_own in (("stream", True), ("file", False)):
        with case(view):
            found = Check(view, [outcome])
            excuse(found, AGENTS["gemini"])
            assert (found.differences, len(found.notes)) == (([], 1) if is_own else ([outcome], 0))


def test_an_unknown_state_is_no_wrong_one() -> None:
    """A state may be said to be unknown: beside others that are right, or as a phase has it."""
    phase = Phase("two", 0, 10, frozenset({"A working, B your turn"}), frozenset({"A working, new starting"}))
    for shown, verdict in (
        ("A working, B your turn?", None),
        ("A working, new starting?", Verdict.UNKNOWN),
        ("A unknown, B working", Verdict.WRONG),
        ("A unknown, B your turn", Verdict.WRONG),
        ("A working, B unknown", Verdict.UNKNOWN),
        ("A working, B your turn, C unknown", Verdict.WRONG),
        ("A working", Verdict.WRONG),
        (NO_ROW, Verdict.WRONG),
    ):
        with case(shown):
            found = states("list", [phase], samples((shown, 0, 10))).differences
            assert [each.verdict for each in found] == ([] if verdict is None else [verdict])
            bare = states("list", [phase.without_names()], samples(("working?, your turn", 0, 10)))
            assert bare.differences == []


def test_a_state_that_has_to_be_inferred_is_not_said() -> None:
    """An expectation with `?` is not met by a state that agentwatch says it is sure of."""
    phase = Phase("stopped", 0, 10, frozenset({"A your turn?"}))
    for shown, expected in (("A your turn?", []), ("A your turn", [Verdict.WRONG])):
        with case(shown):
            found = states("list", [phase], samples((shown, 0, 10))).differences
            assert [each.verdict for each in found] == expected


def test_the_sessions_that_are_not_over_are_named() -> None:
    """Each has the letter of its first appearance; a process without a session is new."""
    names: dict[str, str] = {}
    row = {"since_ms": 5, "ground": "said"}
    ended = {**row, "id": "s1", "state": "succeeded"}
    turn = {**row, "id": "s2", "state": "your turn", "ground": "inferred"}
    starts = {**row, "id": "pid-7", "state": "starting"}
    assert row_states([ended], names) == NO_ROW
    assert row_states([starts, turn, ended], names) == "B your turn?, new starting"
    assert row_states([{**ended, "state": "working"}], names) == "A working"
    screen = """\
│ WORKING  1
│ ◐ starts?   0:27  pi  two ⎇ main   no line yet
│ YOUR TURN  1
│▐✗ failed    0:27  pi  two ⎇ main   refused
│ ENDED TODAY  2
│ ✗ 07:50    45.9 s  pi  two ⎇ main   failed
│ – unknown   0:27  pi  two ⎇ main   unknown
"""
    assert screen_state(screen, "pi", "two", is_live=True) == "starting?, turn failed, unknown"
