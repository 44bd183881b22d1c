"""Facts about other machines: ssh, the engines of the settings, the copies. Nothing is connected to.

Names of engines and hosts are the user's, so engines are numbered in the order of the settings.
`agentwatch engine status` connects to one.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from agentwatch.config import EngineSettings, Machines
from agentwatch.engine.address import parse_engine
from agentwatch.engine.credentials import PREFIX
from agentwatch.faults import Fault
from agentwatch.state_folder import state_folder
from agentwatch.text.amounts import byte_size, plural

_VARIABLES = ("USER", "PASSWORD", "TOKEN", "CREDENTIALS", "CA")


def machines(environ: Mapping[str, str]) -> dict[str, object]:
    """Return the facts by name."""
    found: dict[str, object] = {
        "ssh": "found" if shutil.which("ssh", path=environ.get("PATH")) else "not found",
        "credentials": ", ".join(name for name in _VARIABLES if environ.get(f"{PREFIX}{name}")) or "not set",
        "copies": _copies(state_folder(environ) / "copies"),
    }
    from agentwatch.cli.config_file import read_machines

    try:
        settings = read_machines(environ)
    except Fault:
        return found | {"settings": "invalid"}
    found["settings"] = _settings(settings)
    for number, engine in enumerate(settings.engines.values(), 1):
        found[f"engine {number}"] = _engine(engine)
    return found


def _copies(folder: Path) -> str:
    """Return how many recordings of other machines are kept, and their size."""
    try:
        sizes = [path.lstat().st_size for path in folder.glob("*.ndjson")]
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()
    return f"{plural(len(sizes), 'recording')}, {byte_size(sum(sizes))}"


def _settings(settings: Machines) -> str:
    listed = f"{plural(len(settings.listed), 'machine')} listed" if settings.listed else "only this machine"
    return f"{listed}, {'every run is published' if settings.publish else 'runs are not published'}"


def _engine(engine: EngineSettings) -> str:
    address, _ = parse_engine(engine.address)
    safety = "plain text allowed" if engine.plaintext else "TLS"
    if address.is_loopback:
        safety = "this machine"
    files = [
        f"{name} {_mode(path)}"
        for name, path in (("credentials", engine.credentials), ("authority", engine.ca))
        if path is not None
    ]
    return ", ".join([safety, *files])


def _mode(path: Path) -> str:
    try:
        return f"{stat.S_IMODE(path.stat().st_mode):04o}"
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()
