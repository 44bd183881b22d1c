"""The folders of the user in which agentwatch keeps its own files, and writing to an open file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of saved sessions and of the list, which may not exist yet. It is AGENTWATCH_HOME, or
    else the user's state folder."""
    home = environ.get("AGENTWATCH_HOME")
    return Path(home) if home else _own_folder("XDG_STATE_HOME", "~/.local/state")


def config_folder() -> Path:
    """Return the folder of the settings, which may not exist."""
    return _own_folder("XDG_CONFIG_HOME", "~/.config")


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the settings, which may not exist: AGENTWATCH_CONFIG, or else the user's own."""
    named = environ.get("AGENTWATCH_CONFIG")
    return Path(named) if named else config_folder() / "config.toml"


def _own_folder(variable: str, default: str) -> Path:
    """Return our folder in one of the XDG Base Directory Specification.

    The package platformdirs finds it too, but imports lzma and the modules of temporary files: 8 ms.
    """
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else default)
    return Path(base, "agentwatch")


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write all of `data`. Raise `OSError` if the data cannot be written; `BrokenPipeError` if nobody reads
    it any more."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
