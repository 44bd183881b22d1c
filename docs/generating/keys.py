"""The page of all keys, from the table of the screen."""

from __future__ import annotations

from textual.keys import _character_to_key

from agentwatch.screen.keys import SESSION, SESSIONS, Key, row_words

_SHOWN = {"escape": "esc", "pageup": "page up", "pagedown": "page down"}
_HEAD = """\
# Keys

This page is generated from the program: `python docs/reference.py`.
`?` shows the same on the screen, with your own keys.

The ids are those of `[keys]` in `config.toml`, which changes the keys: [settings](../config.md#keys).
A key without an id cannot be changed. `ctrl+p` runs a command without a key; `[keys]` can give it one.
"""


def page() -> str:
    """Return the page of all keys."""
    lines = [_HEAD]
    for heading, suffix, topics in (
        ("In a session", "", SESSION),
        ("In the list of sessions", " of the list", SESSIONS),
    ):
        lines += [f"## {heading}", ""]
        for topic in topics:
            lines += [f"### {topic.title}{suffix}", "", "| key | action | id |", "|---|---|---|"]
            lines += [*map(_row, topic.rows()), ""]
    return "\n".join(lines)


def _row(shortcuts: list[Key]) -> str:
    keys = ", ".join(
        " ".join(f"`{_shown(key)}`" for key in each.keys.split(",")) for each in shortcuts if each.keys
    )
    text = row_words(shortcuts).replace("|", "\\|")
    return f"| {keys} | {text} | {', '.join(f'`{each.id}`' for each in shortcuts if each.id)} |"


def _shown(key: str) -> str:
    """Return a key as the reader types it: `?` for `question_mark`."""
    if key in _SHOWN:
        return _SHOWN[key]
    for character in "/?!:,.<>+-=[]`":
        if key == _character_to_key(character):
            return character
    return key
