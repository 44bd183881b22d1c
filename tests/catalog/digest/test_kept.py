"""The rows of sessions whose digests were kept are those that reading their lines gives."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import OWN, Key, SessionEntry
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.digest import kept, reading
from agentwatch.catalog.joining import Joins, SessionJoin
from agentwatch.catalog.row import Row
from agentwatch.cli.sessions import Wanted, chosen
from agentwatch.session.counts import Use, Uses
from agentwatch.session.events import Tokens
from agentwatch.sources.proc import Proc
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.conftest import case

Rows = dict[Key, Row]


class Listed:
    """A machine whose lists keep what they read. It notes which sessions the last list has read. Its only
    process is that of the test."""

    def __init__(self, fake: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake, self.read, self.at_ms = fake, set[Key](), now_ms()
        self._proc = fake.home / "proc"
        self._proc.mkdir()
        for name in ("self", str(os.getpid())):
            (self._proc / name).symlink_to(Path("/proc", name))
        self.file = Path(fake.environ["AGENTWATCH_HOME"], "digests.jsonl")
        update = reading.Tail.update

        def noted(tail: reading.Tail) -> bool:
            self.read.add(tail.found.key)
            return update(tail)

        monkeypatch.setattr(reading.Tail, "update", noted)
        monkeypatch.setattr(kept, "_WORTH_BYTES", 1)

    def rows(self, wanted: Wanted | None = None) -> Rows:
        """Return the rows of a new list, which reads all sessions or those that are wanted."""
        self.read.clear()
        machine = Machine(self.fake.environ, self.fake.home, proc=Proc(self._proc))
        machine.wants_all = True
        if wanted is not None:
            machine.since_ms, machine.agents = wanted.since_ms, wanted.agents
        machine.settle(self.at_ms)
        return dict(machine.rows)

    def as_read(self) -> Rows:
        """Return the rows of a list that has nothing to begin with."""
        self.file.unlink(missing_ok=True)
        return self.rows()


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listed:
    """Return a machine with the captures of all agents and 30 made sessions."""
    return Listed(fake_machine(tmp_path, 30, newest_ms=now_ms()), monkeypatch)


def same(rows: Rows, expected: Rows) -> None:
    """Assert that rows are equal, member by member."""
    assert rows.keys() == expected.keys()
    for key, row in rows.items():
        for name in Row._fields:
            with case((key, name)):
                assert getattr(row, name) == getattr(expected[key], name)


@pytest.mark.system
def test_rows_of_kept_digests_are_those_of_reading(listed: Listed) -> None:
    """Every capture has the same row from its kept digest, and only what has changed is read again."""
    expected = listed.as_read()
    assert len(listed.read) > 50
    same(listed.rows(), expected)
    always = {*listed.read}
    assert not {key for key in always if expected[key].parent is None and expected[key].calls is not None}
    assert listed.file.stat().st_mode & 0o777 == 0o600

    claude = next(path for key, path in listed.fake.made.items() if key[0] == "claude")
    nested = claude.with_suffix("") / "subagents" / "agent-a1.jsonl"
    line = {"type": "custom-title", "customTitle": "The lows", "sessionId": claude.stem}

    def rewritten() -> None:
        status = claude.stat()
        claude.write_bytes(claude.read_bytes().replace(b"part", b"Part"))
        os.utime(claude, ns=(status.st_atime_ns, status.st_mtime_ns + 1))

    def with_subagent() -> None:
        nested.parent.mkdir(parents=True)
        nested.write_bytes(claude.read_bytes())

    changes: dict[str, Callable[[], object]] = {
        "a line more": lambda: claude.write_bytes(claude.read_bytes() + json.dumps(line).encode() + b"\n"),
        "other bytes of the same size": rewritten,
        "another file": lambda: Path(shutil.copy(claude, f"{claude}.x")).replace(claude),
        "a subagent": with_subagent,
        "a line more of the subagent": lambda: nested.write_bytes(nested.read_bytes() * 2),
        "no subagent": lambda: shutil.rmtree(nested.parent.parent),
    }
    for name, change in changes.items():
        with case(name):
            change()
            found = listed.rows()
            stem = "agent-a1" if "a subagent" in name or "the subagent" in name else claude.stem
            assert listed.read - always == ({("claude", stem)} if name != "no subagent" else set())
            listed.rows()
            assert ("claude", claude.stem) not in listed.read
            same(found, listed.as_read())
    claude.unlink()
    listed.rows()
    assert os.fsencode(claude) not in listed.file.read_bytes()


def test_a_damaged_file_is_made_again(listed: Listed) -> None:
    """Whatever is in the place of the file, the rows are right; it is replaced if that is possible."""
    expected = listed.as_read()
    whole = listed.file.read_bytes()
    first, rest = whole.split(b"\n", 1)
    header = json.loads(first)
    other = json.dumps({**header, "made_by": ["0.0.1", *header["made_by"][1:]]}).encode()
    odd = dict(zip(header["places"], ([], "x", [1], [None] * 3, {}) * 20, strict=False))
    contents = {
        "empty": b"",
        "no line": b"\0" * 100,
        "no object": b"[1]\n",
        "deep": b"[" * 10_000 + b"\n",
        "cut": whole[: len(whole) // 2],
        "no rest": first + b"\n",
        "other letters": whole.replace(b"part", b"Part"),
        "another version": other + b"\n" + rest,
        "odd places": json.dumps({**header, "places": odd}).encode() + b"\n" + rest,
        "no places": json.dumps({**header, "places": 1}).encode() + b"\n" + rest,
    }
    for name, content in contents.items():
        with case(name):
            listed.file.write_bytes(content)
            same(listed.rows(), expected)
            assert listed.read
            same(listed.rows(), expected)
            assert ("claude", "") not in listed.read
            assert len(listed.read) < 20
    elsewhere = listed.file.with_name("elsewhere")
    elsewhere.write_bytes(whole)
    listed.file.unlink()
    listed.file.symlink_to(elsewhere)
    same(listed.rows(), expected)
    assert len(listed.read) > 50
    listed.file.unlink()
    listed.file.mkdir()  # nothing can be written there
    same(listed.rows(), expected)
    same(listed.rows(), expected)
    assert len(listed.read) > 50


def test_values_that_are_not_those_of_a_digest_are_none(tmp_path: Path) -> None:
    """An entry with a right checksum and wrong values is read from the session, and never raises."""
    from agentwatch.catalog.digest.digest import Digest

    found = SessionEntry("claude", "a", tmp_path / "a.jsonl", 1, 2, 3)
    identity = kept.identity_of(found, (), is_brief=False)
    assert identity is not None
    digests = kept.KeptDigests({"AGENTWATCH_HOME": str(tmp_path)})
    digests.add(identity, Digest(title="\ud800"))
    digests.add(identity, Digest(calls=1 << 70))
    assert not digests._new
    digests.add(identity, Digest(title="t" * (1 << 15)))
    assert not digests._new
    digests.add(identity, Digest(title="t"))
    [entry] = digests._new.values()
    assert kept._kept(entry, identity) == Digest(title="t")
    values = json.loads(entry)
    used = Uses(
        by_request=False, model="m", others={Use("m", None, 0): Tokens(3), Use(None, 5, 9): Tokens(4)}
    )
    digests.add(identity, Digest(uses=used))
    assert kept._kept(digests._new[str(found.path)], identity) == Digest(uses=used)
    odd: object
    for odd in ([], {}, None, 7, [values[0]], [values[0], None], [values[0], values[1][:-1]], [*values, 1]):
        with case(odd):
            assert kept._kept(json.dumps(odd).encode(), identity) is None
    for at in range(len(values[1])):
        for odd in ("x", 7, [7], {"a": 7}):
            with case((at, odd)):
                changed = [*values[1][:at], odd, *values[1][at + 1 :]]
                found_as = kept._kept(json.dumps([values[0], changed]).encode(), identity)
                assert found_as is None or type(odd) in (str, int, dict)
    assert kept.identity_of(found._replace(agent="of-a-plug-in"), (), is_brief=False) is None


def test_the_file_is_bounded(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest sessions are kept, and large ones are not."""
    monkeypatch.setattr(kept, "_MOST_SESSIONS", 5)
    rows = listed.as_read()
    places = json.loads(listed.file.read_bytes().split(b"\n", 1)[0])["places"]
    assert len(places) == 5
    newest = sorted(listed.fake.made.values(), key=lambda path: -path.stat().st_mtime_ns)[:5]
    assert set(places) <= {os.fspath(path) for path in (*newest, *listed.fake.captured.values())}
    monkeypatch.setattr(kept, "_MOST_BYTES", 1 << 12)
    same(listed.as_read(), rows)
    assert listed.file.stat().st_size < 1 << 13


