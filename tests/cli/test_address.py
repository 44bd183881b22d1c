"""An address names a file, stdin or a saved session, and a moment or a call in it."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.analysis.moments import CallEnd, End, Named, Shift, TimeOfDay
from agentwatch.base.faults import Fault
from agentwatch.catalog import session_ids
from agentwatch.cli.address import STDIN, Address, parse_address, whole_address
from tests.builders.continued import THREAD, claude_session, codex_session, stream
from tests.builders.lines import init, user
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.conftest import case
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import PLAIN, ran
from tests.harness.terminal_oracle import copied

NOON = TimeOfDay(12 * 3_600_000 + 999)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def save(home: Path, stem: str, session_id: str) -> Path:
    path = home / "sessions" / f"{stem}.ndjson"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(init(session_id=session_id) + user())
    return path


ADDRESSES: list[tuple[str, str, CallEnd | TimeOfDay | Shift | End | Named | None]] = [
    ("a.ndjson", "a.ndjson", None),
    ("a.ndjson#12", "a.ndjson", CallEnd(12)),
    ("a.ndjson@12:00", "a.ndjson", NOON),
    ("a.ndjson@+95s", "a.ndjson", Shift(95_000)),
    ("a.ndjson@live", "a.ndjson", End.LIVE),
    ("a.ndjson@a name", "a.ndjson", Named("a name")),
    ("a.ndjson@x@y", "a.ndjson", Named("x@y")),
    ("b#1", "b#1", None),
    ("b#1#2", "b#1", CallEnd(2)),
    ("c@12:00", "c@12:00", None),
    ("c@12:00@12:00", "c@12:00", NOON),
    ("a.ndjson/ses_1#2", "a.ndjson/ses_1", CallEnd(2)),
    ("-", "-", None),
    ("-#2", "-", CallEnd(2)),
    ("no/such", "no/such", None),
    ("no.ndjson", "no.ndjson", None),
    ("no/such#2", "no/such", CallEnd(2)),
    ("no.jsonl@12:00", "no.jsonl", NOON),
    ("./me@home", "me@home", None),
    ("dangling", "dangling", None),
]


def test_a_file_and_its_moment_are_parted(folder: Path) -> None:
    """A file with the literal name wins; otherwise the words are split after a file that is there."""
    for name in ("a.ndjson", "b#1", "c@12:00"):
        (folder / name).touch()
    (folder / "dangling").symlink_to("none")
    for words, path, moment in ADDRESSES:
        with case(words):
            assert parse_address(words) == Address(Path(path), moment, words)
    assert Path("-") == STDIN
    # A name that is neither a path nor there is the id of no session
    short = "; at least 6 characters of an id are needed"
    for words, shown in (
        *(("5b0c6a1e", "5b0c6a1e ("), ("5b0c6a1e#2", "5b0c6a1e ("), ("5b0c6a1e@12:00", "5b0c6a1e (")),
        *(("me@home", "me@home ("), ("5b0c", f"5b0c (agentwatch sessions lists them{short})"), ("", "'' (")),
        *(("#2", "'#2' ("), ("\x1b[2J" * 99, "'␛[2J␛[2J")),
    ):
        with case(words), pytest.raises(Fault, match=re.escape(f"no session or file {shown}")) as raised:
            parse_address(words)
        assert raised.value.exit_code == 2
    # After the name of a file that is there, anything but a moment is an error
    for words, reason in (
        ("a.ndjson#two", "a.ndjson#two: #two is not a call; a moment is "),
        ("a.ndjson#", "a.ndjson#: # is not a call; a moment is "),
        ("a.ndjson#0", "a.ndjson#0: #0 is not a call: calls are counted from #1"),
        ("a.ndjson@", "a.ndjson@: a moment is 14:03:07, +95s"),
        ("a.ndjson@25:00", "a.ndjson@25:00: 25:00 is not a time of day"),
    ):
        with case(words):
            with pytest.raises(Fault) as raised:
                parse_address(words)
            assert str(raised.value).startswith(reason)
            assert raised.value.exit_code == 2


def test_saved_sessions_are_found_by_their_ids(folder: Path, home: Path) -> None:
    """An id or a stem, or at least 6 characters of either, is an address, also with a moment."""
    first = save(home, "20261120-140307-123abcdef", "d3410ecf-7a95")
    second = save(home, "20261121-150307-456abcdef", "d3410fff-0000")
    assert parse_address("20261120-140307-123abcdef").path == first
    assert parse_address("20261121").path == second
    assert parse_address("d3410ecf-7a95#3") == Address(first, CallEnd(3), "d3410ecf-7a95#3")
    assert parse_address("d3410f@12:00") == Address(second, NOON, "d3410f@12:00")
    with pytest.raises(Fault, match="at least 6 characters"):
        parse_address("d3410")
    (folder / "d3410f").touch()
    assert parse_address("d3410f").path == Path("d3410f")
    # The error names the sessions; a whole id of two recordings is that of the newer one
    for nth in range(5):
        save(home, f"20261120-14030{nth}-123abcdef", f"abcdef-{nth}")
    newest = save(home, "20261121-140307-123abcdef", "abcdef-0")
    with pytest.raises(
        Fault, match=r"several sessions begin with abcdef: abcdef-0, abcdef-4, abcdef-3 and 2 more"
    ):
        parse_address("abcdef")
    assert parse_address("abcdef-0").path == newest


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A machine on which all agents have sessions."""
    built = fake_machine(tmp_path / "machine", 30)
    for name, value in built.environ.items():
        monkeypatch.setenv(name, value)
    return built


