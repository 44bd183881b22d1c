"""What the keys do to a session after a question: continue, interrupt, delete, rename, archive."""

import json
import os
import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from agentwatch.agents.state_report import State
from agentwatch.base.config import Config
from agentwatch.catalog.row import Row
from agentwatch.recording.acts import Act, read_acts
from agentwatch.recording.store import saved_recordings
from agentwatch.recording.write_lock import hold
from agentwatch.screen.screens.session.continuing import ContinueDialog
from agentwatch.screen.screens.session.dialogs import InterruptDialog
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.screens.sessions.screen import DeleteDialog, RenameDialog
from agentwatch.sources.control import Control
from agentwatch.sources.stores.intake import StoreSource
from tests.builders.continued import ID, THREAD, Program, allow, claude_session, codex_session, stream
from tests.builders.home.home_app import row
from tests.builders.machine.app import HomeStage, at_home
from tests.builders.screen.app import opened
from tests.catalog.started_agents import started
from tests.conftest import RECORDINGS, case
from tests.harness.processes import until

pytestmark = pytest.mark.slow
ALLOWED = Config(act=frozenset({"continue", "queue"}))
PROMPT = "-x go"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the session; continuing and queueing are switched on."""
    folder = tmp_path / "work"
    folder.mkdir()
    allow(tmp_path, monkeypatch, "continue", "queue")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return folder


def whole(text: str) -> str:
    """Return the words of a box without the blanks and borders at which a long one is wrapped."""
    return re.sub(r"[\s│]+", "", text)


def ended(path: Path, agent: str = "claude") -> Row:
    """Return the row of a session."""
    return row(ID, path=path, agent=agent, title="Fix the tests.")


async def typed(stage: HomeStage, prompt: str = PROMPT) -> ContinueDialog:
    """Open the dialog with `P`, type a prompt, and show its command."""
    await stage.press("P")
    await stage.until(lambda: isinstance(stage.app.screen, ContinueDialog), "the dialog")
    dialog = stage.app.screen
    assert isinstance(dialog, ContinueDialog)
    dialog._input.value = prompt
    await stage.press("enter")
    return dialog


async def test_what_was_shown_is_run_by_a_process_of_its_own(tmp_path: Path, home: Path, work: Path) -> None:
    """The first enter shows the command, the second one runs it, in a process without a terminal. The
    permissions are those of the session; `m` chooses narrower ones, and returns to these."""
    program = Program(tmp_path / "bin", "claude", stream(cwd=str(work)), does="sleep 0.3")
    async with at_home([ended(claude_session(str(work), permissionMode="default"))], config=ALLOWED) as stage:
        await typed(stage)
        await stage.shows("this run: default: ")
        for words in (f"in {work}", f"--resume {ID} -- '{PROMPT}'"):
            assert whole(words) in whole(stage.text)
        for mode in ("default", "dontAsk", "plan", "default"):
            await stage.shows(f"this run: {mode}: ")
            assert whole(f"--permission-mode={mode} --resume") in whole(stage.text)
            await stage.press("m")
        assert program.started is None
        await stage.press("escape")
        await stage.shows("enter show the command")
        await stage.press("enter", "y")
        await stage.shows("this run: dontAsk: ")
        await stage.press("enter")
        await stage.shows("started: the run has a row of its own")
    until(lambda: saved_recordings() and saved_recordings()[0].read_text() == f"{stream(cwd=str(work))}\n")
    assert (program.started or [])[:2] == [str(work)] * 2
    assert (program.started or [])[-1] == PROMPT
    assert "--permission-mode=dontAsk" in (program.started or [])
    path = home / "acts" / f"claude-{ID}.acts"
    until(lambda: [act.receipt for act in read_acts(path)] == ["unknown", "sent"])
    assert {(act.act, act.by) for act in read_acts(path)} == {("continue", "list")}


async def test_what_the_settings_decide_needs_another_key(tmp_path: Path, work: Path) -> None:
    """If a run may be allowed more than the session, `enter` asks, and only `y` runs it."""
    program = Program(tmp_path / "bin", "claude", stream())
    async with at_home([ended(claude_session(str(work), permissionMode=None))], config=ALLOWED) as stage:
        await typed(stage)
        await stage.shows("the session does not say its own mode")
        await stage.press("y")
        await stage.shows("enter run")
        await stage.press("enter", "enter")
        await stage.shows("y run it with these permissions")
        assert program.started is None
        await stage.press("y")
        await stage.until(lambda: program.started, "the run")
    assert "--permission-mode=default" in (program.started or [])


async def test_a_folder_that_was_exchanged_is_refused(tmp_path: Path, home: Path, work: Path) -> None:
    """Between the two keys the folder may become another one: the run is refused, and the list says so."""
    program = Program(tmp_path / "bin", "claude", stream())
    async with at_home([ended(claude_session(str(work)))], config=ALLOWED) as stage:
        await typed(stage)
        await stage.shows("enter run")
        os.rename(work, tmp_path / "moved")
        os.mkdir(work)
        await stage.press("enter")
        await stage.shows("refused: the session or its folder has changed")
    assert (program.started, saved_recordings()) == (None, [])
    assert [act.receipt for act in read_acts(home / "acts" / f"claude-{ID}.acts")] == ["refused"]


@pytest.mark.system
async def test_an_agent_that_fails_is_told(tmp_path: Path, work: Path) -> None:
    """The list says how an agent has ended that it has started."""
    Program(tmp_path / "bin", "claude", stream(), code=3)
    async with at_home([ended(claude_session(str(work)))], config=ALLOWED) as stage:
        await typed(stage)
        await stage.press("enter")
        await stage.shows("exit 3 · result says ✓")


@pytest.mark.system
async def test_a_prompt_for_a_terminal_goes_to_its_queue(tmp_path: Path, home: Path, work: Path) -> None:
    """For a thread that a terminal has open the dialog shows the queue's command, and then its receipt."""
    Program(tmp_path / "bin", "codex", f"Queued message 01 for thread {THREAD}.")
    with started(["codex", "resume", THREAD], work) as holder:
        async with at_home([ended(codex_session(str(work)), "codex")], config=ALLOWED) as stage:
            await typed(stage)
            await stage.shows(f"queued for process {holder.pid} (codex)")
            assert f"codex queue --thread={THREAD} '--message={PROMPT}'" in stage.text
            await stage.press("enter")
            await stage.shows(f"Queued message 01 for thread {THREAD}")
    [act] = read_acts(home / "acts" / f"codex-{THREAD}.acts")
    assert (act.act, act.by, act.receipt) == ("queue", "list", "held")


