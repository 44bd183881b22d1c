"""The optional packages, and the command that installs one where this program runs."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from typing import Any

EXTRAS = {
    "zstd": "zstandard>=0.22",
    "otlp": "opentelemetry-exporter-otlp-proto-http>=1.45",
    "nats": "nats-py>=2.16,<2.17",
    "prices": "genai-prices>=0.2.3",
    "mcp": "mcp>=2.3,<3",
    "regex": "google-re2>=1.1",
}
"""What each extra of `pyproject.toml` installs for a user."""
NKEYS = "nkeys"
"""What a `.creds` file of NATS needs besides."""
_MOST_BYTES = 1 << 16


def install_command(package: str) -> str:
    """Return the command that installs a package beside this program: by uv, by pipx, or else by pip.

    Example:
        >>> install_command("nkeys").endswith(" nkeys")
        True
    """
    if (receipt := _uv_receipt()) is not None:
        given = [*_given(receipt, package), package]
        words = ["uv", "tool", "install", *(word for each in given for word in ("--with", each))]
        return shlex.join([*words, _source(receipt)])
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return shlex.join(["pipx", "inject", os.path.basename(sys.prefix), package])
    pip = shutil.which("pip")  # of another Python unless it lies in this environment
    is_ours = pip is not None and os.path.dirname(pip) == os.path.join(sys.prefix, "bin")
    return shlex.join([*(["pip"] if is_ours else [sys.executable, "-m", "pip"]), "install", package])


def _uv_receipt() -> list[dict[str, Any]] | None:
    """The packages that `uv tool` was asked for, the tool first; None if it has not installed this."""
    try:
        with open(os.path.join(sys.prefix, "uv-receipt.toml"), "rb") as file:
            text = file.read(_MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return None
    import tomllib

    try:
        found = [*tomllib.loads(text)["tool"]["requirements"]]
    except (tomllib.TOMLDecodeError, RecursionError, LookupError, TypeError):
        found = []
    name = os.path.basename(sys.prefix)
    known = [each for each in found if isinstance(each, dict) and isinstance(each.get("name"), str)]
    return sorted(known, key=lambda each: each["name"] != name) or [{"name": name}]


def _given(receipt: list[dict[str, Any]], package: str) -> Iterator[str]:
    """`uv tool install` keeps only what it is given: the packages that were installed with the tool."""
    for each in receipt[1:]:
        if package.partition(">=")[0] != each["name"]:
            yield _source([each])


def _source(receipt: list[dict[str, Any]]) -> str:
    """The first package as it was asked for: a folder, an address, or a name with its versions."""
    first = {name: value for name, value in receipt[0].items() if isinstance(value, str)}
    extras = receipt[0].get("extras")
    name = f"{first['name']}[{','.join(map(str, extras))}]" if isinstance(extras, list) else first["name"]
    for kind in ("directory", "editable", "path"):
        if kind in first:
            return first[kind] + name.removeprefix(first["name"])
    if "git" in first:
        return f"{name} @ git+{first['git'].replace('?rev=', '@')}"
    return f"{name} @ {first['url']}" if "url" in first else name + first.get("specifier", "")
