"""Prevents a continuous-integration runner from executing printed text as a command.

GitHub executes `##[command]` anywhere in a line and `::command::` at its beginning, Azure `##vso[`, TeamCity
`##teamcity[`. GitLab's sections need an escape character, which safe text does not contain.
"""

from __future__ import annotations

import os
import re

_HASH_PAIR = re.compile("#(?=#)")
_COLONS = re.compile(rb"(?m)^([ \t]*)::")
_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI")


def in_runner() -> bool:
    """Return whether a runner reads the output."""
    return any(os.environ.get(name) for name in _RUNNERS)


def without_commands(line: str) -> str:
    """Return a line whose runner commands are disabled by a visible backslash: `#\\#[error]`."""
    line = _HASH_PAIR.sub("#\\\\", line)
    return f"\\{line}" if line.lstrip().startswith("::") else line


def json_without_commands(line: bytes) -> bytes:
    """Return a line of JSON with the same values, in which a runner finds no command."""
    return line.replace(b"##", b"#\\u0023")


def xml_without_commands(document: bytes) -> bytes:
    """Return an XML document with the same values, in which a runner finds no command."""
    return _COLONS.sub(b"\\1&#58;:", document.replace(b"##", b"#&#35;"))