@pytest.mark.system
async def test_each_refusal_is_told_before_the_dialog(tmp_path: Path, work: Path) -> None:
    """A switch that is off, a holder, another machine and a session without a file are told at once."""
    path = claude_session(str(work))
    async with at_home([ended(path)], config=Config()) as stage:
        await stage.press("P")
        words = whole("switched off: add `continue = true` under")  # a long path is cut
        await stage.until(lambda: words in whole(stage.text), "the switch")
    async with at_home([ended(path)._replace(host="far")], config=ALLOWED) as stage:
        await stage.press("P")
        await stage.shows("refused: it is on far: continue it there")
        await stage.begin(ended(Path()))
        await stage.press("P")
        await stage.shows("nothing of this session is written yet")
        await stage.begin(ended(path))
        with started(["claude", "--resume", ID], work) as holder:
            await stage.press("P")
            await stage.shows(f"refused: process {holder.pid} (claude) holds this session")
        dialog = await typed(stage)
        await stage.shows("Continue “Fix the tests.” · claude " + ID[:8])
        await stage.press("escape")
        dialog._input.value = ""
        await stage.press("enter")
        await stage.shows("the prompt is empty")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.home, "the list")
        os.rmdir(work)
        await stage.press("P")
        await stage.shows("the folder of this session cannot be used")
        assert not isinstance(stage.app.screen, ContinueDialog)


@pytest.mark.system
async def test_a_session_is_continued_from_its_own_screen(tmp_path: Path, home: Path, work: Path) -> None:
    """`P` in a session is the same as in the list."""
    program = Program(tmp_path / "bin", "claude", stream())
    async with at_home([ended(claude_session(str(work)))], config=ALLOWED) as stage:
        await stage.open()
        await typed(stage)
        await stage.press("enter")
        await stage.until(lambda: program.started, "the run")
    path = home / "acts" / f"claude-{ID}.acts"
    until(lambda: [act.by for act in read_acts(path)] == ["session"] * 2)


def _acts_besides(before: set[Path]) -> list[tuple[Path, list[Act]]]:
    """Return the recordings that are new, and whose agent has taken its prompt, with their acts."""
    found = [(path, read_acts(path.with_suffix(".acts"))) for path in {*saved_recordings()} - before]
    return [(path, acts) for path, acts in found if len(acts) == 2]


