"""The keys that set a bookmark and go to a marked moment, and their words."""

from __future__ import annotations

from pathlib import Path

from agentwatch.analysis.markers import Marker, MarkerKind, VerdictMark
from agentwatch.screen.screens.session.goto import Marks, step_words
from agentwatch.session.transcript import Kind
from tests.builders.screen.goto_box import end_of
from tests.builders.screen.lines import init, prompt, result, shell
from tests.builders.screen.marked import marks_of, write_times
from tests.conftest import Saver


def steps(marks: Marks, direction: int) -> list[str]:
    """Return the words of all steps from one end of the recording to the other."""
    found = []
    mark = marks.step(-1 if direction > 0 else 1 << 40, direction)
    while mark is not None:
        found.append(step_words(mark, direction))
        mark = marks.step(mark.offset, direction)
    return [*map(str, found)]


def test_a_bookmark_is_set_named_and_removed(path: Path, recording: Saver) -> None:
    """The toast says at which time, or share, and what names it or undoes it; names are foreign text."""
    # The toast says at which time, and what names it or undoes it.
    marks = marks_of(path)
    assert marks.toggle(end_of(1)) == "bookmark at 09:00:02 · press : to name it"
    assert marks.bookmarks.at(end_of(1)) is not None
    assert marks.toggle(end_of(1)) == "bookmark removed · b sets it again"
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
    # The time of a mark is then a percentage.
    path = recording(init(), init())
    marks = marks_of(path)
    assert marks.toggle(0) == "bookmark at 0 % · press : to name it"
    assert marks.toggle(path.stat().st_size) == "bookmark at 100 % · press : to name it"


def test_steps_visit_bookmarks_and_markers_in_order(path: Path) -> None:
    """Each is visited in both directions, with its sign and words, and there is no wrapping around."""
    # A red verdict takes the place of the failure, a green one marks a call that succeeded.
    marks = marks_of(path)
    red = VerdictMark(end_of(2), 2, is_red=True, words="1 failed, 4 passed")
    marks.markers.show_verdicts([red, VerdictMark(end_of(4), 4, is_red=False, words="5 passed\x1b[0m")])
    assert steps(marks, 1) == [
        "✗ #2 echo 2 (1 failed, 4 passed) · 09:00:04",
        "#3 edit src/wheel.py · 09:00:06",
        "✓ #4 echo 4 (5 passed␛[0m) · 09:00:08",
    ]
    # Each is visited in both directions; a bookmark hides a marker at the same moment.
    marks = marks_of(path)
    marks.toggle(0)
    marks.name(end_of(2), "before")
    marks.toggle(end_of(4))
    words = [
        "◈ bookmark · 09:00:00",
        '◈ bookmark "before" · 09:00:04',
        "#3 edit src/wheel.py · 09:00:06",
        "◈ bookmark · 09:00:08",
    ]
    assert steps(marks, 1) == words
    assert steps(marks, -1) == words[::-1]
    marks.toggle(end_of(2))
    assert steps(marks, 1)[1] == "✗ #2 echo 2 · 09:00:04"
    # There is no wrapping around: the toast says that there is nothing more in this direction.
    marks = marks_of(path)
    assert marks.step(1 << 40, 1) is None
    assert step_words(None, 1) == "no later bookmark, failure, edit, verdict or turn"
    assert step_words(None, -1) == "no earlier bookmark, failure, edit, verdict or turn"


def test_a_turn_is_its_prompt(recording: Saver) -> None:
    """It is the first line of the prompt, as safe text; an agent may begin a turn by itself."""
    # The first line of the prompt, as safe text; foreign text may be long.
    path = recording(
        init(), prompt("\n Mend \x1b[2J it.\nAll of it."), shell(1), result(), prompt("x" * 10_000)
    )
    write_times(path)
    words = steps(marks_of(path), 1)
    assert words == ["› Mend ␛[2J it. · 09:00:01", f"› {'x' * 200} · 09:00:05"]
    # An agent may begin a turn by itself.
    marks = marks_of(recording(init(), prompt("Go."), shell(1)))
    marks.update(1)
    at = next(number for number, each in enumerate(marks.session.transcript) if each.kind is not Kind.PROMPT)
    assert marks.words(Marker(1, MarkerKind.TURN, at)) == "turn"
