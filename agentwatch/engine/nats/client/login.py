"""A login as the client takes it. It is sent by the client after TLS is up; see `transport`."""

from __future__ import annotations

import importlib.util
import ssl
from typing import Any

from agentwatch.engine.opening import Login
from agentwatch.faults import USAGE, Fault, cannot_open

NKEYS = "pip install nkeys"


def login_options(login: Login) -> dict[str, Any]:
    """Return the options of the client's `connect` for a login.

    Raises:
        Fault: The certificates cannot be read, or a `.creds` file needs a package that is not installed.
    """
    given = login.credentials
    if given.creds is not None and importlib.util.find_spec("nkeys") is None:
        raise Fault(f"{given.creds}: .creds files need a package that is not installed: {NKEYS}", USAGE)
    options: dict[str, Any] = {
        "user": login.address.user or given.user or None,
        "password": given.password or None,
        "token": given.token or None,
        "user_credentials": None if given.creds is None else str(given.creds),
    }
    if given.ca is not None or not (login.address.is_loopback or login.allows_plaintext):
        options["tls"] = _context(login)
    return options


def _context(login: Login) -> ssl.SSLContext:
    """Return the context that checks the server's certificate and name; there is no way to skip it."""
    authority = login.credentials.ca
    try:
        context = ssl.create_default_context(cafile=authority)
    except ssl.SSLError:
        raise Fault(f"{authority}: no certificates in PEM", USAGE) from None
    except OSError as error:
        assert authority is not None
        raise cannot_open(authority, error) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
