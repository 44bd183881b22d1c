"""The folders in which Claude Code has a session open now, which are read before all others.

A session that is resumed is appended to, which does not change its folder: the folder may be the oldest one.
"""

from __future__ import annotations

import os
from itertools import islice

from agentwatch.machine.places.beside import folder_in, json_object

_MOST_RECORDS = 200


def live_folders(projects: str) -> set[str]:
    """Return the folders of the working directories in which a process was registered last.

    A record may be stale, and the name of a long path is shortened in another way: then the folder comes in
    its usual turn.

    Args:
        projects: The folder `projects`, beside which the folder of records is.
    """
    registry = os.path.join(os.path.dirname(projects), "sessions")
    try:
        with os.scandir(registry) as entries:
            names = [each.name for each in islice(entries, _MOST_RECORDS)]
    except OSError:
        return set()
    records = (name for name in names if name.endswith(".json") and name[:-5].isdecimal())
    cwds = (folder_in(json_object(os.path.join(registry, name)).get("cwd")) for name in records)
    return {os.path.join(projects, _munged(cwd)) for cwd in cwds if cwd is not None}


def _munged(cwd: str) -> str:
    """Return the name that Claude Code gives the folder of a working directory."""
    return "".join(each if each.isascii() and each.isalnum() else "-" for each in cwd)
