"""Connects the administrator, and words errors of the engine for the user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.cli.config_file import read_machines
from agentwatch.engine.credentials import credentials
from agentwatch.engine.engine import EngineError, named
from agentwatch.engine.logins import login_of
from agentwatch.engine.opening import Login, check_extra
from agentwatch.faults import USAGE, Fault

if TYPE_CHECKING:
    from agentwatch.engine.nats.administration import Administrator, Server

Asked = tuple[str, Path | None, Path | None]
"""The address or the name of an engine, a file with credentials, and the certificates of an authority."""


NO_JETSTREAM = "JetStream is off: add `jetstream {}` to the server's configuration, or start it with -js"

_DENIED = "this user may not do that; log in as the administrator, for example as nats://admin@HOST"


def login(asked: Asked) -> Login:
    """Return how to log in to the engine that the user names.

    Raises:
        Fault: The settings do not have it, the address names a session, or the credentials cannot be read.
    """
    words, file, ca = asked
    found, session = login_of(words, read_machines(os.environ).engines, os.environ)
    if session:
        raise Fault(f"engine takes the address of an engine, without a session: {found.address}", USAGE)
    if file is None and ca is None:
        return found
    given = credentials(os.environ, file or found.credentials.creds, ca or found.credentials.ca)
    return found._replace(credentials=given)


@contextmanager
def administrator(found: Login) -> Iterator[Administrator]:
    """Connect to an engine as its administrator, and report its errors as faults.

    Raises:
        Fault: The extra is not installed, or the engine has refused something or does not answer.
    """
    check_extra()
    from agentwatch.engine.nats.administration import Administrator
    from agentwatch.engine.nats.errors import NOT_ALLOWED

    try:
        opened = Administrator(found)
        try:
            yield opened
        finally:
            opened.close()
    except EngineError as error:
        if str(error).startswith(NOT_ALLOWED):
            raise Fault(f"{found.address}: {_DENIED}", USAGE) from None
        raise Fault(named(str(found.address), str(error)), USAGE) from None


def warnings(server: Server, found: Login) -> Iterator[str]:
    """Yield a line for each property of a server that makes it unfit for others, with what to do about it."""
    if not server.has_jetstream:
        yield NO_JETSTREAM
    if server.warning:
        yield f"{server.warning}; this one is for a team whose members trust each other"
    if not server.is_encrypted and not found.address.is_loopback:
        yield "the connection is not encrypted: others in the network can read passwords and sessions"
