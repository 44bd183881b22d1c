"""What a publisher and a watcher may do on a server, as data and as text for its configuration file.

A publisher writes below its own token, and asks for its own tail. A watcher creates readers and asks for
their next messages. Neither may do anything else: no `$JS.API.STREAM.*`, no answers of another user.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentwatch.engine.names import BUCKET, CARD_STREAM, STREAM

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,63}")
_NAMELESS = "watcher"


class Permissions(NamedTuple):
    """The subjects to which a user may publish and subscribe; everything else is denied."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def inbox_of(user: str) -> str:
    """Return the prefix of the subjects of answers to a user; `_INBOX.watcher` for one without a name."""
    return f"_INBOX.{user if _TOKEN.fullmatch(user) else _NAMELESS}"


def can_watch(user: str) -> bool:
    """Return whether a name can be that of a user who watches."""
    return _TOKEN.fullmatch(user) is not None


def of_publisher(publisher: str) -> Permissions:
    """Return the permissions of the user that publishes as a publisher.

    Args:
        publisher: The publisher's token.
    """
    return Permissions(
        (
            f"aw.v1.c.{publisher}.>",
            f"$KV.{BUCKET}.{publisher}.>",
            f"$JS.API.DIRECT.GET.{STREAM}.aw.v1.c.{publisher}.>",
        ),
        (f"{inbox_of(publisher)}.>",),
    )


def of_watcher(user: str) -> Permissions:
    """Return the permissions of a user who watches the sessions of all publishers.

    Args:
        user: The name of the user.
    """
    return Permissions(
        (
            f"$JS.API.CONSUMER.CREATE.{STREAM}.*.aw.v1.c.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.>",
            f"$JS.API.CONSUMER.CREATE.{CARD_STREAM}.*.$KV.{BUCKET}.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{CARD_STREAM}.>",
        ),
        (f"{inbox_of(user)}.>",),
    )


def user_block(user: str, permissions: Permissions, password: str) -> str:
    """Return the entry of a user in the `users` of a server's configuration.

    Args:
        user: The name of the user.
        permissions: What the user may do.
        password: What the configuration has for it: a bcrypt hash in quotes, or a variable.
    """
    lines = [f"{{ user: {_quoted(user)}, password: {password}, permissions: {{"]
    for name, subjects in zip(Permissions._fields, permissions, strict=True):
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        lines.append(f"    {name}: {{ allow: [{listed}] }}")
    return "\n".join([*lines, "} }"])


def _quoted(text: str) -> str:
    """Return a text as a string of the server's configuration."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
