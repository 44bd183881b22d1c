"""The file of acts keeps what the user did, and is read as foreign data."""

import errno
import os
import resource
import stat
from pathlib import Path

import orjson
import pytest

from agentwatch.base.clock import now_ms
from agentwatch.recording.acts import (
    MOST_ACTS,
    Act,
    SessionActs,
    act_words,
    acts_file,
    append_act,
    index_after,
    read_acts,
)
from tests.conftest import present

ACT = Act(1_785_000_000_000, "continue", "5b0c", "command", "claude --resume", "sent")


@pytest.mark.system
def test_acts_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each act is one line with six fields, or also a reason, in a file that only the user may read."""
    path = tmp_path / "acts" / "claude-5b0c.acts"
    acts = [ACT, ACT._replace(act="deny", receipt="elsewhere", why="w"), ACT._replace(to="\ud800\n" * 500)]
    for act in acts:
        append_act(path, act)
    lines = path.read_bytes().splitlines()
    assert orjson.loads(lines[0]) | {"why": "", "id": ""} == ACT._asdict()
    assert max(map(len, lines)) < 4096
    assert read_acts(path)[:2] == acts[:2]
    assert read_acts(path)[2].to == ("?\n" * 500)[:200]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    # A line with a wrong type or a missing field is ignored; an unknown receipt is `unknown`.
    path = tmp_path / "s.acts"
    good = orjson.dumps(ACT._asdict())
    odd = [
        *(b"", b"null", b"[]", b"{}", b"\xff", b"{" * 10_000),
        *(
            orjson.dumps(ACT._asdict() | change)
            for change in ({"at_ms": True}, {"at_ms": -1}, {"to": 5}, {"door": None})
        ),
    ]
    path.write_bytes(b"\n".join([*odd, orjson.dumps(ACT._asdict() | {"receipt": "done"}), good]))
    assert read_acts(path) == [ACT._replace(receipt="unknown"), ACT]
    # At most 1,000 acts are read, from the last 1 MiB of the file.
    many = [ACT._replace(at_ms=ACT.at_ms + number) for number in range(MOST_ACTS + 5)]
    data = b"".join(orjson.dumps(each._asdict()) + b"\n" for each in many)
    path.write_bytes(data)
    assert read_acts(path) == many[5:]
    path.write_bytes(b" " * (2 << 20) + b"\n" + data)
    assert read_acts(path) == many[5:]
    path.write_bytes(data[:-1] + b"x" * (1 << 20) + b"\n" + data.splitlines()[7])
    assert read_acts(path) == [many[7]]
    # Escape sequences, line ends and long texts in a file of acts cannot act on the terminal.
    for hostile in ("\x1b]0;x\x07", "a\nb", "\u202e" + "x" * 500, "\x9b2J"):
        path.write_bytes(orjson.dumps(ACT._asdict() | dict.fromkeys(("act", "door", "by"), hostile)))
        (act,) = read_acts(path)
        words = act_words(act)
        assert words.isprintable(), hostile
        assert len(words) <= 120, hostile
    path.write_bytes(b"\n" * (1 << 20))
    assert read_acts(path) == []
    # Of two lines about one answer the second counts, for which the first one waits. A line that only has
    # its id is told by itself: whoever gives the answer knows the id, and could hide the answer otherwise.
    now = now_ms()
    one = ACT._replace(at_ms=now - 9000, act="allow", receipt="unknown", id="a")
    sent = one._replace(at_ms=now - 6500, receipt="sent")
    late, early = sent._replace(at_ms=now - 3000), sent._replace(at_ms=now - 9001)
    foreign = [sent._replace(act="deny"), sent._replace(to="x"), sent._replace(door="x")]
    for written, told in (
        ([one, sent, sent._replace(receipt="unknown")], [sent]),
        ([one, ACT, sent], [ACT, sent]),
        ([one], [one]),
        ([one, late, ACT], [one, late, ACT]),
        ([one, early], [one, early]),
        ([one, *foreign], [one, *foreign]),
        ([one._replace(at_ms=now - 1000), ACT], [ACT]),
        ([one._replace(at_ms=now - 1000), sent._replace(at_ms=now - 900)], [sent._replace(at_ms=now - 900)]),
        ([one._replace(at_ms=now + 5000)], [one._replace(at_ms=now + 5000)]),
        ([one, sent._replace(id="b"), ACT._replace(id="")], [one, sent._replace(id="b"), ACT]),
    ):
        path.unlink()
        for each in written:
            append_act(path, each)
        assert read_acts(path) == told, written
    # The acts after the last known one are new. If that one was dropped, all acts are new.
    five = [ACT._replace(at_ms=number) for number in range(5)]
    assert [index_after(five, last) for last in (None, five[0], five[4], ACT)] == [0, 1, 5, 0]
    assert index_after((), ACT) == 0
    assert index_after(five[2:], five[3]) == 2
    # A FIFO, a folder, and a file with another name or owner are refused, and nothing waits for a reader.
    # An act of which only a part could be written is not recorded, also if it lacks only its line end.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (10, len(good.replace(b',"why":"","id":""', b""))):
        path = tmp_path / f"{most}.acts"
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
                append_act(path, ACT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (path.stat().st_size, read_acts(path)) == (0, [])
        append_act(path, ACT)  # the part does not swallow the next one
        assert read_acts(path) == [ACT]
    # A link in place of the file is not followed.
    target, path = tmp_path / "target", tmp_path / "link.acts"
    target.write_bytes(orjson.dumps(ACT._asdict()))
    path.symlink_to(target)
    assert read_acts(path) == []
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        append_act(path, ACT)
    assert target.read_bytes() == orjson.dumps(ACT._asdict())
    # A FIFO, a folder, and a file with another name or owner are refused, and nothing waits for a reader.
    fifo, folder, other, linked = (tmp_path / name for name in ("fifo", "folder", "other", "linked"))
    os.mkfifo(fifo)
    folder.mkdir()
    other.write_bytes(b"")
    os.link(other, linked)
    for path in (fifo, folder, linked):
        with pytest.raises(OSError):  # noqa: PT011 - the systems say it differently
            append_act(path, ACT)
        assert read_acts(path) == []
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="not a file of this user alone"):
        append_act(fifo, ACT)
    assert (os.read(reader, 100), other.read_bytes()) == (b"", b"")
    os.close(reader)
    linked.unlink()
    append_act(other, ACT)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(OSError, match="not a file of this user alone"):
        append_act(other, ACT)


def test_the_acts_of_a_session_have_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The acts on a session without a recording have a file only if the id is a plain name."""
    environ = {"AGENTWATCH_HOME": str(tmp_path)}
    assert acts_file("claude", "5b0c", None, environ) == tmp_path / "acts" / "claude-5b0c.acts"
    assert acts_file("claude", "5b0c", tmp_path / "s.ndjson", environ) == tmp_path / "s.acts"
    for hostile in ("../5b0c", "a/b", "", ".", "..", "a\0b", "a\n", "x" * 201):
        assert acts_file("claude", hostile, None, environ) is None, hostile
    # The acts of our recording are beside it, those of another session in the folder of the state.
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path))
    own, other = SessionActs(tmp_path / "s.ndjson"), SessionActs(None)
    assert (own.read("", ""), other.read("", ""), other.read("claude", "../x")) == ((), (), ())
    append_act(tmp_path / "s.acts", ACT)
    append_act(tmp_path / "acts" / "claude-5b0c.acts", ACT._replace(act="allow"))
    first = own.read("", "")
    assert [*first, *other.read("claude", "5b0c")] == [ACT, ACT._replace(act="allow")]
    assert own.read("", "") is first
    assert other.read("codex", "5b0c") == []
    append_act(tmp_path / "s.acts", ACT._replace(act="stop"))
    assert [each.act for each in own.read("", "")] == ["continue", "stop"]
    (tmp_path / "s.acts").write_bytes((tmp_path / "s.acts").read_bytes().replace(b"stop", b"deny"))
    os.utime(tmp_path / "s.acts", ns=(0, 0))
    assert [each.act for each in own.read("", "")] == ["continue", "deny"]
    # An answer without a receipt is told after 6 s, although the file has not changed since.
    append_act(tmp_path / "s.acts", ACT._replace(at_ms=now_ms(), act="allow", id="a"))
    before = own.read("", "")
    assert [each.act for each in before] == ["continue", "deny"]
    assert own.read("", "") is before
    with present(now_ms() + 6500):
        assert [each.act for each in own.read("", "")] == ["continue", "deny", "allow"]
    (tmp_path / "s.acts").unlink()
    assert own.read("", "") == []
    # Only a recording with arrival times has its acts beside it; anybody can write beside other files.
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path / "home"))
    path = tmp_path / "5b0c.jsonl"
    append_act(tmp_path / "5b0c.acts", ACT)
    assert SessionActs.of_file(path).read("claude", "5b0c") == ()
    (tmp_path / "5b0c.times").touch()
    assert SessionActs.of_file(path).read("claude", "5b0c") == [ACT]
