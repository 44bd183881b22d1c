"""Sessions of other machines in the list, what its keys do, and why a row says what it says."""

from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.session_entry import Key, SessionEntry
from agentwatch.agents.state_report import Life, State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.evidence import Facts, evidence
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Basis, Ground
from agentwatch.catalog.status import read_status
from agentwatch.screen.screens.session.dialogs import LinesDialog
from agentwatch.screen.screens.sessions.rings import Rings
from agentwatch.screen.screens.sessions.watching import Watching
from agentwatch.screen.screens.sessions.words import why
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, safe_line
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.machine.app import HomeStage, MadeMachine, at_home
from tests.builders.screen.app import eventually
from tests.harness.processes import until

REMOTE = "nats://team:4333"


def remote(name: str, state: State = State.WORKING, ground: Ground = Ground.SAID, **fields: Any) -> Row:
    """Return a session of another machine."""
    made = row(name, state, ground, host=fields.pop("host", "build1"), path=Path(), **fields)
    return made._replace(key=(REMOTE, name), address=f"{REMOTE}/{name}", id=f"{REMOTE}/{name}")


async def note(stage: HomeStage, *lines: str) -> None:
    """Let the list have notes."""
    stage.machine.notes = tuple(map(safe_line, lines))
    await stage.until(lambda: stage.home._home.notes._notes == stage.machine.notes, "the notes")
    await stage.pilot.pause()


@pytest.mark.system
async def test_a_row_names_its_machine() -> None:
    """The list names, counts and finds machines, and says what works only on this one."""
    async with at_home([row("one"), remote("two"), remote("three", host="build2")], (120, 40)) as stage:
        # The machine stands before the repository; the header counts machines when there are several.
        assert "build1:api ⎇ main" in stage.text
        assert "3 machines" in stage.lines[0]
        await stage.begin(row("one"))
        assert "machine" not in stage.lines[0]
        # A session of a machine that is silent is among the quiet ones, with the time since it was heard.
        lost = remote("one", State.UNKNOWN, now="make", lost_ms=NOW_MS - 3 * 60 * 60_000)
        await stage.begin(lost)
        at = next(at for at, line in enumerate(stage.lines) if "QUIET" in line)
        line = stage.lines[at + 1]
        assert "? lost" in line
        assert "3:00:" in line
        assert "lost touch, last: make" in line
        assert "1 quiet" in stage.lines[0]
        # What works only on this machine says so in a sentence.
        await stage.begin(remote("one", tmux="main:1.0", pid=1))
        for key, words in (
            ("d", "it is on build1, where only its owner can change it"),
            ("t", "its terminal is on build1"),
            ("ctrl+r", "it is on build1, where only its owner can change it"),
        ):
            await stage.press(key)
            await stage.shows(words)
        # `y` copies what opens the session.
        await stage.press("y")
        await eventually(stage.pilot, lambda: stage.app.clipboard == f"{REMOTE}/one", "the address")
        # `host:` and a word show the sessions of a machine.
        await stage.begin(row("one"), remote("two"))
        for words in ("host:build", "build1"):
            await stage.press("f", *words, "enter")
            await stage.shows("1 of 2 sessions")
            assert "Title of one" not in stage.text
            await stage.press("escape")
        # They are counted as not searched: nothing is fetched for a search.
        await stage.begin(remote("one"))
        await stage.press("slash", *"Title", "enter")
        await stage.shows("1 not searched: 1 on another machine")
        # Control characters and marks of direction in a name of a machine are shown, and have no effect.
        evil = "b\x1b[31m\x9b2J\u202ex\u2066\n\ud800" + "y" * 5_000
        await stage.begin(remote("one", host=evil, repo=evil, now=evil))
        await stage.press("s", "s", "t", "d")
        await stage.press("space")
        assert not set("\x1b\x9b\u202e\u2066\ud800") & set(stage.text)
        # Three publishers who claim the same machine have their names before it; a filter finds them.
        rows = [remote(each, publisher=each) for each in ("ci", "anna", "bert")]
        await stage.pilot.resize_terminal(140, 40)
        await stage.begin(*rows)
        assert all(f"{each}@build1:api" in stage.text for each in ("ci", "anna", "bert"))
        await stage.press("f", *"host:anna", "enter")
        await stage.until(lambda: "bert@build1" not in stage.text, "the filter")
        assert "anna@build1" in stage.text


@pytest.mark.system
async def test_what_does_not_answer_has_a_line_above_the_list() -> None:
    """Each note is a line, as far as there is room; an empty list does not claim to know this machine."""
    lines = [f"team{number}: no answer since 14:03: connection refused" for number in range(4)]
    async with at_home([row("one")], (80, 24)) as stage:
        # Each note is a line; in a low terminal there is one, which counts the others.
        await note(stage, *lines[:2])
        assert [line.strip() for line in stage.lines[1:3]] == lines[:2]
        await note(stage, *lines)
        assert stage.lines[3].strip() == f"{lines[2]} · 1 more"
        await note(stage)
        assert not any("team" in line for line in stage.lines)
        await stage.pilot.resize_terminal(40, 12)
        await note(stage, *lines)
        assert stage.lines[1].strip() == "team0: no answer since 14:03… · 3 more"
        # Without any session the list does not claim that there is none on this machine.
        await stage.pilot.resize_terminal(80, 24)
        await stage.begin()
        stage.machine.problem = SafeText("refused")
        await note(stage, "team: refused: the engine refuses the login")
        assert "team: refused" in stage.lines[1]
        assert "No session is known." in stage.text
        assert "not known what is running" in stage.lines[0]
        stage.machine.problem = SafeText("")
        await note(stage, "team: 3 older sessions are not listed: ci has 20,003")
        assert "no session is running" in stage.lines[0]


