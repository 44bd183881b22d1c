"""Connects to an engine. The client is imported here, when the first connection is made."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

from agentwatch.engine.address import EngineAddress
from agentwatch.engine.credentials import Credentials
from agentwatch.engine.engine import Archive, Sink
from agentwatch.faults import USAGE, Fault

INSTALL = "pip install 'nats-py>=2.16,<2.17'"


class Login(NamedTuple):
    """An engine, and how to log in to it."""

    address: EngineAddress
    credentials: Credentials = Credentials()
    allows_plaintext: bool = False
    """Whether a connection to another host may go without TLS."""


def check_extra() -> None:
    """Check that the client is installed, without importing it.

    Raises:
        Fault: It is not; the message says how to install it.
    """
    found = importlib.util.find_spec("nats")
    if found is None or found.origin is None:  # a folder of this name is a package without an origin
        raise Fault(f"engines need a package that is not installed: {INSTALL}", USAGE)


def open_sink(login: Login, publisher: str) -> Sink:
    """Connect as a publisher.

    Args:
        login: The engine.
        publisher: The publisher's token, below which it may write.

    Raises:
        Fault: The extra is not installed.
        EngineError: The engine cannot be reached, refuses the login, or would get it without TLS.
    """
    check_extra()
    from agentwatch.engine.nats.sink import NatsSink

    return NatsSink(login, publisher)


def open_archive(login: Login) -> Archive:
    """Connect as a watcher.

    Args:
        login: The engine.

    Raises:
        Fault: The extra is not installed.
        EngineError: The engine cannot be reached, refuses the login, or would get it without TLS.
    """
    check_extra()
    from agentwatch.engine.nats.archive import NatsArchive

    return NatsArchive(login)
