"""The judge keeps the rows of sessions."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.machine import repository
from agentwatch.machine.judge import Judge
from agentwatch.machine.process import Life
from agentwatch.machine.row import changed_rows
from agentwatch.machine.tracked import Tracked
from agentwatch.wire.found import Found, Metadata
from tests.conftest import case

NOW_MS = 1_795_352_400_000


def test_the_branch_of_a_folder_is_read_once_for_all_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that are judged together have one branch, and the next time the one of then."""
    head = tmp_path / ".git" / "HEAD"
    head.parent.mkdir()
    opened: list[Path] = []

    def open_regular(path: Path) -> int:
        opened.append(path)
        return os.open(path, os.O_RDONLY)

    monkeypatch.setattr(repository, "open_regular", open_regular)
    metadata = Metadata(cwd=str(tmp_path))
    founds = [Found("claude", f"{number}", tmp_path, 0, 0, metadata=metadata) for number in range(20)]
    judge = Judge({found.key: Tracked(found) for found in founds}, {})
    for times, branch in enumerate(("main", "fix"), 1):
        head.write_text(f"ref: refs/heads/{branch}\n")
        judge.judge({found.key for found in founds}, set(), NOW_MS)
        assert {row.branch for row in judge.rows.values()} == {branch}
        assert opened == [head] * times


def test_a_row_that_stays_equal_stays_the_same_object(tmp_path: Path) -> None:
    """Only the rows that differ are replaced, so that the list takes only those."""
    sessions = {
        each.key: Tracked(each) for each in (Found("claude", f"{n}", tmp_path, 0, 0) for n in range(3))
    }
    judge = Judge(sessions, {})
    judge.judge(sessions.keys(), set(), NOW_MS)
    before = judge.rows
    changed = sessions["claude", "1"]
    changed.found = changed.found._replace(size=5)
    judge.judge(sessions.keys(), set(), NOW_MS)
    assert [key for key in sessions if judge.rows[key] is not before[key]] == [("claude", "1")]


def test_only_the_sessions_of_a_folder_whose_branch_changed_have_moved(tmp_path: Path) -> None:
    """A session has moved while its row shows another branch than its folder has."""
    sessions = {}
    for name in ("a", "b"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        each = Tracked(Found("claude", name, tmp_path, 0, 0, metadata=Metadata(cwd=str(tmp_path / name))))
        each.life = Life.LIVE
        sessions[each.found.key] = each
    judge, (first, second) = Judge(sessions, {}), sessions
    judge.judge(sessions.keys(), set(), NOW_MS)
    assert judge.moved(sessions.keys()) == set()
    head = tmp_path / "a" / ".git" / "HEAD"
    head.write_text("ref: refs/heads/fix\n")
    assert judge.moved(sessions.keys()) == {first}
    judge.judge({first}, set(), NOW_MS)
    assert judge.moved(sessions.keys()) == set()
    head.write_text("ref: refs/heads/main\n")
    assert judge.moved(sessions.keys()) == {first}
    del sessions[second]
    judge.judge({first, second}, set(), NOW_MS)
    assert judge.moved(sessions.keys()) == set()
    assert judge.rows[first].branch == "main"


def test_changed_rows_are_those_that_are_new_or_another_object(tmp_path: Path) -> None:
    """Whether rows were replaced in their places, appended, removed or put in another order."""
    sessions = {
        each.key: Tracked(each) for each in (Found("claude", f"{n}", tmp_path, 0, 0) for n in range(5))
    }
    judge = Judge(sessions, {})
    judge.judge(sessions.keys(), set(), NOW_MS)
    rows = list(judge.rows.values())
    new = replace(rows[2], title="new")
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