def _is_another(stage: HomeStage, screen: WatchScreen) -> bool:
    return stage.app.session_screen not in (screen, None)


@pytest.mark.system
async def test_the_screen_goes_to_the_run_that_continues_its_session(tmp_path: Path, work: Path) -> None:
    """After `P` in a session, its screen shows the run as soon as that has a row; another session stays."""
    Program(tmp_path / "bin", "claude", stream(cwd=str(work)))
    path = claude_session(str(work))
    async with at_home([ended(path), row("other", path=path)], config=ALLOWED) as stage:
        for goes in (True, False):
            with case(goes):
                before = {*saved_recordings()}
                first = await stage.open(ID)
                await typed(stage)
                await stage.press("enter")
                await stage.until(partial(_acts_besides, before), "the run")
                [(recording, acts)] = _acts_besides(before)
                if not goes:
                    await stage.back()
                    first = await stage.open("other")
                name = f"run {goes}"
                await stage.put(row(name, path=recording, is_own=True, acts=acts))
                if goes:
                    await stage.until(partial(_is_another, stage, first), "its screen")
                    assert stage.app._open is not None
                    assert stage.app._open.row.id == name
                else:
                    await stage.pilot.pause()
                    assert stage.app.session_screen is first
                await stage.back()


async def test_the_screen_of_a_file_ends_for_the_run(tmp_path: Path, work: Path) -> None:
    """`agentwatch FILE` has no list: after `P` its screen ends, and the command opens the run."""
    Program(tmp_path / "bin", "claude", stream(cwd=str(work)))
    async with opened(claude_session(str(work)), config=ALLOWED) as stage:
        await stage.press("P")
        await stage.until(lambda: isinstance(stage.app.screen, ContinueDialog), "the dialog")
        assert isinstance(stage.app.screen, ContinueDialog)
        stage.app.screen._input.value = PROMPT
        await stage.press("enter", "enter")
        source = stage.app._source
        assert isinstance(source, StoreSource)
        await stage.until(lambda: not stage.app.is_running, "the end of the screen")
        assert [source.continued_in] == saved_recordings()


@pytest.mark.system
async def test_a_hostile_session_shows_only_safe_text(tmp_path: Path, work: Path) -> None:
    """Names of folders with control characters are shown by visible ones, and markup is not read."""
    odd = tmp_path / "a[red]\x1b[2J\u202eb"
    odd.mkdir()
    program = Program(tmp_path / "bin", "claude", stream())
    async with at_home([ended(claude_session(str(odd)))], config=ALLOWED) as stage:
        await typed(stage, "[bold]$(id)[/bold]")
        await stage.shows("'[bold]$(id)[/bold]'")
        assert "a[red]␛[2J<U+202E>b" in stage.text.replace("\n", "").replace(" ", "").replace("│", "")
        await stage.press("enter")
        await stage.until(lambda: program.started, "the run")
    assert (program.started or [])[1:2] == [str(odd)]


STEM = "20261101-120000-aaaaaa"
ON = Config(act=frozenset({"interrupt"}))


def own_row(home: Path) -> Row:
    """Return the row of a recording of our own, whose agent runs."""
    return row(STEM, path=home / f"sessions/{STEM}.ndjson", is_own=True)


def noting(recording: Path, asked: list[str]) -> Control:
    """Return the socket of a run process that notes each request."""

    def answer(request: str) -> str:
        asked.append(request)
        return ""

    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.touch()
    return Control(recording, answer)


async def test_nothing_happens_while_the_switch_is_off(home: Path) -> None:
    """Without the switch the key only says how to switch it on."""
    own, asked = own_row(home), list[str]()
    made = noting(own.path, asked)
    async with at_home([own]) as stage:
        await stage.press("I")
        words = whole("switched off: add `interrupt = true` under")  # a long path is cut
        await stage.until(lambda: words in whole(stage.text), "the switch")
        assert not isinstance(stage.app.screen, InterruptDialog)
        await stage.press("y")
    assert asked == []
    made.close()


