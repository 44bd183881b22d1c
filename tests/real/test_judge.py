"""The comparison of the stage `real` finds what is wrong, without an agent."""

from pathlib import Path
from typing import Any

from tests.conftest import case
from tests.real.agents import AGENTS
from tests.real.judge import NO_ROW, Check, Difference, Phase, Sample, Verdict, contents, states
from tests.real.lane import excuse, reason, screen_state
from tests.real.model import scripted_model
from tests.real.script import ANSWER, SCENARIOS, Step, usage

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
            assert bool(last.text) != bool(last.error)
            assert not last.calls


def test_an_agent_without_commands_gets_no_calls(tmp_path: Path) -> None:
    """What it has no tool for would be played by a command."""
    with scripted_model(tmp_path) as model:
        asked = [(True, "Please do RUN-full now", False)]
        tools: dict[str, Any] = {"read_file": {}, "web_fetch": {}}
        assert model.answer(asked, tools, {}).calls == []
        assert model.answer(asked, {**tools, "run_shell_command": {}}, {}).calls


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
    """A question of Gemini is not in its file; with hooks it is reported."""
    asked = Difference(Verdict.WRONG, "it asks for permission", "asks", "your turn? 5.0–11.0 s")
    for view, is_own in (("states in --json", True), ("hooks: states in --json", False)):
        with case(view):
            found = Check(view, [asked])
            excuse(found, AGENTS["gemini"])
            assert (found.differences, len(found.notes)) == (([], 1) if is_own else ([asked], 0))
