"""Text that a continuous-integration runner cannot take for one of its commands.

GitHub takes `##[command]` anywhere in a line and `::command::` at its beginning; Azure takes `##vso[`,
TeamCity `##teamcity[`. GitLab's sections need an escape character, which safe text does not hold.
"""

from __future__ import annotations

import os
import re

_PAIR = re.compile("#(?=#)")
_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI")


def in_runner() -> bool:
    """Return whether what we print is read by a runner."""
    return any(os.environ.get(name) for name in _RUNNERS)


def broken(line: str) -> str:
    """Return a line in which a runner's command is broken, visibly: `#\\#[error]`."""
    line = _PAIR.sub("#\\\\", line)
    return f"\\{line}" if line.lstrip().startswith("::") else line


def broken_json(line: bytes) -> bytes:
    """Return a line of JSON that says the same, without the marks of a command."""
    return line.replace(b"##", b"#\\u0023")
