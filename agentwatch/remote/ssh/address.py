"""The address of a host, `ssh://[USER@]HOST[:PORT]`, and of a session on it, with `/ID` behind.

Every part is a word on a command line: of `ssh` here, or of the shell there. So each has a pattern that no
option, no second word and no expansion of a shell matches.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentwatch.faults import USAGE, Fault

SCHEME = "ssh://"
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}")
_HOST = re.compile(r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_PORT = re.compile(r"[0-9]{1,5}")
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
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{SCHEME}{user}{host}{port}"


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
    user, has_user, server = place.rpartition("@")
    if ":" in user:
        raise Fault("an address must not contain a password: other users of this machine can read it", USAGE)
    host, port = _host_and_port(server)
    if (
        not is_ssh(words)
        or len(words) > _MOST_CHARACTERS
        or (has_user and _USER.fullmatch(user) is None)
        or _HOST.fullmatch(host) is None
        or (port is not None and (_PORT.fullmatch(port) is None or not 0 < int(port) < 1 << 16))
    ):
        raise Fault("the address of a host is ssh://HOST or ssh://USER@HOST:PORT", USAGE)
    if session and not is_session(session):
        raise Fault(f"{SCHEME}{place}/…: this is not an id of a session", USAGE)
    return SshAddress(host.strip("[]"), user, None if port is None else int(port)), session


def _host_and_port(server: str) -> tuple[str, str | None]:
    """Return the host, with brackets around an address of IPv6, and the port, if there is one."""
    if server.startswith("["):
        host, bracket, rest = server.partition("]")
        return f"{host}{bracket}", (rest.removeprefix(":") if rest.startswith(":") else rest) or None
    host, colon, port = server.partition(":")
    return host, port if colon else None