@pytest.mark.system
def test_a_session_of_any_agent_is_found_by_its_id(folder: Path, machine: FakeMachine) -> None:
    """The id of each session on this machine is an address, or says why it cannot be opened."""
    agents = set()
    for (agent, session_id), path in machine.sessions.items():
        if len(session_id) < 6:
            continue
        try:
            found = parse_address(f"{session_id}#1")
        except Fault as fault:
            assert "only the metadata can be read" in str(fault)  # noqa: PT017 - some can be opened
            continue
        assert os.path.realpath(found.path) == os.path.realpath(path), agent
        assert found.moment == CallEnd(1)
        agents.add(agent)
    assert agents >= {"claude", "codex", "gemini", "qwen", "opencode", "pi", "copilot"}


def test_sessions_of_any_agent_are_found_after_recordings(folder: Path, machine: FakeMachine) -> None:
    """The first characters that no other session has are enough; fewer are an error that names some."""
    projects = machine.home / ".claude" / "projects" / "-src-api"
    projects.mkdir(parents=True)
    ids = [f"cafe00{nth}1-7a95-4b1e-9d2c-0123456789ab" for nth in range(2)]
    paths = [projects / f"{session_id}.jsonl" for session_id in ids]
    for path in paths:
        path.write_bytes(next(iter(machine.made.values())).read_bytes())
    with pytest.raises(
        Fault, match=f"several sessions begin with cafe00: ({ids[0]}, {ids[1]}|{ids[1]}, {ids[0]})"
    ):
        parse_address("cafe00")
    assert parse_address("cafe000").path == paths[0]
    assert parse_address("cafe001@12:00") == Address(paths[1], NOON, "cafe001@12:00")
    # Of a session that was recorded and that its agent has kept too, the recording is opened
    key, path = next(iter(machine.made.items()))
    assert os.path.realpath(parse_address(key[1]).path) == os.path.realpath(path)
    assert key[0] == "claude"
    recording = save(Path(machine.environ["AGENTWATCH_HOME"]), "20261120-140307-123abcdef", key[1])
    recording.write_text(stream(key[1]))
    assert parse_address(key[1]).path == recording
    assert parse_address(key[1][:-1]).path == recording


@pytest.mark.slow
def test_an_id_that_two_agents_have_is_refused_by_every_command(folder: Path, home: Path) -> None:
    """An imported session may have the id of another agent's: the error has both addresses, which work."""
    claude = claude_session(str(folder), THREAD)
    codex_session(str(folder), sandbox="read-only")
    for command in (
        *(
            ["--print"],
            ["show"],
            ["show", "--why"],
            ["-p", "--times"],
            ["doctor"],
            ["export", "--to", "markdown", "-o", "-"],
        ),
        *(
            ["check", "--forbid", "tool:x"],
            ["continue", "--dry-run"],
            ["replay", "--print"],
            ["export", "--to", "recording", "-o", "x"],
        ),
    ):
        with case(command):
            more = ["go"] if command[0] == "continue" else []
            done = ran(*command, THREAD, *more)
            assert (done.returncode, done.stdout) == (2, b"")
            words, _, addresses = done.stderr.decode().strip().rpartition(": ")
            assert words == f"agentwatch: several agents have a session {THREAD}"
            assert set(addresses.split(", ")) == {f"claude:{THREAD}", f"codex:{THREAD}"}
    for agent, program in (("claude", b"claude -p"), ("codex", b"codex exec resume")):
        with case(agent):
            for given in (f"{agent}:{THREAD}", f"{agent}:{THREAD[:8]}"):
                assert ran("continue", "--dry-run", given, "go").stdout.startswith(program)
                explained = json.loads(ran("show", "--why", "--json", given).stdout)
                assert (explained["agent"], explained["id"]) == (agent, THREAD)
    assert parse_address(f"claude:{THREAD}#1") == Address(claude, CallEnd(1), f"claude:{THREAD}#1")
    # The beginning of the id is as ambiguous; another agent has no such session; a file comes first
    with pytest.raises(Fault, match=rf"begin with {THREAD[:8]}: \w+:{THREAD}, \w+:{THREAD}$"):
        parse_address(THREAD[:8])
    for agent in ("pi", "other"):
        with pytest.raises(Fault, match=f"no session or file {agent}:{THREAD}"):
            parse_address(f"{agent}:{THREAD}")
    (folder / f"claude:{THREAD}").touch()
    assert parse_address(f"claude:{THREAD}").path == Path(f"claude:{THREAD}")
    # A recording is a session of the agent that wrote it
    recording = save(home, "20261120-140307-123abcdef", THREAD)
    recording.write_text(stream(THREAD))
    assert parse_address("20261120-140307-123abcdef").path == recording
    (folder / f"claude:{THREAD}").unlink()
    assert parse_address(f"claude:{THREAD}").path == recording
    assert ran("show", "--why", THREAD).returncode == 2


