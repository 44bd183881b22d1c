"""Which versions of nats-server are safe to share, by the advisories up to the middle of 2026."""

from __future__ import annotations

import re

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")
_SAFE = "2.11.16 or 2.12.7"


def warning_about(version: str) -> str:
    """Return a line about the version of a server; empty if the version can be shared by several teams."""
    if (found := _VERSION.match(version)) is None:
        return f"the engine does not say its version; shared servers need {_SAFE}"
    numbers = tuple(map(int, found.groups()))
    if numbers < (2, 11, 16) or (2, 12) <= numbers < (2, 12, 7):
        return f"the engine runs nats-server {found.group()}; shared servers need {_SAFE}"
    return ""
