"""A login as the client takes it. It is sent by the client after TLS is up; see `transport`."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import ssl
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from agentwatch.engine.opening import Login
from agentwatch.faults import USAGE, Fault, cannot_open

NKEYS = "pip install nkeys"
_MOST_BYTES = 1 << 16
_JWT = b"BEGIN NATS USER JWT"
_SEED = b"BEGIN USER NKEY SEED"


def login_options(login: Login) -> dict[str, Any]:
    """Return the options of the client's `connect` for a login.

    Raises:
        Fault: A file cannot be read, or a `.creds` file needs a package that is not installed.
    """
    given = login.credentials
    options: dict[str, Any] = {
        "user": login.address.user or given.user or None,
        "password": given.password or None,
        "token": given.token or None,
    }
    if given.creds is not None:
        options |= _signing(given.creds)
    if given.ca is not None or not (login.address.is_loopback or login.allows_plaintext):
        options["tls"] = _context(given.ca)
    return options


def _signing(path: Path) -> dict[str, Callable[..., bytes]]:
    """Return what sends the JWT in a `.creds` file, and signs the server's challenge with the seed in it.

    nats-py can read the file as well, and reads a damaged one without end.
    """
    if importlib.util.find_spec("nkeys") is None:
        raise Fault(f"{path}: .creds files need a package that is not installed: {NKEYS}", USAGE)
    nkeys = importlib.import_module("nkeys")
    jwt, seed = _creds(path)
    try:
        keys = nkeys.from_seed(bytearray(seed))
        keys.sign(b"")
    except (nkeys.NkeysError, ValueError, IndexError):
        raise Fault(f"{path}: the seed in the file is damaged", USAGE) from None
    return {
        "user_jwt_cb": lambda: jwt,
        "signature_cb": lambda nonce: base64.b64encode(keys.sign(nonce.encode())),
    }


def _creds(path: Path) -> tuple[bytes, bytes]:
    """Return the JWT and the seed in a `.creds` file: each is the line after its own `-----BEGIN …-----`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            lines = os.read(fd, _MOST_BYTES).splitlines()
        finally:
            os.close(fd)
    except OSError as error:
        raise cannot_open(path, error) from None
    found: dict[bytes, bytes] = {}
    for line, after in pairwise(lines):
        for name in (_JWT, _SEED):
            if name in line and after.isascii():
                found.setdefault(name, after.strip())
    if not all(found.get(name) for name in (_JWT, _SEED)):
        raise Fault(f"{path}: a .creds file of NATS has a JWT and a seed", USAGE)
    return found[_JWT], found[_SEED]


def _context(authority: Path | None) -> ssl.SSLContext:
    """Return the context that checks the server's certificate and name; there is no way to skip it."""
    try:
        context = ssl.create_default_context(cafile=authority)
    except ssl.SSLError:
        raise Fault(f"{authority}: no certificates in PEM", USAGE) from None
    except OSError as error:
        raise cannot_open(authority or Path(), error) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
