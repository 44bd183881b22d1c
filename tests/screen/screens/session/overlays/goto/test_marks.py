"""Marked moments: the keys that set them and go to them, their words, and the filter of the goto box."""

import random
from pathlib import Path

import pytest

from agentwatch.analysis.markers import Marker, MarkerKind, VerdictMark
from agentwatch.screen.screens.session import marked_moments
from agentwatch.screen.screens.session.goto import MarkFilter, Marks
from agentwatch.session.transcript import Kind
from agentwatch.text.safe import SafeText
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import opened
from tests.builders.screen.goto_box import end_of
from tests.builders.screen.lines import init, prompt, result, shell
from tests.builders.screen.marked import marks_of, write_times
from tests.conftest import RECORDINGS, Saver, case


def listed(marks: Marks) -> list[str]:
    """Return the bookmarks and then the markers, as the goto box lists them."""
    marks.update(1)
    return found(MarkFilter(marks, ""))


def test_a_bookmark_is_set_named_and_removed(path: Path) -> None:
    """The toast says at which time, and what names it or undoes it; names are foreign text."""
    # The toast says at which time, and what names it or undoes it.
    marks = marks_of(path)
    assert marks.toggle(end_of(1)) == "bookmark at 09:00:02 · press : to name it"
    assert marks.bookmarks.at(end_of(1)) is not None
    assert marks.toggle(end_of(1)) == "bookmark removed · m sets it again"
    assert len(marks.bookmarks) == 0
    # A name is given to the bookmark of a moment; a moment without one gets a bookmark.
    marks = marks_of(path)
    for name in ("one", "two", ""):
        assert not marks.name(end_of(1), name)
        assert [each.name for each in marks.bookmarks] == [name]
    assert marks.name(3, "nowhere") == "no line of the recording ends there"
    # An agent can write the file: its names are foreign text.
    marks = marks_of(path)
    marks.name(end_of(1), "\x1b[2J\u202eevil")
    bookmark = marks.bookmarks.at(end_of(1))
    assert bookmark is not None
    assert bookmark.name == "\x1b[2J\u202eevil"
    assert marks.of_bookmark(bookmark).words == 'bookmark "␛[2J<U+202E>evil"'
    # Without a file, the first toast says so, and the next is as always.
    path.with_suffix(".bookmarks.json").unlink(missing_ok=True)
    marks = marks_of(path, in_memory=True)
    first = (
        "bookmark at 09:00:02 · bookmarks are kept until you quit: nothing is written beside this recording"
    )
    assert marks.toggle(end_of(1)) == first
    assert marks.toggle(end_of(2)) == "bookmark at 09:00:04 · press : to name it"


def test_without_times_a_moment_is_a_share_of_the_recording(recording: Saver) -> None:
    """The time of a mark is then a percentage."""
    path = recording(init(), init())
    marks = marks_of(path)
    assert marks.toggle(0) == "bookmark at 0 % · press : to name it"
    assert marks.toggle(path.stat().st_size) == "bookmark at 100 % · press : to name it"


def test_bookmarks_are_listed_before_the_markers(path: Path) -> None:
    """Each has its time, sign and words. A red verdict replaces the failure, a green one marks a success."""
    marks = marks_of(path)
    red = VerdictMark(end_of(2), 2, is_red=True, words="1 failed, 4 passed")
    marks.markers.show_verdicts([red, VerdictMark(end_of(4), 4, is_red=False, words="5 passed\x1b[0m")])
    marks.toggle(0)
    marks.name(end_of(2), "before")
    assert listed(marks) == [
        "09:00:00 ◈ bookmark",
        '09:00:04 ◈ bookmark "before"',
        "09:00:04 ✗ #2 echo 2 (1 failed, 4 passed)",
        "09:00:06   #3 edit src/wheel.py",
        "09:00:08 ✓ #4 echo 4 (5 passed␛[0m)",
    ]


def test_a_turn_is_its_prompt(recording: Saver) -> None:
    """It is the first line of the prompt, as safe text; an agent may begin a turn by itself."""
    # The first line of the prompt, as safe text; foreign text may be long.
    path = recording(
        init(), prompt("\n Mend \x1b[2J it.\nAll of it."), shell(1), result(), prompt("x" * 10_000)
    )
    write_times(path)
    assert listed(marks_of(path)) == ["09:00:01 › Mend ␛[2J it.", f"09:00:05 › {'x' * 200}"]
    # An agent may begin a turn by itself.
    marks = marks_of(recording(init(), prompt("Go."), shell(1)))
    marks.update(1)
    at = next(number for number, each in enumerate(marks.session.transcript) if each.kind is not Kind.PROMPT)
    assert marks.words(Marker(1, MarkerKind.TURN, at)) == "turn"


CALLS = 400
TEXTS = (
    "",
    "e",
    "ec",
    "echo",
    "echo 1",
    "echo 12",
    "#1",
    "#12",
    "09:0",
    "09:05",
    "09:05 #",
    "3 9",
    "ECHO",
    "x",
)


