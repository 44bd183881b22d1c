"""The user's own settings, from `config.toml`: keys, theme, thinking, and what may call for attention.

They are read where a screen is drawn, and nowhere else. What is wrong with them is said in one line.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agentwatch.faults import USAGE, Fault, cannot_open
from agentwatch.safe_text import SafeText, cut, safe_line

_MODIFIERS = frozenset(("ctrl", "shift", "alt", "meta", "super", "hyper"))
_SHOWN_COLUMNS = 40


class Config(NamedTuple):
    """What the user has set; each default is what we do without a file."""

    keys: Mapping[str, str] = MappingProxyType({})
    """The keys of bindings, by the binding's id: `{"freeze": "f,space"}`."""
    theme: str | None = None
    """The name of one of Textual's themes."""
    thinking: bool = False
    """Whether thoughts that are done are shown at first; otherwise they are folded."""
    bell: bool = True
    note: bool = True
    title: bool = True


_SECTIONS: Mapping[str, Mapping[str, type] | None] = {
    "keys": None,
    "screen": {"theme": str, "thinking": bool},
    "attention": {"bell": bool, "note": bool, "title": bool},
}
"""The keys of each section and their types; those of `[keys]` are the ids of bindings."""


def read_config(environ: Mapping[str, str] = os.environ) -> Config:
    """Return the settings; without a file, the defaults.

    Raises:
        Fault: The file cannot be read, or says something that means nothing here.
    """
    import tomllib  # 1.5 ms

    path, is_named = _place(environ)
    try:
        sections = tomllib.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        if is_named:
            raise cannot_open(path, error) from None
        return Config()
    except OSError as error:
        raise cannot_open(path, error) from None
    except UnicodeDecodeError as error:
        raise _fault(path, f"UTF-8 is expected, byte {error.start} is not") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _fault(path, f"this is not TOML: {error}") from None
    for name, section in sections.items():
        _check_section(path, name, section)
    found = {key: value for name in ("screen", "attention") for key, value in sections.get(name, {}).items()}
    config = Config(keys=sections.get("keys", {}), **found)
    if config.theme is not None:
        _check_theme(path, config.theme)
    if config.keys:
        _check_keys(path, config.keys)
    return config


def _place(environ: Mapping[str, str]) -> tuple[Path, bool]:
    """Return where the file is, and whether the user has named it."""
    named = environ.get("AGENTWATCH_CONFIG")
    if named:
        return Path(named), True
    from platformdirs import user_config_path

    return user_config_path("agentwatch") / "config.toml", False


def _check_section(path: Path, name: str, section: object) -> None:
    if name not in _SECTIONS:
        raise _fault(path, f"{_shown(name)} is not known; {_listed(f'[{known}]' for known in _SECTIONS)} are")
    if not isinstance(section, dict):
        raise _fault(path, f"{name}: a table is expected, [{name}]")
    types = _SECTIONS[name]
    for key, value in section.items():
        expected = str if types is None else types.get(key)
        if types is not None and expected is None:
            raise _fault(path, f"[{name}] {_shown(key)} is not known; {_listed(types)} are")
        if type(value) is not expected:
            wanted = "true or false is" if expected is bool else "a text in quotes is"
            raise _fault(path, f"[{name}] {_shown(key)}: {wanted} expected, not {_shown(repr(value))}")


def _check_theme(path: Path, theme: str) -> None:
    from textual.theme import BUILTIN_THEMES

    if theme not in BUILTIN_THEMES:
        known = _listed(sorted(BUILTIN_THEMES))
        raise _fault(path, f"[screen] theme: there is no theme {_shown(theme)}; there are {known}")


def _check_keys(path: Path, keys: Mapping[str, str]) -> None:
    """Check that each binding is known, each key can be pressed, and no key is given a second meaning."""
    defaults, pressed = bound_keys({}), bound_keys(keys)
    for name in keys:
        if name not in defaults:
            raise _fault(path, f"[keys] {_shown(name)} is not known; {_listed(sorted(defaults))} are")
        for key in pressed[name]:
            if not _can_be_pressed(key):
                shown = _shown(key.strip()) or "nothing"
                raise _fault(
                    path, f"[keys] {name}: {shown} is no key; expected are keys like f, ctrl+g, space"
                )
    for name in keys:
        for other in sorted(defaults.keys() - {name}):
            shared = set(pressed[name]) & set(pressed[other]) - (set(defaults[name]) & set(defaults[other]))
            if shared:  # by default keys are shared only where one pane or field takes them for itself
                both = f"{min(shared)} is the key of {other}; give that another"
                raise _fault(path, f"[keys] {name}: {both}")


def _keys_of(value: str) -> list[str]:
    from textual.binding import Binding, InvalidBinding

    try:
        return [made.key for made in Binding.make_bindings([Binding(value, "press")])]
    except InvalidBinding:
        return [value]


def bound_keys(rebound: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of every binding of the screen that can be rebound, by its id.

    Args:
        rebound: The keys that stand in the place of the defaults, as `Config.keys` has them.
    """
    from textual.binding import Binding
    from textual.dom import DOMNode

    import agentwatch.screen.app  # noqa: F401 - so that its bindings are there

    found: dict[str, dict[str, None]] = {}
    left: list[type] = [DOMNode]
    while left:
        node = left.pop()
        left += node.__subclasses__()
        if node.__module__.startswith("agentwatch."):
            for made in Binding.make_bindings(vars(node).get("BINDINGS", [])):
                if made.id is not None:
                    found.setdefault(made.id, {})[made.key] = None
    return {name: list(keys) for name, keys in found.items()} | {
        name: _keys_of(value) for name, value in rebound.items()
    }


def _can_be_pressed(key: str) -> bool:
    from textual.keys import KEY_NAME_REPLACEMENTS, Keys

    *modifiers, name = key.split("+")
    if not _MODIFIERS.issuperset(modifiers):
        return False
    if name in {*Keys, *KEY_NAME_REPLACEMENTS.values()} or (len(name) == 1 and name.isprintable()):
        return True
    try:
        return name.islower() and bool(unicodedata.lookup(name.replace("_", " ")))
    except KeyError:
        return False


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(text: str) -> SafeText:
    return cut(safe_line(text), _SHOWN_COLUMNS)


def _fault(path: Path, what: str) -> Fault:
    return Fault(safe_line(f"{path}: {what}"), USAGE)
