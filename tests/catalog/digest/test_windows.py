"""Of a large file only the head and the tail are read: what goes on is found there."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.session_entry import Metadata, Reach
from agentwatch.catalog.digest import reading
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.digest.reading import Tail
from agentwatch.session.events import Outcome
from tests.builders import claude_lines as stream
from tests.builders.on_disk import cursor_transcript as cursor
from tests.builders.on_disk import transcript as claude
from tests.builders.on_disk.digested import digest_of, found
from tests.catalog.digest.conftest import append, jsonl, tail_of
from tests.conftest import case

NOW = (
    *("session_id", "model", "cwd", "branch", "permission_mode", "title", "is_users_title", "first_prompt"),
    *("last_prompt", "last_text", "seen_ms", "began_ms", "turn", "turn_ms", "outcome", "reason", "question"),
    *("question_ms", "retry", "is_compacting", "context_used", "open_calls", "doing", "is_one_liner"),
)
"""The facts that do not depend on the lines that are left out."""


def turn(number: int, size: int = 1000) -> bytes:
    """Return the lines of a turn of about `size` bytes, with two calls of which one fails."""
    ids = [f"{number}a", f"{number}b"]
    return jsonl(
        claude.user(f"Prompt {number}", f"u{number}"),
        claude.call(ids[0]),
        claude.returned(ids[0], "x" * size),
        claude.call(ids[1]),
        claude.returned(ids[1], "no", is_error=True),
        claude.ended(f"Answer {number}"),
    )


def turns(size: int, each: int = 1000) -> bytes:
    """Return turns of at least `size` bytes together."""
    made, number = bytearray(), 0
    while len(made) < size:
        made += turn(number, each)
        number += 1
    return bytes(made)


def now(digest: Digest) -> dict[str, Any]:
    """Return what a digest says about the present."""
    facts = asdict(digest)
    return {name: facts[name] for name in NOW}


def whole(path: Path) -> Digest:
    """Return the digest of all lines of a file."""
    small = path.with_name("small")
    small.write_bytes(b"")
    tail = Tail(found(small)._replace(id=path.stem))
    tail.update()
    data = path.read_bytes()
    with small.open("ab") as file:
        for start in range(0, len(data), 1 << 21):
            file.write(data[start : start + (1 << 21)])
            file.flush()
            tail.update()
    tail.settle()
    assert tail.digest is not None
    assert tail.digest.is_whole
    return tail.digest


PROMPT = claude.user("And now?", "last")
ENDS = {
    "a prompt": jsonl(PROMPT),
    "a call": jsonl(PROMPT, claude.call("open")),
    "a question": jsonl(PROMPT, claude.call("q", "AskUserQuestion", {"questions": []})),
    "a text": jsonl(PROMPT, claude.said("So"), {"type": "mode", "sessionId": "s"}),
    "two calls": jsonl(PROMPT, claude.call("a"), claude.call("b"), claude.returned("a")),
    "no more": b"",
}


@pytest.mark.system
@pytest.mark.parametrize("size", [1 << 20, 3_000_000])
def test_the_tail_says_of_the_present_what_the_whole_file_says(tmp_path: Path, size: int) -> None:
    """Only the counts differ, which cover the last lines."""
    path, before = tmp_path / "session.jsonl", turns(size)
    for name, end in ENDS.items():
        with case(name):
            path.write_bytes(before + end)
            digest, all_lines = digest_of(path), whole(path)
            assert now(digest) == now(all_lines)
            assert not digest.is_whole
            assert 0 < digest.calls < all_lines.calls


@pytest.mark.parametrize("each", [100_000, 400_000, 1_500_000])
def test_the_tail_grows_until_a_turn_begins_or_ends_in_it(tmp_path: Path, each: int) -> None:
    """A turn with large results is longer than the first tail."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(
        turns(6_000_000, each) + jsonl(claude.user("More", "u"), claude.call("open"), claude.said("x" * each))
    )
    digest = digest_of(path)
    assert (digest.turn, digest.last_prompt, list(digest.open_calls)) == (Turn.OPEN, "More", ["open"])
    assert now(digest) == now(whole(path))


