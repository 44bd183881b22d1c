"""The address of an engine, `nats://[USER@]HOST[:PORT]`, and of a session on it, with `/SESSION` behind."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.host import HostPlace, has_password, parse_place

SCHEME = "nats://"
PORT = 4222
_MOST_CHARACTERS = 400


class EngineAddress(NamedTuple):
    """Where an engine is."""

    host: str
    """A name in lower case, or an address; one of IPv6 without brackets."""
    port: int = PORT
    user: str = ""
    """The user to log in as; empty for the one in the credentials, or for none."""

    def __str__(self) -> str:
        """Return the address as the user would type it. It has no secret."""
        port = None if self.port == PORT else self.port
        return f"{SCHEME}{HostPlace(self.host, self.user, port)}"

    @property
    def is_loopback(self) -> bool:
        """Whether the engine runs on this machine, by its name alone: nothing is looked up."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def is_engine(words: str) -> bool:
    """Return whether words are an address of an engine, or of a session on one."""
    return words.startswith(SCHEME)


def parse_engine(words: str) -> tuple[EngineAddress, str]:
    """Return the address of an engine, and what stands behind its `/`: the words for a session, or nothing.

    Args:
        words: `nats://HOST`, `nats://USER@HOST:PORT`, `nats://HOST/SESSION`.

    Raises:
        Fault: The words are no such address, or contain a password.
    """
    place, _, session = words[:_MOST_CHARACTERS].removeprefix(SCHEME).partition("/")
    if has_password(place):
        raise Fault(
            "an address must not contain a password: other users of this machine can read it; "
            "set AGENTWATCH_NATS_PASSWORD, or name a file with --credentials",
            USAGE,
        )
    found = parse_place(place) if is_engine(words) and len(words) <= _MOST_CHARACTERS else None
    if found is None:
        raise Fault("the address of an engine is nats://HOST or nats://USER@HOST:PORT", USAGE)
    return EngineAddress(found.host.lower(), found.port or PORT, found.user), session
