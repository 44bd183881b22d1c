"""Addresses: an engine is `nats://[USER@]HOST[:PORT]`, and a session on it `nats://…/SESSION`."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from agentwatch.base.config import ENGINE
from agentwatch.base.faults import USAGE, Fault

_PLACE = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62})@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
"""No option, no second word and no expansion of a shell matches any part."""


class HostPlace(NamedTuple):
    """A host, and the user and the port there."""

    host: str
    """A name, or an address; one of IPv6 without brackets."""
    user: str = ""
    """The user; empty if the address names none."""
    port: int | None = None
    """The port; None if the address names none."""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{user}{host}{port}"


def parse_place(text: str) -> HostPlace | None:
    """Return the place in a text; None if the text is not a place.

    Example:
        >>> parse_place("ci@build1:2222")
        HostPlace(host='build1', user='ci', port=2222)
    """
    if (found := _PLACE.fullmatch(text)) is None:
        return None
    port = None if found["port"] is None else int(found["port"])
    if port is not None and not 0 < port < 1 << 16:
        return None
    if found["ipv6"] is not None and not _is_ipv6(found["ipv6"]):
        return None
    return HostPlace(found["ipv6"] or found["host"], found["user"] or "", port)


def has_password(text: str) -> bool:
    """Return whether there is a password before the host."""
    return ":" in text.rpartition("@")[0]


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


PORT = 4222
_MOST_CHARACTERS = 400


class EngineAddress(NamedTuple):
    host: str
    """A name in lower case, or an address; one of IPv6 without brackets."""
    port: int = PORT
    user: str = ""
    """The user to log in as; empty for the one in the credentials, or for none."""

    def __str__(self) -> str:
        """Return the address as the user would type it. It has no secret."""
        port = None if self.port == PORT else self.port
        return f"{ENGINE}{HostPlace(self.host, self.user, port)}"

    @property
    def is_loopback(self) -> bool:
        """Whether the engine runs on this machine, by its name alone: nothing is looked up."""
        if self.host == "localhost":
            return True
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        mapped = address.ipv4_mapped if address.version == 6 else None  # Python 3.11 does not look into it
        return (mapped or address).is_loopback


def is_engine(words: str) -> bool:
    """Return whether words are an address of an engine, or of a session on one."""
    return words.startswith(ENGINE)


def parse_engine(words: str) -> tuple[EngineAddress, str]:
    """Return an engine, and the session behind its `/` or empty; raise `Fault` for a wrong form or a
    password."""
    place, _, session = words[:_MOST_CHARACTERS].removeprefix(ENGINE).partition("/")
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
