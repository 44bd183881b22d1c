"""The place `[USER@]HOST[:PORT]` in an address of another machine, safe as a word on a command line."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

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
    """Empty if the address names none."""
    port: int | None = None
    """None if the address names none."""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{user}{host}{port}"


def parse_place(text: str) -> HostPlace | None:
    """Return the place in a text; None if the text is no place.

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