@pytest.mark.system
@pytest.mark.slow
async def test_a_session_of_another_machine_rings_and_is_silenced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its agent reports rings with the name of the machine, until `r`; what is inferred does not."""
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    async with at_home([remote("one")], (120, 40)) as stage:
        # Only a question that the agent itself has reported rings.
        stage.written_since()
        await stage.put(remote("one", State.ASKS, Ground.INFERRED, since_ms=now_ms()))
        assert "asks:" not in stage.written_since()
        # What its card says it asks rings, with the name of the machine; `r` turns it off for good.
        await stage.begin(remote("one"))
        stage.written_since()
        await stage.put(remote("one", State.ASKS, since_ms=now_ms(), now="Bash rm"))
        assert "build1:api: asks: Bash rm" in stage.written_since()
        await stage.press("r")
        await stage.shows("no ring")
    assert not Rings(by_default=True, began_ms=0).rings((REMOTE, "one"))
    rows = {(REMOTE, "one"): remote("one"), ("claude", "two"): row("two")}
    applied = Rings(by_default=True, began_ms=0).applied(rows)
    assert [each.rings for each in applied.values()] == [False, True]


async def test_only_this_machine_is_counted_for_status() -> None:
    """`agentwatch status` counts what it would count without an open list."""
    machine = MadeMachine([row("one"), remote("two"), remote("three", State.ASKS)])
    reports: list[object] = []
    watching = Watching(machine, lambda report: reports.append(report.rows), reports.append)
    watching.begin()
    watching.start()
    counts = until(lambda: read_status(now_ms()), what="the counts")
    watching.stop()
    assert counts is not None
    assert (counts.working, counts.needs_you) == (1, 0)


@pytest.mark.system
async def test_without_this_machine_nothing_is_written_for_status() -> None:
    """A list of an engine alone does not say that nothing works here."""
    machine = MadeMachine([remote("two")])
    reports: list[object] = []
    watching = Watching(machine, lambda report: reports.append(report.rows), reports.append, is_here=False)
    watching.begin()
    watching.start()
    until(lambda: machine.steps >= 3, what="three steps")
    watching.stop()
    assert read_status(now_ms()) is None
    assert reports == [machine.rows]


async def test_other_notes_are_reported() -> None:
    """The screen gets new notes although no row has changed."""
    machine = MadeMachine([row("one")])
    reports: list[object] = []
    watching = Watching(machine, lambda report: reports.append(report.rows), reports.append)
    watching.begin()
    watching.start()
    until(lambda: reports, what="the first report")
    machine.notes = (safe_line("team: no answer yet"),)
    until(lambda: len(reports) >= 2, what="the second report")
    watching.stop()
    assert reports == [machine.rows, machine.rows]


class Known:
    """What is known about one session."""

    def __init__(self, path: str) -> None:
        digest = Digest(turn=Turn.ENDED, outcome=Outcome.SUCCEEDED, turn_ms=NOW_MS - 90_000)
        self._facts = Facts(SessionEntry("claude", "one", Path(path), 1, 1), digest, None, None, Life.DEAD)

    def facts(self, key: Key) -> Facts:
        """Return the facts about the session."""
        assert key == ("claude", "one")
        return self._facts


@pytest.mark.slow
async def test_w_shows_the_evidence_of_the_selected_session(home: Path) -> None:
    """Long sentences are wrapped, a long source is cut in its middle; esc and `w` close the popup."""
    shown = row("one", State.SUCCEEDED, title="A \x1b[31mred title")
    shown = shown._replace(status=shown.status._replace(by=(Basis.TURN,)))
    long = f"/home/{'a-folder/' * 20}{'x' * 200}one.jsonl"
    async with at_home([shown]) as stage:
        stage.machine.facts = Known(long).facts  # type: ignore[assignment]
        for key in ("escape", "w"):
            await stage.press("w")
            await stage.shows("What decides")
            assert type(stage.app.screen) is LinesDialog
            assert "Why, at " in stage.text
            assert "✓ succeeded" in stage.text
            assert "1 min   The last turn has ended: succeeded." in stage.text
            assert "file …xxx" in stage.text
            assert "one.jsonl" in stage.text
            assert "\x1b[31m" not in stage.text
            await stage.press(key)
            await stage.until(lambda: type(stage.app.screen) is not LinesDialog, "the list")


@pytest.mark.slow
def test_the_state_of_a_lost_session_is_that_it_is_lost() -> None:
    """It lasts since the other machine was silent, and no line is longer than the terminal is wide."""
    lost = row("one", State.ASKS, address="ssh://build1/claude/one", host="build1")._replace(lost_ms=NOW_MS)
    now_ms = NOW_MS + 90_000
    lines = [
        "".join(text for text, _ in line) for line in why(lost, evidence(lost, None, now_ms), now_ms, 40)
    ]
    assert lines[0].startswith("? lost for 1 min · ")
    assert any(line.startswith("1 min   Nothing arrives from build1.") for line in lines)
    assert max(map(len, lines)) <= 40
