"""The folder in which agentwatch keeps what is its own: saved sessions, indexes, the state of the list."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, which may not exist yet: AGENTWATCH_HOME, or else the user's state folder.

    Args:
        environ: The environment with the variable.
    """
    home = environ.get("AGENTWATCH_HOME")
    if home:
        return Path(home)
    from platformdirs import user_state_path

    return user_state_path("agentwatch", appauthor=False)
