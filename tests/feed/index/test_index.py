"""A recording that is read from its index is the same as one that is read from its first byte."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.index import index as module
from agentwatch.feed.index import places
from agentwatch.recording import SessionFiles, open_saved
from tests.builders.formats.samples import SAMPLES
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.moment.described import described
from tests.builders.moment.indexed import is_restored, opened, write_index
from tests.conftest import RECORDINGS

ALL = sorted(RECORDINGS.glob("*.ndjson"))


def long_session(calls: int) -> list[bytes]:
    """Return the lines of a session with texts, calls and an open call at its end."""
    lines = [init(), user("Do much.")]
    for number in range(calls):
        text = f"Sentence {number}. " * (1 + number % 40)
        lines += [delta(text), final(text)]
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", {"success": {"message": "x"}}, path=f"{number}.py"))
    return [*lines, started("shell", "open", command="make")]


def ends_of(data: bytes) -> list[int]:
    """Return the moments of a recording."""
    return [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]


def assert_same(path: Path, *, is_restored: bool = True) -> None:
    """Assert that the recording, and its moments, are the same with its index and without."""
    moments = ends_of(path.read_bytes())
    reader = open_saved(path)
    feed = Feed(reader)
    history = History(feed, reader)
    feed.advance()
    with opened(path) as again:
        assert again.is_restored is is_restored
        assert described(again.feed.session) == described(feed.session)
        assert again.history.timeline.size == history.timeline.size
        assert again.history.timeline.last_ms == history.timeline.last_ms
        for moment in moments[:: max(len(moments) // 12, 1)]:
            assert described(again.history.at(moment).session) == described(history.at(moment).session)
            assert again.history.timeline.ms_at(moment) == history.timeline.ms_at(moment)
    os.close(reader.fd)


@pytest.mark.parametrize("bundled", ALL, ids=[path.stem for path in ALL])
def test_a_bundled_recording_is_the_same(bundled: Path, tmp_path: Path) -> None:
    """Each bundled recording is the same with its index, at its end and at earlier moments."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(bundled.read_bytes())
    times = SessionFiles(bundled).times
    if times.exists():
        SessionFiles(path).times.write_bytes(times.read_bytes())
    is_known = write_index(path).exists()
    assert is_known or bundled.stem in ("plain", "unknown")
    assert_same(path, is_restored=is_known)


@pytest.mark.parametrize(
    ("sample", "agent"), SAMPLES, ids=[f"{path.parent.name}-{path.stem}" for path, _ in SAMPLES]
)
def test_each_format_has_an_index(sample: Path, agent: str | None, tmp_path: Path) -> None:
    """A recording of each known agent has an index, and is the same with it."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(sample.read_bytes().rstrip() + b"\n")
    is_known = write_index(path).exists()
    assert is_known or agent is None
    assert_same(path, is_restored=is_known)


def test_a_large_session_is_the_same(tmp_path: Path) -> None:
    """Texts, calls and numbers that are in the files of spills are the same, and so are all moments."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(long_session(3000)))
    write_index(path)
    assert_same(path)


def test_a_restored_session_grows_like_any_other(tmp_path: Path) -> None:
    """A recording that grew after its index was written is read on from there, to the same session."""
    path, lines = tmp_path / "r.ndjson", [*long_session(200), completed("shell", "open", {"success": {}})]
    whole = b"".join([*lines, result("all")])
    for cut in ends_of(whole)[40::97]:
        path.write_bytes(whole[:cut])
        write_index(path)
        with path.open("ab") as growing:
            growing.write(whole[cut:])
        assert_same(path)
        write_index(path)
        assert_same(path)


def test_a_line_without_an_end_is_read_again_once_it_has_grown(tmp_path: Path) -> None:
    """An index that ends within a line serves only the recording as it was."""
    path, whole = tmp_path / "r.ndjson", b"".join(long_session(20))
    path.write_bytes(whole[:-20])
    write_index(path)
    assert_same(path)
    path.write_bytes(whole)
    assert_same(path, is_restored=False)


def test_a_followed_recording_continues_after_its_index(tmp_path: Path) -> None:
    """A recording that is followed starts with its index, and gets the lines that arrive."""
    path, lines = tmp_path / "r.ndjson", long_session(20)
    path.write_bytes(b"".join(lines))
    write_index(path)
    with opened(path, follow=True) as again:
        assert again.is_restored
        assert not again.feed.is_over
        with path.open("ab") as growing:
            growing.write(completed("shell", "open", {"success": {}}) + result("all"))
        again.feed.advance()
        assert again.feed.session.calls[-1].outcome == "succeeded"
        assert again.feed.session.run.outcome == "succeeded"


def test_no_index_is_written_of_a_recording_that_was_followed(tmp_path: Path) -> None:
    """The arrival times of a followed recording may be known to its viewer alone."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(long_session(20)))
    with opened(path, follow=True) as first:
        assert first.index is not None
        first.index.keep((), first.feed.session)
        first.index.finish()
    assert not path.with_suffix(".index").exists()


def test_a_small_recording_has_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings up to 32 MB have no index."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(long_session(20)))
    monkeypatch.setattr(module, "LEAST_BYTES", path.stat().st_size)
    with opened(path) as first:
        assert first.index is None


def test_leaving_while_an_index_is_written_drops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving waits for no more than one piece, and leaves no file behind."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(long_session(200)))
    is_writing, may_go_on = threading.Event(), threading.Event()
    own_key = places.own_key

    def slow_key() -> bytes:
        is_writing.set()
        may_go_on.wait(20)
        return own_key()

    monkeypatch.setattr(module, "own_key", slow_key)
    with opened(path) as first:
        assert first.index is not None
        first.index.keep((), first.feed.session)
        assert is_writing.wait(20)
        threading.Timer(0.05, may_go_on.set).start()
        first.index.drop()
    assert [each.name for each in tmp_path.iterdir() if "index" in each.name] == []
    assert not is_restored(path)


def test_an_index_is_private(tmp_path: Path) -> None:
    """Only the user may read an index and its key."""
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(long_session(20)))
    assert write_index(path).stat().st_mode & 0o777 == 0o600
    key = places._state_folder() / "key"
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