def test_a_session_that_runs_is_read(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kept digest is that of an end: a session whose process runs again is read as without it."""
    listed.as_read()
    key = next(key for key in listed.fake.made if key[0] == "claude")
    stat = Proc().stat(os.getpid())
    record = {"pid": os.getpid(), "procStart": f"{stat.began if stat else 0}", "sessionId": key[1]}
    registry = listed.fake.home / ".claude" / "sessions"
    registry.mkdir(parents=True, exist_ok=True)
    (registry / f"{os.getpid()}.json").write_text(json.dumps(record))
    rows = listed.rows()
    assert key in listed.read
    assert rows[key].pid == os.getpid()
    same(rows, listed.as_read())
    # A process without a name or a file of its own may have any session of its folder.
    monkeypatch.setattr(Proc, "exists", lambda _: False)
    monkeypatch.setattr(Joins, "processes", None)
    rows = listed.rows()
    unknown = {key for key, row in rows.items() if row.status.state is State.UNKNOWN}
    assert len(unknown & listed.read) > 20
    fresh = listed.as_read()
    # Of a file as large as that of Kimi Code, a new list reads the end only, and a kept digest knows more.
    large = {key for key in fresh if key[0] == "kimi" and fresh[key].calls is None}
    same({key: rows[key] for key in rows.keys() - large}, {key: fresh[key] for key in fresh.keys() - large})


def test_what_a_filter_excludes_is_not_opened(listed: Listed) -> None:
    """`--since` and `--agent` read only what they may print, and print what they print without that."""
    every = listed.as_read()
    hour_ms = listed.at_ms - 3_600_000
    for name, wanted in {
        "since": Wanted(since_ms=hour_ms),
        "agent": Wanted(agents=frozenset({"codex"})),
        "both": Wanted(agents=frozenset({"claude", "codex"}), since_ms=hour_ms),
    }.items():
        with case(name):
            listed.file.unlink(missing_ok=True)
            some = listed.rows(wanted)
            printed, whole = (chosen(each, wanted, listed.at_ms) for each in (some, every))
            assert printed == whole
            assert printed.rows
            for key in listed.read:
                with case(key):
                    assert not wanted.agents or key[0] in {*wanted.agents, OWN}
                    assert wanted.since_ms is None or every[key].path.stat().st_mtime >= hour_ms / 1000 - 61


def test_reading_joins_sessions_again_only_if_that_may_change_something(
    listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a session that ended before any process began is of no use to join it."""
    join_all, times = Joins.join_all, list[int]()

    def noted(joins: Joins, at_ms: int) -> Mapping[Key, SessionJoin]:
        times.append(at_ms)
        return join_all(joins, at_ms)

    monkeypatch.setattr(Joins, "join_all", noted)
    seconds = iter(range(100_000))
    machine = Machine(listed.fake.environ, listed.fake.home, clock=lambda: next(seconds) / 50)
    steps = 1
    while machine.step(listed.at_ms):
        steps += 1
    assert steps > 20
    assert len(times) * 2 < steps
