"""The words that take the place of what is masked."""

from __future__ import annotations

import hmac
import secrets

HOME = "home folder"
USER = "user name"
E_MAIL = "e-mail"
PERSONAL = frozenset({HOME, USER, E_MAIL})
"""The kinds of personal data; every other kind is a secret."""
_TAIL = 4


class Masks:
    """Makes masks with one random key, so that equal values get equal masks in one export only.

    The tail of a mask is 4 hexadecimal digits of an HMAC. Without the key nobody can try values against it.

    Args:
        key: The key of the HMAC; None for a random one.

    Example:
        >>> Masks(b"key").mask("hunter2", "password")
        '[secret:password 05d2]'
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(32) if key is None else key

    def mask(self, value: str, kind: str) -> str:
        """Return what takes the place of a value.

        Args:
            value: The value that is masked.
            kind: Its kind, as in `Found.kind`.
        """
        if kind == HOME:
            return "~"
        data = value.encode("utf-8", "surrogatepass")
        tail = hmac.digest(self._key, data, "sha256").hex()[:_TAIL]
        if kind == USER:
            return f"user-{tail}"
        return f"[{kind} {tail}]" if kind in PERSONAL else f"[secret:{kind} {tail}]"
