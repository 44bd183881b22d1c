"""The user's settings as plain data; `cli.config_file` reads them, `screen` applies them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Config(NamedTuple):
    """What the user can set; the defaults apply without a file."""

    keys: Mapping[str, str] = MappingProxyType({})
    """The keys of bindings, by the binding's id: `{"freeze": "f,space"}`."""
    theme: str | None = None
    """The name of one of Textual's themes."""
    thinking: bool = False
    """Whether completed thinking is shown at first; otherwise it is folded."""
    bell: bool = True
    note: bool = True
    title: bool = True
