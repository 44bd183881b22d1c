"""A tail keeps the digest of a file up to date that another program writes, replaces or removes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import Metadata, Reach
from agentwatch.catalog.digest.digest import Turn
from agentwatch.catalog.digest.reading import Tail
from agentwatch.session.events import Outcome
from tests.builders import claude_lines as stream
from tests.builders.on_disk import cursor_transcript as cursor
from tests.builders.on_disk import transcript as claude
from tests.builders.on_disk.digested import digest_of, found
from tests.catalog.digest.growing import append, jsonl, tail_of
from tests.conftest import case


def test_appended_lines_change_the_digest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that starts is open, and its result closes it; between two updates no file stays open."""
    tail, digest = tail_of(path)
    assert (digest.turn, digest.last_prompt) == (Turn.OPEN, "Fix it")
    append(path, jsonl(claude.call("c1", given={"command": "pytest -q"})))
    assert tail.update()
    assert [call.target for call in digest.open_calls.values()] == ["pytest -q"]
    append(path, jsonl(claude.returned("c1"), claude.ended("All pass.")))
    assert tail.update()
    assert (digest.turn, digest.outcome, digest.last_text) == (Turn.ENDED, Outcome.SUCCEEDED, "All pass.")
    assert (digest.calls, digest.open_calls) == (1, {})
    # They change nothing, and what follows them is read.
    append(path, b"\n  \r\n{torn\n[]\nnull\n\xff\xfe\n" + jsonl(claude.said("Hm")))
    assert tail.update()
    assert digest.last_text == "Hm"
    # Between two updates, the tail holds no descriptor.
    before = len(os.listdir("/dev/fd"))
    append(path, jsonl(claude.said("Hm")))
    tail.update()
    assert len(os.listdir("/dev/fd")) == before
    # A file with the same size and time is not read again.
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda *given, **_: opened.append(given))
    assert not tail.update()
    assert opened == []


def test_a_torn_line_is_left_until_it_is_whole(path: Path) -> None:
    """A whole object without a line end is applied at once; the line end that follows is no further line."""
    # The first half of a line changes nothing.
    tail, digest = tail_of(path)
    line = jsonl(claude.said("It is fixed."))
    append(path, line[:70])
    tail.update()
    assert digest.last_text == ""
    append(path, line[70:])
    assert tail.update()
    assert digest.last_text == "It is fixed."
    # The last byte of a torn line may be the end of an inner object.
    line = jsonl(claude.call("c1", given={"command": "ls"}))
    cut = line.index(b"}") + 1
    append(path, line[:cut])
    tail.update()
    assert digest.calls == 0
    append(path, line[cut:])
    tail.update()
    assert digest.calls == 1
    append(path, jsonl(claude.call("c1")).rstrip())
    assert tail.update()
    assert digest.calls == 1
    append(path, b"\n" + jsonl(claude.call("c2")))
    tail.update()
    assert digest.calls == 2


def test_a_file_that_is_written_again_is_read_again(path: Path) -> None:
    """Nothing of the former content stays."""
    before = path.read_bytes() + jsonl(claude.call("c1"), claude.said("old"))
    new = jsonl(claude.user("Another"))
    for way in ("truncated", "replaced", "rewritten"):
        with case(way):
            path.write_bytes(before)
            tail, _ = tail_of(path)
            other = path.with_name("other") if way == "replaced" else path
            other.write_bytes(new if way == "truncated" else new + jsonl(claude.said("x" * 2000)))
            os.replace(other, path)
            assert tail.update()
            assert tail.digest is not None
            assert (tail.digest.first_prompt, tail.digest.calls) == ("Another", 0)