@pytest.mark.system
async def test_an_agent_is_interrupted_and_then_stopped(home: Path) -> None:
    """The question says what the agent does; `s` stops it only once an interrupt was sent."""
    asked = list[str]()
    own = own_row(home)._replace(
        tmux="main:@0.%1", acts=[Act(0, "continue", STEM, "list", "claude --resume", "sent")]
    )
    made = noting(own.path, asked)
    async with at_home([own], config=ON) as stage:
        await stage.press("I")
        await stage.shows("Claude ends the turn, cancels its running calls, writes a result and exits.")
        assert f"{own.agent} {STEM[:8]} · tmux main:@0.%1" in stage.text
        await stage.press("s", "enter")
        assert isinstance(stage.app.screen, InterruptDialog)
        assert "Stop it" not in stage.text
        await stage.press("y")
        await stage.shows("interrupt sent")
        acts = [Act(1, "interrupt", own.id, "list", "SIGINT", "sent")]
        await stage.put(own._replace(agent="tern", acts=acts))
        await stage.press("I")
        await stage.shows("Most agents end the turn and exit; of this one it is not known.")
        await stage.shows("Stop it: SIGTERM to all of its processes, SIGKILL after 10 s")
        await stage.press("s")
        await stage.shows("stop sent")
        await stage.press("I", "escape")
    assert asked == ["interrupt", "stop"]
    made.close()


@pytest.mark.system
async def test_an_agent_is_interrupted_from_its_open_session(home: Path) -> None:
    """The key works in the session that the list has opened as in the list."""
    own, asked = own_row(home), list[str]()
    own.path.parent.mkdir(parents=True)
    shutil.copy(RECORDINGS / "unfinished.ndjson", own.path)
    made = noting(own.path, asked)
    async with at_home([own], config=ON) as stage:
        await stage.open()
        await stage.press("I")
        await stage.shows("Claude ends the turn, cancels its running calls")
        await stage.press("y")
        await stage.shows("interrupt sent")
    assert asked == ["interrupt"]
    made.close()


@pytest.mark.system
async def test_what_cannot_be_interrupted_says_why(home: Path) -> None:
    """Sessions of other machines, of other programs, and ended ones are refused; hostile answers are safe."""
    path = own_row(home).path
    path.parent.mkdir(parents=True)
    path.touch()
    rows = [
        row("remote", host="b\x1b[2Jx", is_own=True),
        row("other"),
        row("ended", State.SUCCEEDED, is_own=True),
        row("left", path=path.with_name("left.ndjson"), is_own=True),
        row("own", path=path, is_own=True),
    ]
    made = Control(path, lambda _: "\x1b]0;x\x07")
    async with at_home(rows, config=ON) as stage:
        for name, words in (
            ("remote", "refused: it is on b␛[2Jx: interrupt it there"),
            ("other", "refused: agentwatch run has not started it"),
            ("ended", "refused: it has ended"),
        ):
            await stage.choose(name)
            await stage.press("I")
            await stage.shows(words)
            assert not isinstance(stage.app.screen, InterruptDialog), name
        for name, words in (
            ("left", "cannot interrupt it: its run process has ended, or was started"),
            ("own", "cannot interrupt it: ␛]0;x␇"),
        ):
            await stage.choose(name)
            await stage.press("I", "y")
            await stage.shows(words)
    made.close()


@pytest.fixture
def own(home: Path) -> Row:
    """Return the row of a recording of our own, which has a log and a name."""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    path = folder / f"{STEM}.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    path.with_suffix(".log").write_text("# a log\n")
    path.with_suffix(".json").write_text(json.dumps({"command": ["agent"], "name": "Old name"}))
    return row(STEM, path=path, is_own=True, title="Old name", agent="agentwatch")


