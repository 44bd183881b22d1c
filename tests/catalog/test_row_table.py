"""The table of rows judges sessions, and replaces the rows that differ."""

import json
from pathlib import Path

import pytest

from agentwatch import load
from agentwatch.agents.session_entry import OWN, Metadata, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog import repository
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.digest.reading import Tail
from agentwatch.catalog.local_session import LocalSession, RowTable, without_file
from agentwatch.catalog.row import changed_rows
from agentwatch.session.limits import KnownLimits, Reported
from tests.builders.on_disk.transcript import user
from tests.conftest import case

NOW_MS = 1_795_352_400_000


def test_the_branch_of_a_folder_is_read_once_for_all_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that are judged together have one branch, and the next time the one of then."""
    head = tmp_path / ".git" / "HEAD"
    head.parent.mkdir()
    opened: list[Path] = []

    def first_bytes(path: str, most_bytes: int) -> bytes:
        opened.append(Path(path))
        return Path(path).read_bytes()[:most_bytes]

    monkeypatch.setattr(repository, "first_bytes", first_bytes)
    metadata = Metadata(cwd=str(tmp_path))
    founds = [SessionEntry("claude", f"{number}", tmp_path, 0, 0, metadata=metadata) for number in range(20)]
    table = RowTable({found.key: LocalSession(found) for found in founds}, {})
    for times, branch in enumerate(("main", "fix"), 1):
        head.write_text(f"ref: refs/heads/{branch}\n")
        table.judge({found.key for found in founds}, set(), NOW_MS)
        assert {row.branch for row in table.rows.values()} == {branch}
        assert opened == [head] * times


def test_a_recording_that_is_reported_before_it_is_found_has_a_row() -> None:
    """The first recording of a machine is locked before its folder is known to be one with sessions."""
    reported = StateReport(
        OWN, "20261128-120000-123abcdef", Life.LIVE, 1, state=State.WORKING, began_ms=NOW_MS
    )
    key = OWN, reported.session_id
    session = LocalSession(without_file(key, reported))
    session.reported = reported
    session.join(Life.LIVE, None)
    table = RowTable({key: session}, {})
    table.judge({key}, set(), NOW_MS)
    assert table.rows[key].status.state is State.STARTING


def test_a_session_without_a_branch_shows_none(tmp_path: Path) -> None:
    """Its lines have `HEAD` outside of a repository, and while a commit is checked out."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/later\n")
    file, key = tmp_path / "s.jsonl", ("claude", "s")
    cases = {("main", "HEAD"): ("", None), ("HEAD", "main"): ("main", "main"), (): ("later", None)}
    for branches, (shown, in_session) in cases.items():
        with case(branches):
            given: list[dict[str, str]] = [{"gitBranch": each} for each in branches] or [{}]
            lines = [user("Go", f"{n}", cwd=str(tmp_path), **each) for n, each in enumerate(given)]
            file.write_text("".join(json.dumps(each) + "\n" for each in lines))
            session = LocalSession(SessionEntry(*key, file, file.stat().st_size, 0))
            session.read()
            table = RowTable({key: session}, {})
            table.judge({key}, set(), NOW_MS)
            assert table.rows[key].branch == shown
            assert load(file).run.branch == in_session


def test_only_rows_that_differ_are_replaced(tmp_path: Path) -> None:
    """A row that stays equal stays the same object, so that the list takes only those that differ."""
    sessions = {
        each.key: LocalSession(each)
        for each in (SessionEntry("claude", f"{n}", tmp_path, 0, 0) for n in range(5))
    }
    table = RowTable(sessions, {})
    table.judge(sessions.keys(), set(), NOW_MS)
    first = table.rows
    larger = sessions["claude", "1"]
    larger.found = larger.found._replace(size=5)
    table.judge(sessions.keys(), set(), NOW_MS)
    assert [key for key in sessions if table.rows[key] is not first[key]] == [("claude", "1")]
    # Changed rows are those that are new or another object, in whatever order.
    rows = list(table.rows.values())
    new = rows[2]._replace(title="new")
    for name, before, after, changed in (
        ("equal", rows, rows, []),
        ("replaced", rows, [*rows[:2], new, *rows[3:]], [new]),
        ("appended", rows[:3], rows, rows[3:]),
        ("first", [], rows, rows),
        ("removed", rows, rows[1:], []),
        ("removed and appended", rows[:4], rows[1:], rows[4:]),
        ("another order", rows, rows[::-1], []),
        ("another order, replaced", rows, [new, *rows[:2], *rows[3:]], [new]),
    ):
        with case(name):
            found = changed_rows({row.key: row for row in before}, {row.key: row for row in after})
            assert [id(row) for row in found] == [id(row) for row in changed]


def test_only_the_sessions_of_a_folder_whose_branch_changed_have_moved(tmp_path: Path) -> None:
    """A session has moved while its row shows another branch than its folder has."""
    sessions = {}
    for name in ("a", "b"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        each = LocalSession(
            SessionEntry("claude", name, tmp_path, 0, 0, metadata=Metadata(cwd=str(tmp_path / name)))
        )
        each.life = Life.LIVE
        sessions[each.found.key] = each
    table, (first, second) = RowTable(sessions, {}), sessions
    table.judge(sessions.keys(), set(), NOW_MS)
    assert table.moved(sessions.keys()) == set()
    head = tmp_path / "a" / ".git" / "HEAD"
    head.write_text("ref: refs/heads/fix\n")
    assert table.moved(sessions.keys()) == {first}
    table.judge({first}, set(), NOW_MS)
    assert table.moved(sessions.keys()) == set()
    head.write_text("ref: refs/heads/main\n")
    assert table.moved(sessions.keys()) == {first}
    del sessions[second]
    table.judge({first, second}, set(), NOW_MS)
    assert table.moved(sessions.keys()) == set()
    assert table.rows[first].branch == "main"


def test_a_recording_has_the_title_of_the_same_session(tmp_path: Path) -> None:
    """A stream may lack the prompt: the row of a recording shows that of the agent's own file."""
    own = LocalSession(SessionEntry("agentwatch", "stem", tmp_path, 0, 0))
    own.tail = Tail(own.found)
    own.tail.digest = Digest(agent="codex", session_id="c1")
    agents = LocalSession(SessionEntry("codex", "c1", tmp_path, 0, 0))
    sessions = {each.found.key: each for each in (own, agents)}
    table = RowTable(sessions, {})
    table.twins.note(own.found.key, own)
    assert table.judge(sessions.keys(), set(), NOW_MS) == {own.found.key}
    assert [(key, row.title) for key, row in table.rows.items()] == [(own.found.key, "")]
    agents.found = agents.found._replace(metadata=Metadata(prompt="Fix it"))
    due = table.judge({agents.found.key}, set(), NOW_MS)
    table.judge(due, set(), NOW_MS)
    assert table.rows[own.found.key].title == "Fix it"
    # Otherwise its report would never be shown, or for ever: a stream without times has it first.
    windows = (Reported("5h", 62, None, None), Reported("7d", 9, None, 7))
    own.tail.digest = Digest(began_ms=5, limits=KnownLimits(windows))
    table = RowTable({own.found.key: own}, {})
    table.judge({own.found.key}, set(), NOW_MS)
    assert [each.said_ms for each in table.rows[own.found.key].limits] == [5, 7]
