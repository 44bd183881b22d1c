"""The state of a session has its episodes of trouble."""

from __future__ import annotations

import json

from agentwatch.output.show import State, state_json, state_text
from tests.analysis.episodes.calls import edit, feed_of, read, shell, written
from tests.conftest import Saver

CALLS = (shell("make", 2), shell("make", 2), shell("make"), *[shell("npm test", 1)] * 3, edit("a.py"))


def test_each_episode_has_its_calls_and_its_words(recording: Saver) -> None:
    """An episode has a number, a kind, words, its calls, the tries, its duration, and how it stands."""
    feed = feed_of(recording(written(*CALLS)), follow=True)
    state = json.loads(b"".join(state_json(State(feed, 1, 1, None))))
    fixed, open_failure, unread = state["episodes"]
    assert fixed == {
        "number": 1,
        "kind": "failure",
        "words": "fixed on try 3, 21.0 s: make",
        "first_call": 1,
        "last_call": 3,
        "tries": 3,
        "duration_ms": 21_000,
        "fixed": True,
        "over": True,
    }
    assert (open_failure["number"], open_failure["fixed"], open_failure["over"]) == (2, False, False)
    assert (unread["kind"], unread["duration_ms"]) == ("unread", None)


def test_the_state_lists_what_is_not_fixed_first(recording: Saver) -> None:
    """The state has a part for trouble, and none without trouble."""
    feed = feed_of(recording(written(*CALLS)), follow=True)
    lines = [str(line) for line in state_text(State(feed, 1, 1, None))]
    at = lines.index("── trouble")
    assert lines[at - 1 : at + 4] == [
        "",
        "── trouble",
        "not fixed yet, 3 tries, 21.0 s: npm test",
        "edited without reading: a.py",
        "fixed on try 3, 21.0 s: make",
    ]
    calm = feed_of(recording(written(read("a.py"))), follow=True)
    assert "── trouble" not in list(state_text(State(calm, 1, 1, None)))
