"""Where recordings are shipped to: an engine, how to log in there, and the publisher's token."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agentwatch.config import EngineSettings
from agentwatch.engine.address import is_engine, parse_engine
from agentwatch.engine.credentials import PREFIX, credentials
from agentwatch.engine.logins import settings_of
from agentwatch.engine.names import publisher_of
from agentwatch.engine.opening import Login
from agentwatch.faults import USAGE, Fault

PLAINTEXT = "plaintext"
"""The word for a connection without TLS, among the arguments of a process."""
_FILES = ("CREDENTIALS", "CA")
"""The variables that name files."""


class Given(NamedTuple):
    """What the command line says about an engine, beside its address."""

    publisher: str = ""
    credentials: Path | None = None
    ca: Path | None = None
    plaintext: bool = False


class Target(NamedTuple):
    """An engine to which recordings are shipped."""

    login: Login
    publisher: str
    """The publisher's token."""
    environ: Mapping[str, str]
    """The environment of a process that ships to it, which names the files of the login by full paths."""


def target_of(
    words: str, engines: Mapping[str, EngineSettings], environ: Mapping[str, str], given: Given
) -> Target:
    """Return where recordings are shipped to. Nothing is connected.

    Args:
        words: The name of an engine in the settings, or an address `nats://HOST`.
        engines: The engines in the settings, by their names.
        environ: The environment, which may have the credentials.
        given: What the command line says; it counts more than the settings.

    Raises:
        Fault: No engine has this name, or the address or the credentials are wrong.
    """
    settings = settings_of(words, engines)
    if settings is None and not is_engine(words):
        raise Fault(
            f"{words}: neither an address nats://HOST nor the name of an engine in the settings", USAGE
        )
    address, session = parse_engine(words if settings is None else settings.address)
    if session:
        raise Fault(f"{words}: to publish, name the engine without a session: {address}", USAGE)
    settings = settings or EngineSettings(str(address))
    files = (given.credentials or settings.credentials, given.ca or settings.ca)
    named = {f"{PREFIX}{name}": str(file) for name, file in zip(_FILES, files, strict=True) if file}
    whole = {**environ, **named}
    for name in _FILES:
        if path := whole.get(f"{PREFIX}{name}"):
            whole[f"{PREFIX}{name}"] = os.path.abspath(path)
    login = Login(address, credentials(whole), given.plaintext or settings.plaintext)
    name = given.publisher or settings.publisher or address.user or login.credentials.user
    return Target(login, publisher_of(name or os.uname().nodename), whole)


def target_in(environ: Mapping[str, str], address: str, publisher: str, *, plaintext: bool) -> Target:
    """Return the target in the environment that another process has made of one.

    Raises:
        Fault: The credentials cannot be read any more.
    """
    login = Login(parse_engine(address)[0], credentials(environ), plaintext)
    return Target(login, publisher, environ)
