"""The filter finds what matches, in slices, whatever was typed before and whatever changes meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentwatch.analysis.markers import Marker, VerdictMark
from agentwatch.screen.screens.session.goto import MarkFilter, Marks
from agentwatch.text.safe import SafeText
from tests.builders.screen.lines import init, shell
from tests.builders.screen.marked import marks_of, write_times
from tests.conftest import Saver, case

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
def path(recording: Saver) -> Path:
    """A recording of 400 failed calls, one line per second."""
    path = recording(init(), *(shell(number, 1) for number in range(CALLS)))
    write_times(path)
    return path


@pytest.fixture
def marks(path: Path) -> Marks:
    """The marks of the recording, with three bookmarks."""
    marks = marks_of(path, in_memory=True)
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


def test_a_slice_is_short(marks: Marks) -> None:
    """A slice ends when its time is over, after at most 32 marks."""
    filtered = MarkFilter(marks, "echo")
    slices = 0
    while not filtered.is_complete:
        before = len(filtered)
        filtered.advance(1e-9)
        assert len(filtered) - before <= 32
        slices += 1
    assert slices > CALLS / 32
    assert found(filtered) == matching(marks, "echo")


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


def test_a_mark_is_found_again(marks: Marks) -> None:
    """Each mark has the index at which it is listed; one that is not listed has none."""
    for text in ("", "echo 1"):
        filtered = MarkFilter(marks, text)
        filtered.advance(9)
        assert [filtered.row_of(filtered[at]) for at in range(len(filtered))] == [*range(len(filtered))]
        gone = marks.of_marker(marks.markers[9])._replace(offset=1)
        assert filtered.row_of(gone) is None
        assert filtered.row_of(marks.of_bookmark(next(iter(marks.bookmarks)))._replace(offset=1)) is None
        assert filtered.row_of(marks.of_marker(marks.markers[8])) == (11 if not text else None)


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


def test_a_mark_that_has_changed_is_compared_again(marks: Marks) -> None:
    """A verdict that becomes known while one types is found by its words."""
    filtered = MarkFilter(marks, "17 p")
    filtered.advance(9)
    marker = marks.markers[5]
    marks.markers.show_verdicts([VerdictMark(marker.offset, marker.number, is_red=True, words="17 passed")])
    marks.update(1)
    longer = filtered.retyped("17 pa")
    longer.advance(9)
    assert [each.offset for each in map(longer.__getitem__, range(len(longer)))] == [marker.offset]
