"""The user's settings as plain data; `cli.config_file` reads them, `screen` applies them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Config(NamedTuple):
    """The settings of the user. Without a configuration file, the defaults apply."""

    keys: Mapping[str, str] = MappingProxyType({})
    """The keys of bindings, by the binding's id: `{"pause": "f,space"}`."""
    theme: str | None = None
    """The name of one of Textual's themes; None for the default theme."""
    thinking: bool = False
    """Whether completed thinking is initially shown; otherwise it is folded."""
    bell: bool = True
    """Whether the terminal bell may ring."""
    note: bool = True
    """Whether desktop notifications may be sent."""
    title: bool = True
    """Whether the terminal's title shows the state of the session."""
    ring: str = "all"
    """Which sessions of the list ring when they begin to need the user, unless the user has chosen for one:
    `all` or `none`."""
