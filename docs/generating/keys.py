"""The page of all keys, from the help of the screen and the bindings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from textual.keys import _character_to_key

from agentwatch.screen.screens.session.help import COMPARISON_HELP, KEYS, LIST_KEYS, Rows
from agentwatch.screen.terminal.keymap import bound_keys

_SHOWN = {"escape": "esc", "pageup": "page up", "pagedown": "page down"}
_ID = re.compile(r"\{([a-z-]+)\}")
_HEAD = """\
# Keys

This page is generated from the program: `python docs/reference.py`.
`?` shows the same on the screen, with your own keys.

The ids are those of `[keys]` in `config.toml`, which changes the keys: [settings](../config.md#keys).
A key without an id cannot be changed.
"""


def page() -> str:
    """Return the page of all keys."""
    keys = bound_keys({})
    lines = [_HEAD, "## In a session"]
    for name, rows in KEYS:
        lines += ["", f"### {name}", "", *_table(rows, keys)]
    lines += ["", "## In the list of sessions"]
    for name, rows in LIST_KEYS:
        lines += ["", f"### {name} of the list", "", *_table(rows, keys)]
    lines += ["", "## In a comparison of two runs"]
    for name, rows in COMPARISON_HELP:
        lines += ["", f"### {name} of a comparison", "", *_table(rows, keys)]
    return "\n".join(lines) + "\n"


def _table(rows: Rows, keys: Mapping[str, list[str]]) -> list[str]:
    lines = ["| key | action | id |", "|---|---|---|"]
    for form, action in rows:
        ids = _ID.findall(form)
        fixed = [f"`{word.strip(',')}`" for word in _ID.sub("", form).split() if word.strip(",")]
        shown = [" ".join(f"`{_shown(key)}`" for key in keys[name]) for name in ids]
        names = ", ".join(f"`{name}`" for name in ids)
        lines.append(f"| {', '.join([*shown, *fixed])} | {action.replace('|', chr(92) + '|')} | {names} |")
    return lines


def _shown(key: str) -> str:
    """Return a key as the reader types it: `?` for `question_mark`."""
    if key in _SHOWN:
        return _SHOWN[key]
    for character in "/?!:,.<>+-=[]`":
        if key == _character_to_key(character):
            return character
    return key