def test_the_machine_is_searched_once_and_only_for_an_id(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the sessions folder cannot be read, the error is that nothing is called so."""
    home.mkdir()
    (home / "sessions").write_bytes(b"")
    done = ran("show", "missing", cwd=folder)
    said = b"agentwatch: no session or file missing (agentwatch sessions lists them)\n"
    assert (done.returncode, done.stderr) == (2, said)
    # For a plain file, with or without a moment, the sessions of the machine are not searched
    (folder / "a.ndjson").touch()
    monkeypatch.setattr(session_ids, "_known", lambda: pytest.fail("the machine was searched"))
    for words in ("a.ndjson", "a.ndjson#2", "-", "-#2", str(folder / "missing"), "a.b"):
        parse_address(words)
    # An address with many signs is looked up in one list of the sessions
    searches: list[int] = []

    def known() -> Iterator[session_ids.Named[Any]]:
        searches.append(1)
        return iter(())

    monkeypatch.setattr(session_ids, "_known", known)
    with pytest.raises(Fault, match="no session or file"):
        parse_address("missing#1#2#3@4@5")
    assert searches == [1]


def test_a_command_for_whole_recordings_refuses_a_moment(folder: Path) -> None:
    """The error is one line; for a printed session it names the command that prints a moment."""
    (folder / "a.ndjson").write_bytes(PLAIN.read_bytes())
    assert whole_address("a.ndjson", "doctor").path == Path("a.ndjson")
    for words, said in (
        ("-p --times a.ndjson#1", "try agentwatch show 'a.ndjson#1'\n"),
        ("doctor a.ndjson#1", "agentwatch: doctor takes a whole recording, not a moment of it: a.ndjson\n"),
        ("-p a.ndjson@50%", "try agentwatch show a.ndjson@50%\n"),
    ):
        with case(words):
            done = ran(*words.split(), cwd=folder)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert done.stderr.decode().endswith(said)


@pytest.mark.system
def test_an_address_is_copied_and_opened() -> None:
    """`y` on a call copies its address and its action, and the address opens the call again."""
    with in_terminal(str(PLAIN)) as terminal:
        terminal.wait_for("succeeded in 8.7 s")
        terminal.wait_for("#2 Edited file")
        terminal.press("2gy", "copied #1 with its address")
        terminal.wait_until(lambda: len(copied(terminal.raw)) == 1, 20, "the copy")
        (text,) = copied(terminal.raw)
        terminal.leave()
    address, action = f"{PLAIN}#1", "Read file lantern/settings.py (6 lines)"
    assert text == f"{address} {action}"
    assert ran("show", address).stdout.decode().splitlines()[0] == f"#1 {action}"
    # The screen opens for `FILE#2` and for `FILE@50%`
    for words in ("#2", "@50%"):
        with in_terminal(f"{PLAIN}{words}") as terminal:
            terminal.wait_for("lantern/settings.py")
            terminal.leave()
    # A device, a FIFO or stdin has no moment that was recorded before
    for path in ("/dev/null", "-"):
        with in_terminal("--", f"{path}@50%") as terminal:
            terminal.wait_for(f"agentwatch: {path} is a stream, whose moments are not recorded yet")
            assert terminal.wait_exit() == 2