async def test_a_recording_is_renamed_or_deleted(own: Row) -> None:
    """ctrl+r asks for the name, `d` whether to delete; other answers change nothing, faults are reported."""
    async with at_home([own]) as stage:
        # Every other key leaves the files and the list.
        for key in ("escape", "n", "q"):
            await stage.press("d")
            await stage.until(lambda: isinstance(stage.app.screen, DeleteDialog), "the question")
            await stage.press("d", "enter")
            assert isinstance(stage.app.screen, DeleteDialog)
            await stage.press(key)
            await stage.until(lambda: not isinstance(stage.app.screen, DeleteDialog), "the list")
            assert len(list(own.path.parent.iterdir())) == 3
        # Esc keeps the name.
        await stage.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, RenameDialog), "the question")
        await stage.press("x", "escape")
        await stage.until(lambda: stage.app.screen is stage.home, "the list")
        assert json.loads(own.path.with_suffix(".json").read_text())["name"] == "Old name"
        # ctrl+r asks for the name, which `STEM.json` keeps beside what stands there.
        described = own.path.with_suffix(".json")
        await stage.press("ctrl+r")
        await stage.shows("Name of “Old name”")
        await stage.press(*["backspace"] * 8, *"New", "enter")
        await stage.until(lambda: json.loads(described.read_text()).get("name") == "New", "the name")
        assert json.loads(described.read_text())["command"] == ["agent"]
        # A session that is still being recorded is not deleted.
        await stage.begin(own)
        own.path.with_suffix(".json").unlink()
        with own.path.open("ab") as writer:
            hold(writer.fileno())
            await stage.press("d")
            await stage.shows("Delete “Old name”?")
            await stage.press("y")
            await stage.shows("cannot delete the session: it is still being recorded")
        assert own.path.exists()
        # `d` asks with the size of all files, and `y` deletes all of them.
        await stage.begin(own)
        await stage.press("d")
        await stage.shows("Delete “Old name”?")
        size = sum(path.stat().st_size for path in own.path.parent.iterdir())
        assert f"{STEM}.ndjson and the files beside it: {size / 1024:.0f}" in stage.text.replace(" KiB", "")
        await stage.press("y")
        await stage.shows("deleted “Old name”")
        assert not list(own.path.parent.iterdir())
        # The list stays, and a message names the reason.
        await stage.begin(own)
        await stage.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, RenameDialog), "the question")
        await stage.press("x", "enter")
        await stage.shows("cannot rename the session")


@pytest.mark.system
async def test_several_sessions_are_archived_or_deleted(own: Row, home: Path, tmp_path: Path) -> None:
    """`z` archives or restores the marked sessions, `d` deletes those that are recordings of our own."""
    ended = [row(f"e{n}", State.SUCCEEDED, path=own.path) for n in range(2)]
    async with at_home([*ended, row("elsewhere", host="box")]) as stage:
        # `z` notes all marked sessions in a file of ours; the same key on archived ones removes them again.
        await stage.choose("e1")
        await stage.press("v", "v", "z")
        await stage.shows("2 sessions archived")
        assert json.loads((home / "archived.json").read_text()) == {"claude:e0": True, "claude:e1": True}
        await stage.put(*(each._replace(is_archived=True) for each in ended))
        await stage.press("a")
        await stage.choose("e1")
        await stage.press("z")
        await stage.shows("no longer archived")
        assert json.loads((home / "archived.json").read_text()) == {"claude:e0": True}
        await stage.choose("elsewhere")
        await stage.press("z")
        await stage.shows("only sessions of this machine can be archived")
        # What cannot be written is told, and not called archived.
        await stage.put(*ended)
        (home / "archived.json").unlink()
        for name in ("archived.json", "rings.json", "screen.json"):
            (home / name).mkdir()
        await stage.choose("e1")
        await stage.press("z")
        await stage.shows("cannot archive the session: not a regular file")
        await stage.begin(row("works"))
        await stage.press("r")
        await stage.shows("remembered until you quit: rings.json: not a regular file")
        await stage.press("s")
        await stage.shows("not remembered: screen.json: not a regular file")
        # Only recordings of our own can be deleted or renamed.
        path = tmp_path / "claude.jsonl"
        path.write_bytes(b"{}\n")
        await stage.begin(row("one", path=path))
        for key in ("d", "ctrl+r"):
            await stage.begin(row("one", path=path))
            await stage.press(key)
            await stage.shows("only recordings of agentwatch can be changed")
            assert stage.app.screen is stage.home
        # One question names the marked recordings and how many others stay; their marks are removed.
        second = own.path.with_name("20261101-120000-bbbbbb.ndjson")
        shutil.copy(own.path, second)
        other = tmp_path / "claude.jsonl"
        other.write_bytes(b"{}\n")
        rows = [own, row("two", path=second, is_own=True, title="Second"), row("other", path=other)]
        await stage.begin(*rows)
        await stage.press("g", "v", "v", "v", "d")
        for words in ("Delete 2 recordings: ", "“Old name”", "“Second”", "1 of other programs stays"):
            await stage.shows(words)
        await stage.press("y")
        await stage.shows("deleted 2 recordings")
        await stage.until(lambda: "marked" not in stage.text, "no marks")
    assert path.exists()
    assert not list(own.path.parent.iterdir())
    assert other.exists()
