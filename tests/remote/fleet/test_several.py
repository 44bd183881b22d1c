"""Several sources are one list, in which none holds up the others and no session appears twice.
Recordings of this machine name the sessions as which they are published."""

import os
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

import orjson
import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.row import Row, Watched
from agentwatch.remote import lists
from agentwatch.remote.engine import RemoteError, StoredCard
from agentwatch.remote.lists import Published, Several
from agentwatch.text.safe import SafeText
from tests.builders.machine.fake import fake_machine
from tests.conftest import case
from tests.harness.processes import until
from tests.remote.fleet.made import (
    NOW_MS,
    MadeArchive,
    card,
    fleet_of,
    key,
    named,
    step_until,
    threads_of_cards,
)


class MadeHost:
    """A source whose rows a test sets."""

    def __init__(self, rows: Mapping[Key, Row] | None = None) -> None:
        self.address = "ssh://made"
        self.rows = rows or {}
        self.is_found = True
        self.wants_all = False
        self.is_still = True
        self.in_view: AbstractSet[Key] | None = None
        self.problem = SafeText("")
        self.notes: tuple[SafeText, ...] = ()
        self.is_closed = False

    def step(self, now_ms: int) -> bool:
        """Do nothing."""
        assert now_ms
        return False

    def facts(self, key: Key) -> None:
        """Return nothing: its rows are made."""

    def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True


