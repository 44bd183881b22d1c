"""Logs in to an engine: its settings and credentials, and the connection of a publisher or a watcher."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from agentwatch.base.config import EngineSettings
from agentwatch.base.credentials import credentials
from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.address import is_engine, parse_engine
from agentwatch.remote.engine import Archive, Login, Sink


def check_extra() -> None:
    """Check that the client is installed, without importing it; the `Fault` says how to install it."""
    found = importlib.util.find_spec("nats")
    if found is None or found.origin is None:  # a folder of this name is a package without an origin
        from agentwatch.base.extras import EXTRAS, install_command

        raise Fault(f"engines need a package that is not installed: {install_command(EXTRAS['nats'])}", USAGE)


def open_sink(login: Login, publisher: str) -> Sink:
    """Connect as a publisher. Raise `Fault` if the extra is missing, `RemoteError` if the engine is away."""
    check_extra()
    from agentwatch.remote.nats.link import NatsSink

    return NatsSink(login, publisher)


def open_archive(login: Login) -> Archive:
    """Connect as a watcher. Raise `Fault` if the extra is missing, `RemoteError` if the engine is away."""
    check_extra()
    from agentwatch.remote.nats.archive import NatsArchive

    return NatsArchive(login)


def login_of(
    words: str, engines: Mapping[str, EngineSettings], environ: Mapping[str, str]
) -> tuple[Login, str]:
    """Return how to log in to an engine, and the words for a session behind its address. `words` are a name
    in the settings, or an address, which has the settings of the engine with the same host, port and user.
    Raise `Fault` if there is no such engine, or its address or credentials are wrong."""
    settings = settings_of(words, engines)
    address, session = parse_engine(words if is_engine(words) or settings is None else settings.address)
    if settings is None:
        return Login(address, credentials(environ)), session
    found = credentials(environ, settings.credentials, settings.ca)
    return Login(address, found, settings.plaintext), session


def settings_of(words: str, engines: Mapping[str, EngineSettings]) -> EngineSettings | None:
    """Return the settings of an engine by its name or address, or None; raise `Fault` for an unknown name."""
    if not is_engine(words):
        if words not in engines:
            raise Fault(
                f"{words}: neither an address nats://HOST nor the name of an engine in the settings", USAGE
            )
        return engines[words]
    address, _ = parse_engine(words)
    return next((each for each in engines.values() if parse_engine(each.address)[0] == address), None)