@pytest.fixture
def failures(recording: Saver) -> Path:
    """A recording of 400 failed calls, one line per second."""
    path = recording(init(), *(shell(number, 1) for number in range(CALLS)))
    write_times(path)
    return path


@pytest.fixture
def marks(failures: Path) -> Marks:
    """The marks of the recording, with three bookmarks."""
    marks = marks_of(failures, in_memory=True)
    while marks.update(1):
        pass
    for index in (3, 200, 350):
        marks.name(marks.markers[index].offset, f"echo {index}")
    return marks


def matching(marks: Marks, text: str) -> list[str]:
    """Return the marks that contain each word, or whose time begins with it, by looking at each of them."""
    every = [*map(marks.of_bookmark, marks.bookmarks), *map(marks.of_marker, marks.markers)]
    words = text.casefold().split()
    return [
        str(mark)
        for mark in every
        if all(word in mark.words.casefold() or mark.time.startswith(word) for word in words)
    ]


def found(filtered: MarkFilter) -> list[str]:
    """Return the marks that a filter lists."""
    return [str(filtered[index]) for index in range(len(filtered))]


def test_each_match_is_found(marks: Marks) -> None:
    """Each word is a part of the words of a mark, or the start of its time; bookmarks come first."""
    for text in TEXTS:
        with case(text):
            filtered = MarkFilter(marks, text)
            filtered.advance(9)
            assert filtered.is_complete
            assert found(filtered) == matching(marks, text)
    # A slice ends when its time is over, after at most 32 marks.
    filtered = MarkFilter(marks, "echo")
    slices = 0
    while not filtered.is_complete:
        before = len(filtered)
        filtered.advance(1e-9)
        assert len(filtered) - before <= 32
        slices += 1
    assert slices > CALLS / 32
    assert found(filtered) == matching(marks, "echo")
    # Each mark has the index at which it is listed; one that is not listed has none.
    for text in ("", "echo 1"):
        filtered = MarkFilter(marks, text)
        filtered.advance(9)
        assert [filtered.row_of(filtered[at]) for at in range(len(filtered))] == [*range(len(filtered))]
        gone = marks.of_marker(marks.markers[9])._replace(offset=1)
        assert filtered.row_of(gone) is None
        assert filtered.row_of(marks.of_bookmark(next(iter(marks.bookmarks)))._replace(offset=1)) is None
        assert filtered.row_of(marks.of_marker(marks.markers[8])) == (11 if not text else None)
    # A verdict that becomes known while one types is found by its words.
    filtered = MarkFilter(marks, "17 p")
    filtered.advance(9)
    marker = marks.markers[5]
    marks.markers.show_verdicts([VerdictMark(marker.offset, marker.number, is_red=True, words="17 passed")])
    marks.update(1)
    longer = filtered.retyped("17 pa")
    longer.advance(9)
    assert [each.offset for each in map(longer.__getitem__, range(len(longer)))] == [marker.offset]


def test_typing_on_compares_only_what_matched(marks: Marks, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a longer text, only the marks that matched the shorter one are put into words."""
    short = MarkFilter(marks, "echo 12")
    short.advance(9)
    worded: list[int] = []
    words = marks.words

    def counted(marker: Marker) -> SafeText:
        worded.append(marker.number)
        return words(marker)

    monkeypatch.setattr(marks, "words", counted)
    longer = short.retyped("echo 123")
    longer.advance(9)
    assert len(worded) == len(matching(marks, "echo 12")) < 20
    monkeypatch.undo()
    assert found(longer) == matching(marks, "echo 123")


@pytest.mark.system
def test_any_order_of_keys_and_changes(marks: Marks) -> None:
    """Typing, deleting, and verdicts that come meanwhile lead to the same marks as a search of all."""
    chosen = random.Random(14)
    for _ in range(60):
        filtered = MarkFilter(marks, "")
        for _ in range(chosen.randrange(1, 9)):
            is_longer = chosen.random() < 0.6
            text = filtered.text + chosen.choice("ech0129 #:") if is_longer else filtered.text[:-1]
            filtered = filtered.retyped(text)
            for _ in range(chosen.randrange(4)):
                filtered.advance(1e-9)
            if chosen.random() < 0.2:
                marker = marks.markers[chosen.randrange(CALLS)]
                verdict = VerdictMark(marker.offset, marker.number, is_red=False, words="12 passed")
                marks.markers.show_verdicts([verdict])
                marks.update(1)
        filtered.advance(9)
        assert found(filtered) == matching(marks, filtered.text)


async def test_what_was_read_last_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading that finds the newest verdict asks to be shown, also if no call is left after it."""
    monkeypatch.setattr(marked_moments, "_SLICE_SECONDS", 60.0)
    async with opened(RECORDINGS / "demo.ndjson", (120, 40)) as stage:
        screen = watch_screen(stage)
        calls = screen.workspace.panes.calls
        marks = marked_moments.MarkedMoments(screen._moment, screen._source)
        assert marks.left(calls.listed, tests_only=True) == []
        assert marks.update(calls.newest)
        assert [words for words, _ in marks.left(calls.listed, tests_only=True)] == ["tests ✓ 17 passed"]
        assert not marks.update(calls.newest)
