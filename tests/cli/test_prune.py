"""`sessions --prune` shows what it would delete, asks, and deletes only recordings of our own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.cli import sessions as command
from agentwatch.recording.write_lock import hold
from tests.builders.machine.rows import MARKED, names, save
from tests.conftest import case
from tests.harness.program import ran

DAY_MS = 86_400_000


def test_pruning_deletes_old_recordings_that_nothing_keeps() -> None:
    """All files of an old session are deleted; new ones, foreign files and those of other programs stay. A
    session that is being recorded is kept always, one with bookmarks on demand; both are reported.
    """
    # Without a terminal, what would be deleted is printed with its size, and nothing is deleted.
    old, new = save(40, ".log"), save(1)
    size = old.stat().st_size + 100
    before = names()
    for options in ((), ("--dry-run",)):
        done = ran("sessions", "--prune", "--older", "30d", *options)
        assert done.returncode == 0
        [line] = done.stdout.decode().splitlines()
        assert line.endswith(str(old))
        hint = "" if options else "; --yes deletes them"
        assert (
            done.stderr.decode() == f"agentwatch: nothing was deleted: 1 recording, {size} B would be{hint}\n"
        )
        assert names() == before
    assert new.exists()
    # With --yes it is deleted.
    old.with_suffix(".json").write_bytes(b"{}")
    foreign = save(50).rename(new.with_name("mine.ndjson"))
    done = ran("sessions", "--prune", "--older", "30d", "--yes")
    assert (done.returncode, str(old) in done.stdout.decode()) == (0, True)
    assert done.stderr.startswith(b"agentwatch: deleted 1 recording, ")
    assert names() == {new.name, foreign.name}
    done = ran("sessions", "--prune", "--older", "30d", "--yes")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"agentwatch: no recording of agentwatch is that old\n"
    running, marked = save(40), save(50)
    marked.with_suffix(".bookmarks.json").write_bytes(MARKED)
    fd = os.open(running, os.O_RDWR)
    hold(fd)
    done = ran("sessions", "--prune", "--older", "30d", "--keep-bookmarked", "--yes")
    os.close(fd)
    assert done.stderr.decode().splitlines() == [
        "agentwatch: kept 1 recording with bookmarks",
        "agentwatch: kept 1 recording that is still being written",
        "agentwatch: no recording of agentwatch is that old",
    ]
    assert running.exists()
    assert marked.exists()


def test_the_settings_have_the_age(tmp_path: Path) -> None:
    """Without --older, `keep` under [sessions] is the age; an option takes precedence."""
    path = save(40)
    settings = tmp_path / "config.toml"
    settings.write_text('[sessions]\nkeep = "50d"\n[keys]\nleave = "Q"\n')
    done = ran("sessions", "--prune", "--yes", AGENTWATCH_CONFIG=str(settings))
    assert (done.returncode, path.exists()) == (0, True)
    settings.write_text('[sessions]\nkeep = "30d"\n')
    done = ran("sessions", "--prune", "--older", "9w", "--yes", AGENTWATCH_CONFIG=str(settings))
    assert (done.returncode, path.exists()) == (0, True)
    done = ran("sessions", "--prune", "--yes", AGENTWATCH_CONFIG=str(settings))
    assert (done.returncode, path.exists()) == (0, False)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that deletes with an answer on the terminal, and returns the path of what is old."""

    def answered(answer: str) -> Path:
        path = save(40)
        reading, writing = os.pipe()
        os.write(writing, answer.encode())
        os.close(writing)
        saved = os.dup(0)
        os.dup2(reading, 0)
        try:
            command.prune(older_ms=30 * DAY_MS, keep_bookmarked=False, dry_run=False, yes=False)
        finally:
            os.dup2(saved, 0)
            os.close(saved)
            os.close(reading)
        return path

    monkeypatch.setattr(os, "isatty", lambda fd: fd in (0, 2))
    return answered


def test_only_yes_deletes(terminal: Callable[[str], Path]) -> None:
    """On a terminal it asks; the answer is no unless it is yes."""
    for answer in ("y\n", "YES\n", " y \n"):
        with case(answer):
            assert not terminal(answer).exists()
    for answer in ("\n", "n\n", "no\n", "", "yess\n", "\xff\n"):
        with case(answer):
            assert terminal(answer).exists()


def test_what_cannot_be_deleted_is_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], home: Path, tmp_path: Path
) -> None:
    """A folder that cannot be written is reported for each session, with 74, and the others are tried."""
    paths = [save(40), save(50), save(60)]

    def refused(name: str, *, dir_fd: int) -> None:
        raise PermissionError(13, "Permission denied", name)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refused)
        code = command.prune(older_ms=30 * DAY_MS, keep_bookmarked=False, dry_run=False, yes=True)
    assert code == 74
    expected = [f"agentwatch: cannot delete {path}: permission denied" for path in paths]
    assert capfd.readouterr().err.splitlines() == [*expected, "agentwatch: deleted 0 recordings, 0 B"]
    # Nothing behind a link in the place of the sessions folder is deleted.
    path = paths[0]
    moved = path.parent.rename(tmp_path / "elsewhere")
    (home / "sessions").symlink_to(moved)
    done = ran("sessions", "--prune", "--older", "30d", "--yes")
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        done.stderr.decode()
        == f"agentwatch: cannot open {home}/sessions: it is a link, which is not followed\n"
    )
    assert (moved / path.name).exists()