def test_a_turn_longer_than_the_longest_tail_is_open(tmp_path: Path) -> None:
    """A file of one turn is read whole up to 4 MiB; beyond that its lines do not say since when it works."""
    path = tmp_path / "session.jsonl"
    results = b"".join(jsonl(claude.call(f"c{n}"), claude.returned(f"c{n}", "x" * 99_000)) for n in range(30))
    path.write_bytes(jsonl(claude.user("Go", "u")) + results)
    digest = digest_of(path)
    assert (digest.turn, digest.turn_ms, digest.last_prompt) == (Turn.OPEN, claude.AT_MS, "Go")
    assert (digest.calls, digest.is_whole) == (30, True)
    results = b"".join(jsonl(claude.call(f"c{n}"), claude.returned(f"c{n}", "x" * 99_000)) for n in range(60))
    path.write_bytes(jsonl(claude.user("Go", "u")) + results)
    digest = digest_of(path)
    assert (digest.turn, digest.turn_ms, digest.first_prompt, digest.last_prompt) == (
        Turn.OPEN,
        None,
        "Go",
        "",
    )
    assert 0 < digest.calls < 60


def test_what_the_head_says_is_kept(tmp_path: Path) -> None:
    """The title, the branch and the folder may be only at the beginning; what was open there has ended."""
    # What was open before the gap may have ended in it.
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(claude.user("Go", "u"), claude.call("lost")) + turns(2_000_000))
    digest = digest_of(path)
    assert digest.open_calls == {}
    assert (digest.turn, digest.outcome) == (Turn.ENDED, Outcome.SUCCEEDED)
    title = {"type": "custom-title", "customTitle": "Tidy up", "sessionId": "s"}
    path.write_bytes(jsonl(claude.user("Go", "u", gitBranch="main"), title) + turns(2_000_000))
    digest = digest_of(path)
    assert (digest.title, digest.is_users_title, digest.branch) == ("Tidy up", True, "main")
    # The decoder of the tail knows where the session began.
    moved = turns(2_000_000).replace(b'"cwd":"/w"', b'"cwd":"/w/sub"')
    end = jsonl(claude.user("Go", "u"), claude.call("c", "Read", {"file_path": "/w/a.py"}))
    path.write_bytes(turn(-1) + moved + end)
    assert [call.target for call in digest_of(path).open_calls.values()] == ["a.py"]
    # The facts that come first in it are known.
    first = {"type": "mode", "sessionId": "s", "cwd": "/far", "version": "2", "rest": "x" * 100_000}
    path.write_bytes(jsonl(first) + turns(2_000_000))
    assert digest_of(path).cwd == "/w"
    path.write_bytes(jsonl(first) + turns(2_000_000).replace(b'"cwd":"/w",', b""))
    assert digest_of(path).cwd == "/far"


def test_a_last_line_longer_than_the_tail_is_read_at_both_ends(tmp_path: Path) -> None:
    """Its type is known, and so are the lines before it; a line beyond what is searched says nothing."""
    path = tmp_path / "session.jsonl"
    long = jsonl(claude.user("Look", "u"), claude.call("c1"), claude.returned("c1", "x" * 5_000_000))
    path.write_bytes(turns(2_000_000) + long)
    digest = digest_of(path)
    assert digest.last_prompt == "Look"
    assert digest.turn is Turn.OPEN
    tail = Tail(found(path))
    tail.update()
    with path.open("ab") as file:
        file.write(jsonl(claude.ended("Seen.")))
    assert tail.update()
    assert tail.digest is not None
    assert tail.digest.last_text == "Seen."
    # Of a file that ends in such a line, the head is known.
    path.write_bytes(turns(2_000_000))
    with path.open("r+b") as file:
        file.truncate(80 << 20)
    digest = digest_of(path)
    assert (digest.first_prompt, digest.turn) == ("Prompt 0", Turn.NONE)


