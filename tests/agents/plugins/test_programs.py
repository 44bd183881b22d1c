"""The program of a plugin's agent is listed like a built-in one, and cannot break the list by raising."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.agents.plugins import PROGRAMS
from agentwatch.agents.registry import hooked_agents, program_named, programs
from agentwatch.catalog.catalog import Machine
from agentwatch.cli.doctor import facts
from tests.builders.formats.plugin import install
from tests.conftest import case

SOURCE = """
from agentwatch.agents.program import HookedAgent
from agentwatch.agents.places import Kind, owns, stem_is_id
from agentwatch.agents.program import Program, Reports, SessionsAt
from agentwatch.agents.state_report import Life, StateReport, State

def sessions():
    return Kind("tern", owns(".jsonl"), stem_is_id)

class Reporter:
    is_exact = False

    def __init__(self, folders, uid, proc):
        self.reported = {}

    def refresh(self, now, keys=None):
        self.reported = {("tern", "s-1"): StateReport("tern", "s-1", Life.LIVE, state=State.ASKS)}
        return True

HOOKS = HookedAgent("tern", "Tern", "TERN_HOME", ".tern", "hooks.json", ("stop",))
PROGRAM = Program(
    name="tern",
    sessions=(SessionsAt("sessions", ("~/.tern",), "tern_format:sessions"),),
    reports=Reports("sessions", "states", "tern_format:Reporter"),
    hooks="tern_format:HOOKS",
)
"""
HOOKS = next(line for line in SOURCE.splitlines() if line.startswith("HOOKS"))
NOW_MS = 1_770_000_000_000

Install = Callable[..., None]


def forget() -> None:
    """Forget all plugins, so that they are looked for again."""
    PROGRAMS.problems.clear()
    vars(PROGRAMS).pop("points", None)
    programs.cache_clear()
    program_named.cache_clear()
    sys.modules.pop("tern_format", None)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a program of an agent for this test, by its source."""
    number = 0

    def add(source: str, *, name: str = "tern") -> None:
        nonlocal number
        number += 1
        folder = tmp_path / f"packages-{number}"
        folder.mkdir()
        value = "tern_format:PROGRAM"
        install(folder, source, name="tern", value=value, group="agentwatch.programs")
        points = folder / "tern_format-1.0.dist-info" / "entry_points.txt"
        points.write_text(f"[agentwatch.programs]\n{name} = {value}\n")
        monkeypatch.syspath_prepend(folder)
        forget()

    forget()
    yield add
    monkeypatch.undo()
    forget()


def listed(home: Path) -> Machine:
    """Return the sessions below a home folder with one session of Tern."""
    folder = home / ".tern" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s-1.jsonl").write_text('{"tern": 1, "ev": "hello"}\n')
    machine = Machine({"AGENTWATCH_HOME": str(home / "own")}, home)
    machine.wants_all = True
    machine.settle(NOW_MS)
    return machine


def test_a_program_that_raises_does_not_break_the_list(installed: Install, tmp_path: Path) -> None:
    """Whatever it returns or raises, the session is listed, and the first problem is one line."""
    cases = [
        ("self.reported = {}\n", "raise KeyError('x')\n", "KeyError: 'x'"),
        ("        return True\n", "        raise SystemExit(3)\n", "SystemExit: 3"),
        ('StateReport("tern", "s-1", Life.LIVE, state=State.ASKS)', "7", "TypeError: a report is not an"),
        ('{("tern", "s-1"): StateReport', '{("codex", "s-1"): StateReport', "TypeError: a report is not an"),
        ("tern_format:Reporter", "tern_format:Nothing", "AttributeError: module 'tern_format' has no"),
        ("tern_format:HOOKS", "no_such_module:HOOKS", "ModuleNotFoundError: No module named 'no_such"),
        (HOOKS, "HOOKS = 7", "tern_format:HOOKS is not an agentwatch.agents.program.HookedAgent"),
    ]
    for before, after, problem in cases:
        with case((before, after)):
            assert before in SOURCE
            installed(SOURCE.replace(before, after))
            machine = listed(tmp_path)
            hooked_agents()
            assert list(machine.rows) == [("tern", "s-1")]
            machine.step(NOW_MS + 120_000)
            [line] = PROGRAMS.problems
            assert line.startswith(f"agent plugin tern: {problem}")
            assert machine.notes == (line,)


def test_a_program_is_used_or_reported(installed: Install, tmp_path: Path) -> None:
    """A program that works is listed, and another is reported."""
    # It is not listed. A plugin cannot replace a built-in agent either. The list works without it, and
    # says why. A folder that the program does not list has no folder beside it.
    with_a_list = SOURCE.replace("sessions=(S", "sessions=[S").replace('"),),', '")],')
    cases = [
        ("PROGRAM = 7", "tern", "tern_format:PROGRAM is not an agentwatch.agents.Program of this name"),
        (with_a_list, "tern", "tern_format:PROGRAM is not an agentwatch.agents.Program of this name"),
        (SOURCE, "codex", "this is the name of a built-in agent"),
    ]
    for source, name, problem in cases:
        with case((source, name)):
            installed(source, name=name)
            machine = listed(tmp_path)
            assert machine.rows == {}
            assert [note.startswith(f"agent plugin {name}: {problem}") for note in machine.notes] == [True]
    installed("raise ZeroDivisionError")
    machine = listed(tmp_path)
    assert machine.rows == {}
    assert [note.startswith("agent plugin tern: ") for note in machine.notes] == [True]
    installed(SOURCE.replace('Reports("sessions"', 'Reports("others"'))
    assert list(listed(tmp_path).rows) == [("tern", "s-1")]
    # Its sessions are listed, its hooks are offered, and there is nothing to report.
    installed(SOURCE)
    assert list(listed(tmp_path).rows) == [("tern", "s-1")]
    assert "tern" in hooked_agents()
    assert PROGRAMS.problems == []


def test_the_doctor_names_a_problem_without_its_words(installed: Install) -> None:
    """The words of an exception may contain names and paths, so that only its class is printed."""
    installed(SOURCE.replace('"tern_format:HOOKS"', '"no_such_module:HOOKS"'))
    plugins = facts()["plugins"]
    assert plugins["agentwatch.programs"] == "tern"
    assert plugins["problem 1"] == "agent plugin tern: ModuleNotFoundError"