def by_number(*lists: Watched) -> dict[str, Watched]:
    """Return lists of sessions by addresses of their own."""
    return {f"list{number}": each for number, each in enumerate(lists)}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again soon."""
    monkeypatch.setattr(lists, "_LEAST_PAUSE", 0.01)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[MadeArchive]:
    """Yield an archive that never answers. Each is called silent soon, and its thread ends with the test."""
    monkeypatch.setattr(lists, "_SILENT_SECONDS", 0.1)
    monkeypatch.setattr(lists, "_CLOSE_SECONDS", 0.05)
    archive = MadeArchive()
    archive.hangs = True
    yield archive
    archive.hangs = False
    until(lambda: threads_of_cards() == [])


def local(tmp_path: Path, count: int = 3) -> Machine:
    """Return this machine, with made sessions."""
    fake = fake_machine(tmp_path, count, newest_ms=now_ms(), with_captures=False)
    return Machine(fake.environ, fake.home)


def test_the_rows_of_all_sources_are_one_list(tmp_path: Path) -> None:
    """Sessions of this machine, of an engine and of a host stand in one mapping."""
    archive = MadeArchive()
    archive.put(StoredCard(named(1), card(), 0.0))
    host = MadeHost()
    several = Several(local(tmp_path), by_number(fleet_of(archive), host), tmp_path / "sessions")
    step_until(several, lambda: several.is_found)
    assert len(several.rows) == 4
    assert several.rows[key(1)].host == "build1"
    archive.put(StoredCard(named(1), b"", 0.0))
    step_until(several, lambda: key(1) not in several.rows)
    several.close()
    assert host.is_closed
    # A list that is printed waits for those that answer, and not for the rest of the time.
    archive = MadeArchive()
    archive.put(StoredCard(named(1), card(), 0.0))
    failing = MadeArchive()
    failing.error = RemoteError("connection refused")
    several = Several(
        local(tmp_path / "settling"), by_number(fleet_of(archive), fleet_of(failing, "gone")), tmp_path
    )
    several.settle(60)
    assert len(several.rows) == 4
    assert [bool(each.problem) for each in several.elsewhere.values()] == [False, True]
    several.close()
    # A damaged file of this machine is a line of the common list too, behind the problems of machines.
    damaged = tmp_path / "machine" / "home" / ".local" / "share" / "opencode" / "opencode.db"
    here = local(tmp_path / "machine")
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    host = MadeHost()
    host.problem, host.notes = SafeText("x"), (SafeText("ssh://made: no answer"),)
    several = Several(here, by_number(host), tmp_path / "sessions")
    step_until(several, lambda: len(several.notes) == 2)
    assert several.notes[0] == "ssh://made: no answer"
    assert "opencode.db" in several.notes[1]
    several.close()


def test_the_list_is_the_same_object_while_nothing_changes(tmp_path: Path) -> None:
    """Rows of several sources are put together only when one of them has changed."""
    hosts = [MadeHost(), MadeHost()]
    several = Several(None, by_number(*hosts), tmp_path)
    several.step(now_ms())
    before = several.rows
    several.step(now_ms())
    assert several.rows is before
    hosts[1].rows = {}
    several.step(now_ms())
    assert several.rows is not before
    # Where there is room for a few lines, they say what does not answer.
    hosts = [MadeHost(), MadeHost()]
    hosts[0].notes = (SafeText("a: an old server"),)
    assert not Several(None, by_number(*hosts), tmp_path).problem
    hosts[1].problem = SafeText("no answer")
    assert Several(None, by_number(*hosts), tmp_path).problem
    hosts[1].notes = (SafeText("b: no answer"), SafeText("b: an old server"))
    notes = Several(None, by_number(*hosts), tmp_path).notes
    assert notes == ("b: no answer", "a: an old server", "b: an old server")
    # What the user asks for is passed on to all sources.
    here, host = local(tmp_path, 0), MadeHost()
    several = Several(here, by_number(host), tmp_path)
    assert not several.wants_all
    several.wants_all = True
    assert (here.wants_all, host.wants_all) == (True, True)


def test_several_lists_are_still_if_each_is() -> None:
    """A list that must be read twice a second has all of them read so."""
    hosts = [MadeHost(), MadeHost()]
    several = Several(None, by_number(*hosts), Path())
    assert several.is_still
    hosts[1].is_still = False
    assert not several.is_still


def test_a_published_session_of_this_machine_appears_once(tmp_path: Path) -> None:
    """The row of the engine is left out while the recording is here, and comes back when it is deleted."""
    archive = MadeArchive()
    archive.put(StoredCard(named(1), card(), 0.0), StoredCard(named(2), card(), 0.0))
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "a.ndjson").touch()
    (folder / "a.ship").write_bytes(orjson.dumps({"to": "nats://team", "session": str(named(1))}))
    several = Several(local(tmp_path, 0), by_number(fleet_of(archive)), folder)
    step_until(several, lambda: several.rows)
    assert {*several.rows} == {key(2)}
    (folder / "a.ndjson").unlink()
    at_ms = now_ms() + 10_000
    step_until(several, lambda: {*several.rows} == {key(1), key(2)}, at_ms)
    several.close()
    # A list of an engine alone shows the sessions of this machine that are published there.
    archive = MadeArchive()
    archive.put(StoredCard(named(1), card(), 0.0))
    (tmp_path / "a.ndjson").touch()
    (tmp_path / "a.ship").write_bytes(orjson.dumps({"session": str(named(1))}))
    several = Several(None, by_number(fleet_of(archive)), tmp_path)
    step_until(several, lambda: key(1) in several.rows)
    several.close()


def test_a_source_that_hangs_holds_up_no_other(tmp_path: Path, hanging: MadeArchive) -> None:
    """The rows of the others are listed while one never answers, and the one that hangs is named."""
    # A source that hangs is given up after the time.
    several = Several(None, by_number(fleet_of(hanging)), tmp_path)
    several.settle(0.3)
    assert several.notes == ("team: no answer yet",)
    several.close()
    failing, good = MadeArchive(), MadeArchive()
    failing.error = RemoteError("connection refused")
    good.put(StoredCard(named(1), card(), 0.0))
    fleets = [fleet_of(each, name) for each, name in ((hanging, "slow"), (failing, "gone"), (good, "team"))]
    several = Several(local(tmp_path), by_number(*fleets), tmp_path / "sessions")

    def named_sources() -> list[str]:
        return [note.partition(":")[0] for note in several.notes]

    step_until(several, lambda: several.is_found and named_sources() == ["slow", "gone"])
    assert len(several.rows) == 4
    several.close()


def sidecar(folder: Path, stem: str, content: object, *, is_recorded: bool = True) -> None:
    """Write a file that says as which session a recording is published."""
    content = {"to": "nats://team", **content} if isinstance(content, dict) else content
    (folder / f"{stem}.ship").write_bytes(orjson.dumps(content))
    if is_recorded:
        (folder / f"{stem}.ndjson").touch()


def test_published_recordings_are_known_by_their_sessions(tmp_path: Path) -> None:
    """A file beside a recording names its session; later ones are found within two seconds."""
    sidecar(tmp_path, "a", {"session": str(named(1))})
    published = Published(tmp_path)
    before = published.sessions(NOW_MS)
    assert before == {str(named(1))}
    sidecar(tmp_path, "b", {"session": str(named(2))})
    assert published.sessions(NOW_MS + 1_000) is before
    assert published.sessions(NOW_MS + 2_001) == {str(named(1)), str(named(2))}
    (tmp_path / "a.ndjson").unlink()
    assert published.sessions(NOW_MS + 5_000) == {str(named(2))}
    # What an agent may have written beside its recording is data.
    (folder := tmp_path / "content").mkdir()
    for content in CONTENTS:
        with case(content):
            sidecar(folder, "a", content)
            assert Published(folder).sessions(NOW_MS) == frozenset()
    # A file that was left behind hides nothing.
    (folder := tmp_path / "without").mkdir()
    sidecar(folder, "a", {"session": str(named(1))}, is_recorded=False)
    assert Published(folder).sessions(NOW_MS) == frozenset()
    # A pipe or a folder of this name, and a missing folder of sessions, name no session.
    (folder := tmp_path / "no file").mkdir()
    os.mkfifo(folder / "a.ship")
    (folder / "b.ship").mkdir()
    for stem in ("a", "b"):
        (folder / f"{stem}.ndjson").touch()
    assert Published(folder).sessions(NOW_MS) == frozenset()
    assert Published(folder / "missing").sessions(NOW_MS) == frozenset()
    # A folder with many published recordings does not hold up the list; the newest are read first.
    (folder := tmp_path / "many").mkdir()
    for number in range(250):
        sidecar(folder, f"{number:03}", {"session": str(named(number))})
    published = Published(folder)
    assert published.sessions(NOW_MS) == {str(named(number)) for number in range(50, 250)}
    assert len(published.sessions(NOW_MS + 3_000)) == 250


CONTENTS: list[object] = [
    {},
    [],
    "x",
    {"session": 7},
    {"session": "ci"},
    {"session": f"{named(1)}x"},
    {"session": ["a"]},
]
