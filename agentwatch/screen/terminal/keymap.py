"""The keys of every binding: the defaults, the user's own, and a check of the user's keys.

A binding that can be rebound has an id, by which `config.toml` refers to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from textual.binding import Binding, InvalidBinding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from agentwatch.screen.keys import SCREENS, shortcuts
from agentwatch.text.safe import cut, safe_line

_MODIFIERS = frozenset(("ctrl", "shift", "alt", "meta", "super", "hyper"))
_SHOWN_COLUMNS = 40
_ASCII_NAMES = frozenset(
    unicodedata.name(chr(code)).lower().replace("-", "_").replace(" ", "_") for code in range(33, 127)
)
"""What Textual calls the keys of ASCII: `less_than_sign`, whose Unicode name has a hyphen."""
_NAMED_KEYS = frozenset(("enter", "backspace", "delete"))
"""Keys shown by name; Textual has signs for them that few people know."""


class InvalidKeys(Exception):
    """The user's keys cannot be bound; the message names the binding and the reason."""


def bound_keys(rebound: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of every binding that can be rebound, by binding id. `rebound` are the keys that
    replace the defaults, as in `Config.keys`."""
    found: dict[str, dict[str, None]] = {}
    for each in shortcuts():
        if each.id:
            found.setdefault(each.id, {}).update(dict.fromkeys(filter(None, each.keys.split(","))))
    return {name: list(keys) for name, keys in found.items()} | {
        name: _keys_of(value) for name, value in rebound.items()
    }


def check_keys(keys: Mapping[str, str]) -> None:
    """Check that each binding exists, each key can be pressed, and no key gets a second meaning. `keys`
    replace the defaults, as in `Config.keys`. Raise `InvalidKeys` if one of them cannot be bound."""
    defaults, pressed = bound_keys({}), bound_keys(keys)
    for name in keys:
        if name not in defaults:
            raise InvalidKeys(
                f"unknown binding {_shortened(name)}; known bindings: {', '.join(sorted(defaults))}"
            )
        for key in pressed[name]:
            if not _can_be_pressed(key):
                shown = _shortened(key.strip()) or "an empty string"
                raise InvalidKeys(f"{name}: {shown} is not a key (examples: f, ctrl+g, space)")
    for name in keys:
        for other in sorted(other for other in defaults.keys() - {name} if _can_meet(name, other)):
            shared = set(pressed[name]) & set(pressed[other]) - (set(defaults[name]) & set(defaults[other]))
            if shared:  # defaults share a key only where a focused pane or field handles it first
                raise InvalidKeys(f"{name}: {min(shared)} is already the key of {other}; rebind that too")


def key_label(key: str) -> str:
    """Return how a key is shown: `↓`, `esc`, `?` for `question_mark`, `ctrl+.` for `ctrl+full_stop`."""
    modifiers, _, name = key.rpartition("+")
    label = name if name in _NAMED_KEYS else format_key(name)
    return f"{modifiers}+{label}" if modifiers else label


def _keys_of(value: str) -> list[str]:
    try:
        return [made.key for made in Binding.make_bindings([Binding(value, "press")])]
    except InvalidBinding:
        return [value]


def _can_meet(name: str, other: str) -> bool:
    """Return whether two bindings are in force in the same screen: a list, or a session."""
    return any(
        {name, other} <= {each.id for topic in screen for each in topic.shortcuts} for screen in SCREENS
    )


def _can_be_pressed(key: str) -> bool:
    *modifiers, name = key.split("+")
    if not _MODIFIERS.issuperset(modifiers):
        return False
    if name in {*Keys, *KEY_NAME_REPLACEMENTS.values()} or (len(name) == 1 and name.isprintable()):
        return True
    if name in _ASCII_NAMES:
        return True
    try:
        return name.islower() and bool(unicodedata.lookup(name.replace("_", " ")))
    except KeyError:
        return False


def _shortened(text: str) -> str:
    return cut(safe_line(text), _SHOWN_COLUMNS)
