"""Finds the login of an engine: by its name in the settings, or by its address."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.config import EngineSettings
from agentwatch.engine.address import is_engine, parse_engine
from agentwatch.engine.credentials import credentials
from agentwatch.engine.opening import Login
from agentwatch.faults import USAGE, Fault


def login_of(
    words: str, engines: Mapping[str, EngineSettings], environ: Mapping[str, str]
) -> tuple[Login, str]:
    """Return how to log in to an engine, and the words for a session behind its address.

    An address has the settings of the engine with the same host, port and user, if there is one.

    Args:
        words: The name of an engine in the settings, or an address `nats://HOST[/SESSION]`.
        engines: The engines in the settings, by their names.
        environ: The environment, which may have the credentials.

    Raises:
        Fault: No engine has this name, or the address or the credentials are wrong.
    """
    if not is_engine(words):
        if words not in engines:
            raise Fault(
                f"{words}: neither an address nats://HOST nor the name of an engine in the settings", USAGE
            )
        return _login(engines[words], environ), ""
    address, session = parse_engine(words)
    for settings in engines.values():
        if parse_engine(settings.address)[0] == address:
            return _login(settings, environ), session
    return Login(address, credentials(environ)), session


def settings_of(words: str, engines: Mapping[str, EngineSettings]) -> EngineSettings | None:
    """Return the settings of an engine by its name or address; None if the settings do not have it."""
    if not is_engine(words):
        return engines.get(words)
    address, _ = parse_engine(words)
    return next((each for each in engines.values() if parse_engine(each.address)[0] == address), None)


def _login(settings: EngineSettings, environ: Mapping[str, str]) -> Login:
    address, _ = parse_engine(settings.address)
    found = credentials(environ, settings.credentials, settings.ca)
    return Login(address, found, settings.plaintext)
