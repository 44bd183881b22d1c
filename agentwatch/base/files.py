"""The folders of the user in which agentwatch keeps its own files, those that come with it, and writing to an
open file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of saved sessions and of the list, which may not exist yet: AGENTWATCH_HOME, or the
    user's state folder."""
    home = environ.get("AGENTWATCH_HOME")
    return Path(home) if home else _own_folder("XDG_STATE_HOME", "~/.local/state")


def config_folder() -> Path:
    """Return the folder of the settings, which may not exist."""
    return _own_folder("XDG_CONFIG_HOME", "~/.config")


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the settings file, which may not exist: AGENTWATCH_CONFIG, or else the user's own."""
    named = environ.get("AGENTWATCH_CONFIG")
    return Path(named) if named else config_folder() / "config.toml"


def _own_folder(variable: str, default: str) -> Path:
    """One of the XDG Base Directory Specification. The package platformdirs imports lzma for it: 8 ms."""
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else default)
    return Path(base, "agentwatch")


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Raise `OSError`, which is `BrokenPipeError` if nobody reads any more."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


# The stylesheets and the bundled recordings are inside the package in a wheel, and beside it in a checkout or
# an editable install.

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(folder: str) -> Path:
    """The path of a bundled folder: `styles`, `recordings` or `schemas`."""
    packaged = _PACKAGE / folder
    return packaged if packaged.is_dir() else _PACKAGE.parent / folder


def stylesheets(*without: str) -> list[str | PurePath]:
    """Return the style sheets in the order in which they are read."""
    names = ("app", "lines", "calls", "workspace", "home", "short", "time_bar", "overlays")
    return [resource("styles") / f"{name}.tcss" for name in names if name not in without]
