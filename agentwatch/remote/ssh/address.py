"""The address of a host, `ssh://[USER@]HOST[:PORT]`, and of a session on it, with `/ID` behind.

Every part is a word on a command line: of `ssh` here, or of the shell there. So each has a pattern that no
option, no second word and no expansion of a shell matches.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentwatch.faults import USAGE, Fault
from agentwatch.host_place import HostPlace, has_password, parse_place

SCHEME = "ssh://"
_SESSION = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]{0,199}")
_MOST_CHARACTERS = 600


class SshAddress(NamedTuple):
    """A host, as the user has named it: an alias of the configuration of ssh is one too."""

    host: str
    """A name, or an address; one of IPv6 without brackets."""
    user: str = ""
    """Empty for the one that ssh chooses."""
    port: int | None = None
    """None for the one that ssh chooses."""

    def __str__(self) -> str:
        return f"{SCHEME}{HostPlace(*self)}"


def is_ssh(words: str) -> bool:
    """Return whether words are an address of a host, or of a session on one."""
    return words.startswith(SCHEME)


def is_session(text: str) -> bool:
    """Return whether a text can be the id of a session in an address."""
    return _SESSION.fullmatch(text) is not None and ".." not in text


def parse_ssh(words: str) -> tuple[SshAddress, str]:
    """Return the address of a host, and the id of the session behind it; empty for none.

    Args:
        words: `ssh://HOST`, `ssh://USER@HOST:PORT`, `ssh://HOST/ID`.

    Raises:
        Fault: The words are no such address, or contain a password.
    """
    place, _, session = words[:_MOST_CHARACTERS].removeprefix(SCHEME).partition("/")
    if has_password(place):
        raise Fault("an address must not contain a password: other users of this machine can read it", USAGE)
    found = parse_place(place) if is_ssh(words) and len(words) <= _MOST_CHARACTERS else None
    if found is None:
        raise Fault("the address of a host is ssh://HOST or ssh://USER@HOST:PORT", USAGE)
    if session and not is_session(session):
        raise Fault(f"{SCHEME}{place}/…: this is not an id of a session", USAGE)
    return SshAddress(*found), session
