"""A session may lie in several places: one of them is its address, and all say what is known of it."""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.found import Found, Metadata, Reach
from agentwatch.agents.places import Folder, Kind
from agentwatch.catalog.places import Candidates

FOLDER = Folder("/x", Kind("cursor"))
LINES = Found("cursor", "1", Path("/x/1.jsonl"), 10, 1)
DOCUMENT = Found("cursor", "1", Path("/x/1.json"), 10, 9, reach=Reach.STORE)
PACKED = Found("cursor", "1", Path("/x/1.jsonl.zst"), 10, 5, reach=Reach.STORE)
LISTED = Found(
    *("cursor", "1", Path("/x/meta"), 3, 7, 0, Reach.LISTED, "parent"),
    Metadata("Listed", True, "prompt", "/w", "main", "opus", 1, 2, is_archived=True),
)


def reported(*founds: Found) -> Found:
    """Return what is reported of a session that lies in these places."""
    candidates = Candidates()
    touched = set()
    for number, found in enumerate(founds):
        touched |= candidates.replace(FOLDER, str(number), (), [found])
    (session,) = candidates.changes(touched).found
    return session


def test_lines_win_over_what_has_them_in_another_form() -> None:
    """The order in which the places are found does not matter."""
    for founds in ((LINES, DOCUMENT, PACKED), (DOCUMENT, PACKED, LINES), (PACKED, LINES, DOCUMENT)):
        assert reported(*founds) == LINES
    assert reported(DOCUMENT, PACKED) == PACKED


def test_the_newer_of_two_equal_places_wins() -> None:
    """A session may have been copied with its folder."""
    newer = LINES._replace(path=Path("/y/1.jsonl"), changed_ns=2)
    assert reported(LINES, newer) == reported(newer, LINES) == newer


def test_what_is_unknown_is_taken_from_another_place() -> None:
    """What the best place knows stays; whether it is archived depends on that place alone."""
    metadata = LISTED.metadata._replace(is_archived=False)
    assert reported(LISTED, LINES) == LINES._replace(metadata=metadata, parent="parent")
    own = Metadata("Own", False, "", "/own", None, None, None, None)
    joined = reported(LISTED, LINES._replace(metadata=own, parent="other"))
    assert joined.metadata == Metadata("Own", False, "prompt", "/own", "main", "opus", 1, 2)
    assert joined.parent == "other"
    whole = LISTED.metadata._replace(title="Whole")
    assert reported(LISTED, LINES._replace(metadata=whole)).metadata == whole


def test_a_session_vanishes_with_its_last_place() -> None:
    """Before that, the other place is reported; what was never reported does not vanish."""
    candidates = Candidates()
    touched = candidates.replace(FOLDER, "a", (), [LINES]) | candidates.replace(FOLDER, "b", (), [LISTED])
    candidates.changes(touched)
    (found,) = candidates.changes(candidates.replace(FOLDER, "a", [LINES], [])).found
    assert found == LISTED
    assert candidates.changes(candidates.replace(FOLDER, "b", [LISTED], [])) == ([], [LISTED.key])
    assert candidates.of(LISTED.key) == ()
    candidates.replace(FOLDER, "a", (), [LINES])
    assert candidates.changes(candidates.replace(FOLDER, "a", [LINES], [])) == ([], [])
