"""The arguments of an editing tool say what it changes."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.changes import replaced_lines, replaced_texts
from tests.conftest import case


def test_replaced_texts_are_counted() -> None:
    """Each pair of texts is found; the lines are unknown if each occurrence is replaced."""
    cases: list[tuple[Any, Any, tuple[Any, Any]]] = [
        ({"old_string": "a\nb", "new_string": "a"}, [("a\nb", "a")], (0, 1)),
        ({"old_str": "a", "new_str": "a\nb"}, [("a", "a\nb")], (1, 0)),
        ({"old_string": "a", "new_string": "b", "replace_all": True}, [("a", "b")], (None, None)),
        (
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}, 5]},
            [("a", "b"), ("c", "d")],
            (2, 2),
        ),
        ({"old_string": 5, "new_string": "b"}, [], (None, None)),
        ({"old_string": "a" * (1 << 20), "new_string": "b"}, [("a" * (1 << 20), "b")], (None, None)),
    ]
    for arguments, texts, counts in cases:
        with case((arguments, texts)):
            assert list(replaced_texts(arguments)) == texts
            facts = replaced_lines(arguments)
            assert (facts.lines_added, facts.lines_removed) == counts
