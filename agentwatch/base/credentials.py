"""How to log in to an engine: from the environment or a private file, never from the command line.

| variable | meaning |
|---|---|
| `AGENTWATCH_NATS_USER`, `AGENTWATCH_NATS_PASSWORD` | a user and the password |
| `AGENTWATCH_NATS_TOKEN` | a token |
| `AGENTWATCH_NATS_CREDENTIALS` | a file: `.creds` of NATS, or lines `user: …`, `password: …`, `token: …` |
| `AGENTWATCH_NATS_CA` | a file with the certificates of an authority of your own |

The agent that `run` starts gets none of these variables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentwatch.base.faults import USAGE, Fault, cannot_open, raising

PREFIX = "AGENTWATCH_NATS_"
"""The beginning of the names of all variables above."""
_MOST_BYTES = 1 << 16
_JWT = "-----BEGIN NATS USER JWT-----"
_KEYS = ("user", "password", "token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What is secret does not appear in its `repr`."""

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    creds: Path | None = None
    ca: Path | None = None
    """The certificates in PEM; None for those of the system."""

    @property
    def has_secret(self) -> bool:
        return bool(self.password or self.token or self.creds)


def credentials(environ: Mapping[str, str], file: Path | None = None, ca: Path | None = None) -> Credentials:
    """Return the credentials in `file`, by default the one that the environment names, or in the environment.
    Raise `Fault` if the file cannot be read, others may read it, or it has something else."""
    named = environ.get(f"{PREFIX}CREDENTIALS", "")
    given_ca = environ.get(f"{PREFIX}CA", "")
    ca = ca or (Path(given_ca) if given_ca else None)
    file = file or (Path(named) if named else None)
    if file is not None:
        return _in_file(file, ca)
    return _of({name: environ.get(f"{PREFIX}{name.upper()}", "") for name in _KEYS}, ca)


def without_credentials(environ: Mapping[str, str]) -> dict[str, str]:
    """Remove the variables of this module, for the agent that is started."""
    return {name: value for name, value in environ.items() if not name.startswith(PREFIX)}


def _in_file(path: Path, ca: Path | None) -> Credentials:
    with raising(cannot_open, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            mode = os.fstat(fd).st_mode
            text = os.read(fd, _MOST_BYTES).decode("utf-8", "replace")
        finally:
            os.close(fd)
    if mode & 0o077:
        raise Fault(f"{path}: others may read it; run chmod 600 on it", USAGE)
    if _JWT in text:
        return Credentials(creds=path, ca=ca)
    values = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() in _KEYS:
            values[name.strip().lower()] = value.strip()
    if not values:
        raise Fault(f"{path}: neither a .creds file of NATS nor lines such as `user: …`", USAGE)
    return _of(values, ca)


def _of(values: Mapping[str, str], ca: Path | None) -> Credentials:
    user, password, token = (values.get(name, "") for name in _KEYS)
    return Credentials(user=user, password=password, token=token, ca=ca)