def test_a_large_recording_is_decoded_by_the_format_of_its_head(tmp_path: Path) -> None:
    """Its agent is detected there, in at most 50 objects, and used for the tail."""
    path = tmp_path / "recording.ndjson"
    lines = [stream.say(f"Line {n} {'x' * 1000}", message_id=f"m{n}") for n in range(2000)]
    path.write_bytes(b"no json\n" + stream.written(stream.init(), *lines, stream.result("Done.")))
    digest = digest_of(path, "agentwatch")
    assert (digest.agent, digest.turn, digest.outcome) == ("claude", Turn.ENDED, Outcome.SUCCEEDED)
    assert digest.last_text.startswith("x")
    # The lines of a file of no known agent say nothing.
    path.write_bytes(b'{"a":1}\nnot json\n' * 200_000)
    digest = digest_of(path, "agentwatch")
    assert (digest.agent, digest.turn) == ("", Turn.NONE)
    # After 50 objects of no known agent, the file has none.
    path.write_bytes(b'{"a":1}\n' * 60 + stream.written(stream.init(), stream.say("Hi")))
    assert digest_of(path, "agentwatch").agent == ""
    path.write_bytes(b"npm notice\n" * 60 + stream.written(stream.init(), stream.say("Hi")))
    assert digest_of(path, "agentwatch").agent == "claude"


def test_what_is_appended_at_once_is_read_like_a_new_file(tmp_path: Path) -> None:
    """A list that was stopped for an hour does not read all that was written in the meantime."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(turn(0))
    tail = Tail(found(path))
    tail.update()
    with path.open("ab") as file:
        file.write(turns(5_000_000))
    assert tail.update()
    assert tail.digest is not None
    assert not tail.digest.is_whole
    assert now(tail.digest) == now(digest_of(path))


@pytest.mark.costs
def test_a_session_of_200_mb_is_read_at_once(tmp_path: Path) -> None:
    """Reading its ends takes no longer than that of a small one."""
    path = tmp_path / "session.jsonl"
    part = turns(1 << 20)
    with path.open("wb") as file:
        for _ in range(200):
            file.write(part)
    tail = Tail(found(path))
    began = os.times().user
    tail.update()
    took = os.times().user - began
    assert tail.digest is not None
    assert tail.digest.turn is Turn.ENDED
    assert took < 0.5


def test_of_many_short_lines_only_the_last_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of two bytes costs as much as a real one."""
    monkeypatch.setattr(reading, "MOST_LINES", 100)
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(*(claude.call(f"c{number}") for number in range(300))))
    digest = digest_of(path)
    assert (digest.calls, digest.is_whole) == (100, False)
    assert list(digest.open_calls)[-1] == "c299"


def test_a_tail_of_many_short_lines_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading 4 MiB of them would take seconds."""
    monkeypatch.setattr(reading, "_MANY_LINES", 100)
    path = tmp_path / "session.jsonl"
    calls = b"".join(jsonl(claude.call(f"c{number}")) for number in range(10_000))
    path.write_bytes(jsonl(claude.user("Go", "u")) + calls)
    assert 100 < digest_of(path).calls < (1 << 18) // (len(calls) // 10_000) + 1


@pytest.mark.parametrize(
    ("each", "answer", "is_whole"), [(1000, 1, False), (20_000, 1, False), (1000, 100_000, True)]
)
def test_a_brief_reading_says_how_the_session_ended(
    tmp_path: Path, each: int, answer: int, is_whole: bool
) -> None:
    """It reads more if no turn begins or ends in the last bytes; the first prompt and the end are right."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(turns(300_000, each) + jsonl(claude.user("Last", "last"), claude.ended("y" * answer)))
    tail = Tail(found(path), is_brief=True)
    tail.update()
    brief, all_of_it = tail.digest, whole(path)
    assert brief is not None
    names = ("first_prompt", "outcome", "turn", "session_id", "cwd", "model", "seen_ms")
    assert [getattr(brief, name) for name in names] == [getattr(all_of_it, name) for name in names]
    assert brief.is_whole is is_whole


# A tail keeps the digest of a file up to date that another program writes, replaces or removes.


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
