"""Hypothesis strategies for any story of Codex."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.builders.codex.story import Command, Cut, Mcp, Patch, Plan, Say, Search, Story, Think, Turn

_TOKENS = ["a", " the", "**", "\n", "🌊", '"', "'", "\\", "{", "\u2028", "é", "$x", "`", "</x>"]
TEXTS = st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=6).map("".join)
_SCRIPTS = [
    ("ls -la", "ls -la"),
    ("echo 'it''s' \"$HOME\"", "echo 'it''s' \"$HOME\""),
    ("cat <<E\nx\nE", "cat <<E"),
    ("printf '%s\\n' \"a\\\\b\"", "printf '%s\\n' \"a\\\\b\""),
    ("x", "x"),
]
_COMMANDS = st.builds(
    lambda script, output, code: Command(script[0], script[1], output, code),
    st.sampled_from(_SCRIPTS),
    TEXTS,
    st.sampled_from([0, 0, 0, 1, 42, 127, None]),
)
_FILES = st.lists(
    st.tuples(
        st.sampled_from(["a.py", "src/b.py", "ebb 🌊.md"]), st.sampled_from(["add", "update", "delete"])
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda file: file[0],
).map(tuple)
_STEPS = st.one_of(
    st.builds(Say, TEXTS),
    st.builds(Think, TEXTS),
    st.just(Cut()),
    _COMMANDS,
    st.builds(Patch, _FILES, st.booleans()),
    st.builds(
        Mcp,
        st.sampled_from(["weather", "git hub"]),
        st.sampled_from(["forecast", "get_it"]),
        st.none() | TEXTS,
    ),
    st.builds(Search, st.sampled_from(["tides", "a b c"])),
    st.builds(Plan, st.lists(st.tuples(TEXTS, st.booleans()), max_size=3).map(tuple)),
)


def _turns(ends: list[str]) -> st.SearchStrategy[Turn]:
    steps = st.lists(_STEPS, max_size=7).map(tuple)
    return st.builds(Turn, TEXTS, steps, st.sampled_from(ends))


STORIES = st.builds(
    lambda first, last: Story((*first, last)),
    st.lists(_turns(["completed", "failed"]), max_size=2),
    _turns(["completed", "completed", "failed", "cut"]),
)
