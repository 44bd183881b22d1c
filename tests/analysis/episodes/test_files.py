"""Files that are read again and again, edited back to the start, or edited without reading."""

from __future__ import annotations

from agentwatch.analysis.episodes import EpisodeKind, Episodes
from tests.analysis.episodes.calls import (
    call,
    edit,
    feed_of,
    found_in,
    only,
    read,
    read_whole,
    shell,
    words_of,
    written,
)
from tests.builders.lines import CWD, completed, init, started, user
from tests.conftest import Saver

KNOWN = read("src/a.py")


def test_the_same_file_read_four_times_is_an_episode(recording: Saver) -> None:
    """Reads of the same file without a change are counted, with other calls in between."""
    calls = (KNOWN, KNOWN, shell("ls"), KNOWN, read("src/b.py"), KNOWN, KNOWN)
    episodes = found_in(recording(written(*calls)))
    assert [episodes.reread(number) for number in range(1, 8)] == [1, 2, 0, 3, 1, 4, 5]
    found = only(episodes)
    assert found.words == "read 5 times: src/a.py"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.REREAD, 1, 7, 5)


def test_other_parts_of_a_file_are_other_reads(recording: Saver) -> None:
    """Four parts of a large file are no trouble, and neither is a file whose length has changed."""
    parts = [read("big.py", offset=start, limit=100) for start in (1, 101, 201, 301)]
    episodes = found_in(recording(written(*parts, parts[0])))
    assert [episodes.reread(number) for number in range(1, 6)] == [1, 1, 1, 1, 2]
    grown = [read("log.txt", lines) for lines in (10, 20, 30, 40)]
    assert words_of(found_in(recording(written(*parts, *grown)))) == []


def test_reading_again_after_a_change_is_no_trouble(recording: Saver) -> None:
    """A change of the file begins the count again."""
    change = edit("src/a.py")
    calls = (KNOWN, KNOWN, KNOWN, change, KNOWN, KNOWN, KNOWN)
    episodes = found_in(recording(written(*calls)))
    assert [episodes.reread(number) for number in range(1, 8)] == [1, 2, 3, 0, 1, 2, 3]
    assert words_of(episodes) == []


def test_another_run_reads_again(recording: Saver) -> None:
    """Each run counts its own reads."""
    twice = b"".join(KNOWN(number) for number in (1, 2))
    later = b"".join(KNOWN(number) for number in (3, 4))
    episodes = found_in(recording(init() + twice + init() + later))
    assert [episodes.reread(number) for number in range(1, 5)] == [1, 2, 1, 2]


def test_a_file_that_is_edited_back_is_an_episode(recording: Saver) -> None:
    """The content after the last edit is that before the first one."""
    calls = (KNOWN, edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "c\n"))
    path = recording(written(*calls, edit("src/a.py", "c\n", "a\n")))
    found = only(found_in(path))
    assert found.words == "edited back to the start: src/a.py"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.BACK, 2, 4, 3)
    other = recording(written(*calls, edit("src/a.py", "c\n", "a \n")))
    assert words_of(found_in(other)) == []


def test_a_file_that_is_edited_on_is_not_back(recording: Saver) -> None:
    """An edit after it, or a file that was created and deleted, is no such episode."""
    there, back = edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "a\n")
    assert len(words_of(found_in(recording(written(KNOWN, there, back))))) == 1
    assert words_of(found_in(recording(written(KNOWN, there, back, there)))) == []
    body = {"linesCreated": 2, "afterFullFileContent": "x\n"}
    made = call("write", {"success": body}, path=f"{CWD}/try.py", fileText="x\n")
    gone = call("delete", {"success": {}}, path=f"{CWD}/try.py")
    assert words_of(found_in(recording(written(made, gone)))) == []


def test_an_edit_ends_that_a_file_is_back(recording: Saver) -> None:
    """While a session goes on, a file that was back at its start may be edited again."""
    there, back = edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "a\n")
    path = recording(written(KNOWN, there, back))
    feed = feed_of(path, follow=True)
    episodes = read_whole(Episodes(feed))
    assert len(words_of(episodes)) == 1
    with path.open("ab") as file:
        file.write(there(4))
    feed.advance()
    assert words_of(read_whole(episodes)) == []


def test_a_read_that_ends_later_comes_too_late(recording: Saver) -> None:
    """An edit that began before the read had ended was made without it."""
    both = started("read", "r", 1000, path=f"{CWD}/a.py") + started("edit", "e", 1000, path=f"{CWD}/a.py")
    ends = completed("read", "r", {"success": {"totalLines": 2}}, 2000, path=f"{CWD}/a.py")
    ends += completed("edit", "e", {"success": {"linesRemoved": 1}}, 3000, path=f"{CWD}/a.py")
    assert words_of(found_in(recording(init() + both + ends))) == ["edited without reading: a.py"]


def test_a_file_that_is_edited_unread_is_an_episode(recording: Saver) -> None:
    """Only the first edit counts: afterwards the agent knows what it wrote."""
    found = only(found_in(recording(written(edit("src/a.py"), edit("src/a.py", "b\n", "c\n")))))
    assert found.words == "edited without reading: src/a.py"
    assert (found.kind, found.first, found.last) == (EpisodeKind.UNREAD, 1, 1)


def test_what_may_be_known_is_not_unread(recording: Saver) -> None:
    """A file that was read, created, printed by a command, or named in the prompt may be known."""
    change = edit("src/a.py")
    made = call("write", {"success": {"linesCreated": 2}}, path=f"{CWD}/src/a.py")
    for known in (KNOWN, made, shell("sed -n 1,80p src/a.py")):
        assert words_of(found_in(recording(written(known, change)))) == []
    prompt = init() + user("Fix @src/a.py") + change(1)
    assert words_of(found_in(recording(prompt))) == []
    grown = edit("src/new.py", "", "a\n", removed=0)
    assert words_of(found_in(recording(written(grown)))) == []
