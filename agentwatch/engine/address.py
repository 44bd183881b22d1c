"""The address of an engine, `nats://[USER@]HOST[:PORT]`, and of a session on it, with `/SESSION` behind."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from agentwatch.faults import USAGE, Fault

SCHEME = "nats://"
PORT = 4222
_PLACE = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_.-]{1,63})@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
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
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORT else f":{self.port}"
        return f"{SCHEME}{user}{host}{port}"

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
    if ":" in place.rpartition("@")[0]:
        raise Fault(
            "an address must not contain a password: other users of this machine can read it; "
            "set AGENTWATCH_NATS_PASSWORD, or name a file with --credentials",
            USAGE,
        )
    found = _PLACE.fullmatch(place) if is_engine(words) and len(words) <= _MOST_CHARACTERS else None
    if found is not None:
        port = PORT if found["port"] is None else int(found["port"])
        if 0 < port < 1 << 16 and (found["ipv6"] is None or _is_ipv6(found["ipv6"])):
            host = found["ipv6"] or found["host"]
            return EngineAddress(host.lower(), port, found["user"] or ""), session
    raise Fault("the address of an engine is nats://HOST or nats://USER@HOST:PORT", USAGE)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