def test_what_is_no_file_of_the_user_is_not_read(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest stays what the metadata say."""
    names = ("missing", "fifo", "link", "folder", "foreign")
    missing, fifo, link, folder, foreign = (tmp_path / name for name in names)
    os.mkfifo(fifo)
    link.symlink_to(path)
    folder.mkdir()
    foreign.write_bytes(path.read_bytes())
    for other in (missing, fifo, link, folder, foreign):
        with case(other.name):
            if other is foreign:
                monkeypatch.setattr(os, "geteuid", lambda: -2)
            tail = Tail(found(other))
            assert not tail.update()
            assert tail.digest is not None
            assert tail.digest.first_prompt == ""


def test_a_file_in_the_place_of_another_is_read_from_its_beginning(path: Path) -> None:
    """Even if its bytes before the next line are the same."""
    reported = jsonl(claude.said("x" * 200))
    append(path, reported)
    tail, _ = tail_of(path)
    other = path.with_name("other")
    other.write_bytes(jsonl(claude.user("Not it")).replace(b"Not it", b"Fix at") + reported)
    append(other, jsonl(claude.call("c1")))
    os.replace(other, path)
    assert tail.update()
    assert tail.digest is not None
    assert tail.digest.first_prompt == "Fix at"


def test_a_file_that_cannot_be_read_keeps_its_digest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk does not raise, and an agent may delete its session while it is listed."""
    tail, digest = tail_of(path)
    append(path, jsonl(claude.said("Hm")))

    def fail(*_given: object) -> bytes:
        raise OSError

    monkeypatch.setattr(os, "pread", fail)
    assert not tail.update()
    assert digest.last_text == ""
    monkeypatch.undo()
    append(path, jsonl(claude.said("Yes")))
    assert tail.update()
    assert tail.digest is not None
    assert tail.digest.last_text == "Yes"
    path.unlink()
    assert not tail.update()
    assert digest.last_prompt == "Fix it"


def test_a_session_without_lines_has_what_its_metadata_say(path: Path) -> None:
    """Nothing is read of a session that is only listed, and lines that are not decoded add nothing."""
    # A session that is only listed has no digest.
    tail = Tail(found(path, reach=Reach.LISTED))
    assert (tail.digest, tail.update(), tail.settle()) == (None, False, False)
    tail.release()
    assert tail.digest is None
    # The digest of a session of another agent has what the files beside it say.
    about = Metadata(
        title="Tidy", prompt="Tidy up", cwd="/w", branch="main", model="m", began_ms=1, changed_ms=2
    )
    tail = Tail(found(path, "amp")._replace(metadata=about))
    digest = tail.digest
    assert digest is not None
    assert not tail.update()
    assert (digest.title, digest.first_prompt, digest.cwd, digest.branch) == ("Tidy", "Tidy up", "/w", "main")
    assert (digest.model, digest.began_ms, digest.seen_ms) == ("m", None, 2)  # no line was read
    # A session that was only created shows nothing but its file.
    path.write_bytes(b"")
    _, digest = tail_of(path)
    assert (digest.turn, digest.seen_ms, digest.is_whole) == (Turn.NONE, None, True)


def test_the_agent_of_an_own_recording_is_found_in_its_lines(tmp_path: Path) -> None:
    """A recording of our own has the format of the agent that was recorded."""
    path = tmp_path / "20261122-101500-000abc.ndjson"
    path.write_bytes(stream.written(stream.init(), stream.say("Done."), stream.result("Done.")))
    digest = digest_of(path, "agentwatch")
    assert (digest.agent, digest.session_id, digest.turn) == ("claude", "s-1", Turn.ENDED)
    assert (digest.outcome, digest.last_text) == (Outcome.SUCCEEDED, "Done.")
    assert digest.seen_ms == path.stat().st_mtime_ns // 10**6


def test_the_begin_of_lines_without_times_is_unknown(path: Path) -> None:
    """The arrival of a later line is not its beginning; that of the first line is."""
    path.write_bytes(jsonl(cursor.user("Go")))
    tail, grown = Tail(found(path, "cursor")), path.with_name("grown.jsonl")
    grown.write_bytes(b"")
    first = Tail(found(grown, "cursor"))
    for each, file in ((tail, path), (first, grown)):
        each.update()
        append(file, jsonl(cursor.said("Done.")))
        each.update()
    assert tail.digest is not None
    assert first.digest is not None
    assert (tail.digest.last_text, tail.digest.began_ms) == ("Done.", None)
    assert first.digest.began_ms == grown.stat().st_mtime_ns // 10**6
