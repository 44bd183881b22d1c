"""`show --why` prints the evidence for the state that the list shows of one session."""

import json
import re
import shutil
from pathlib import Path

import pytest

from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.cli import sessions
from agentwatch.sources.proc import Proc
from tests.builders.lines import init, result, user
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.fake import save as save_made
from tests.builders.machine.made import Story
from tests.builders.machine.rows import row, save
from tests.catalog.started_agents import started
from tests.conftest import RECORDINGS, case
from tests.harness.program import ran

pytestmark = pytest.mark.slow
MONTH_MS = 30 * 24 * 3_600_000
DECIDED = "What decides"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> FakeMachine:
    """Return a machine with three sessions of Claude Code in a folder without processes."""
    fake = fake_machine(tmp_path / "machine", 3, newest_ms=now_ms(), with_captures=False, agents=["claude"])
    for name, value in fake.environ.items():
        monkeypatch.setenv(name, value)
    return fake


def explained(*words: str | Path) -> str:
    """Return what `show --why` prints, after it has ended well."""
    done = ran("show", "--why", *words)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_session_is_explained_by_its_id(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state, the session, and each piece of evidence with its age and its source."""
    (_, name), path = next(iter(machine.made.items()))
    whole = explained(name)
    first, second, blank, heading, turn, source, process, where = whole.splitlines()
    assert first.startswith("✓ succeeded ")
    assert first.endswith(" s ago · reported")
    assert second == f"claude {name}  Run the tests, part 0"
    assert (blank, heading) == ("", DECIDED)
    assert turn.endswith("  The last turn has ended: succeeded.")
    assert source == f"        file {path}"
    assert process.strip().startswith(
        ("No process of claude runs in the folder", "Nothing links this session")
    )
    assert where == "        processes"
    for words in (name[:6], path):
        with case(words):
            assert explained(words).splitlines()[1:4] == whole.splitlines()[1:4]
    # The object has what `sessions --json` prints of the session at that moment, and the evidence
    (_, name) = next(iter(machine.made))
    found = json.loads(explained("--json", name))
    evidence, at_ms = found.pop("evidence"), found.pop("at_ms")
    rows = map(json.loads, ran("sessions", "--json").stdout.splitlines())
    assert found == next(row for row in rows if row["id"] == name)
    assert abs(at_ms - now_ms()) < 20_000
    assert [set(each) for each in evidence] == [{"weight", "what", "source", "since_ms"}] * 2
    assert evidence[0]["since_ms"] == found["since_ms"]
    # Without /proc they are known a moment later, from `ps`
    monkeypatch.setattr(Proc, "exists", lambda _: False)
    (_, name) = next(iter(machine.made))
    assert "processes of this machine are not known" not in explained(name)


@pytest.mark.system
def test_what_is_hidden_or_elsewhere_is_explained(machine: FakeMachine, tmp_path: Path, home: Path) -> None:
    """A session that the list hides is explained as `sessions --all` shows it."""
    story = Story("99999999-0000", str(machine.home), "Old", now_ms() - MONTH_MS, False)
    save_made(machine.home, "claude", story)
    found = json.loads(explained("--json", story.id))
    rows = map(json.loads, ran("sessions", "--json", "--all").stdout.splitlines())
    assert found["state"] == "succeeded"
    assert found.items() >= next(row for row in rows if row["id"] == story.id).items()
    # Nobody knows which of them has the session, and it says what would show it
    folder = tmp_path / "two"
    folder.mkdir()
    with started(["qwen"], folder) as one, started(["qwen"], folder) as other:
        for number in range(2):
            story = Story(f"{number}7777777-0000", str(folder), "Work", now_ms(), True)
            save_made(machine.home, "qwen", story)
        lines = explained(story.id)
        state, *_ = lines.splitlines()
    assert state.startswith("◐ working ")
    assert state.endswith(" · inferred")
    [named] = [line for line in lines.splitlines() if "not known which of them" in line]
    assert {str(one.pid), str(other.pid)} <= set(re.findall("[0-9]+", named))
    assert "What would say more" in lines
    assert "agentwatch run knows the process that it starts" in lines
    # An address of another machine whose list cannot be read is an error, after the reason
    done = ran("show", "--why", "ssh://no-host.invalid/claude/573e587b")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no session of the list is called ssh://no-host.invalid/claude/573e587b" in done.stderr


def test_a_row_is_explained_by_what_names_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both name the row of the recording; so does its path."""
    path = save(1)
    begun = {**json.loads(init()), "session_id": "573e587b-aaaa"}
    path.write_bytes(json.dumps(begun).encode() + b"\n" + user("Raise it.") + result("done"))
    detour = f"{path.parent}/../{path.parent.name}/{path.name}"
    for words in (path.stem, path, detour, begun["session_id"]):
        with case(words):
            assert "No process writes the recording." in explained(words)
    # A moment, a file that is elsewhere, and the beginning of two ids are errors with exit code 2
    path, other = save(1), save(1, random="222abcdef")
    apart = tmp_path / "apart.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", apart)
    for words, message in (
        ("nothing", "no session or file nothing (agentwatch sessions lists them)"),
        (f"{path.stem}#1", f"no session of the list is called {path.stem}#1"),
        (str(apart), "no session of the list is called"),
        ("a\x1b[2Jb", "no session or file 'a␛[2Jb'"),
        (path.stem[:8], "several sessions begin with"),
    ):
        with case(words):
            done = ran("show", "--why", words)
            assert (done.returncode, done.stdout) == (2, b"")
            assert message in done.stderr.decode()
    assert other.exists()
    # The whole address, its beginning, and the short form that `sessions` prints name the same row
    ids = ("0f3a1111aaaa", "0f3a2222bbbb")
    rows = [row(State.ASKS, address=f"nats://team/ci.{name}", host="build1", id=name) for name in ids]
    monkeypatch.setattr(sessions, "of_machines", lambda words, **_: ({row.key: row for row in rows}, words))
    for words in ("ci.0f3a1111aaaa", "0f3a1111aaaa", "ci.0f3a1", "0f3a11"):
        with case(words):
            lines = explained(f"nats://team/{words}")
            assert "nats://team/ci.0f3a1111aaaa" in lines
            assert "build1 reports “asks”." in lines
    for words, message in (
        ("0f3a", "no session of the list"),
        ("ci.0f3a", "several sessions"),
        ("@+5s", "no session"),
        ("ci.0f3a1111aaaa#1", "no session"),
    ):
        with case(words):
            done = ran("show", "--why", f"nats://team/{words}")
            assert done.returncode == 2
            assert message in done.stderr.decode()
