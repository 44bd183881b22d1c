"""Checks the settings `[machines]` and `[engines.NAME]`, and makes plain data of them.

Nothing is looked up and no file is opened: whether a machine answers is known when it is listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentwatch.base.config import EngineSettings, Machines
from agentwatch.base.faults import Fault
from agentwatch.cli.address import HERE, SSH
from agentwatch.remote.address import is_engine, parse_engine
from agentwatch.remote.engine import is_publisher
from agentwatch.text.safe import SafeText, cut, safe_line

_SETTINGS: Mapping[str, type] = {
    "address": str,
    "credentials": str,
    "ca": str,
    "publisher": str,
    "plaintext": bool,
}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
_SHOWN_COLUMNS = 40


class InvalidSetting(ValueError):
    """A setting is unknown or invalid; the message names its section, and what is expected."""


def machines_of(given: Mapping[str, Any], engines: Mapping[str, Any], folder: Path) -> Machines:
    """Return the settings about other machines. The names and types in `given`, the section `[machines]`, are
    checked already. Relative paths begin at `folder`, that of the settings. Raise `InvalidSetting` if a name
    is unknown, or a value is invalid."""
    known = {name: _engine(name, section, folder) for name, section in engines.items()}
    listed = given.get("list", [])
    for words in listed:
        _check_listed(words, known)
    publish = given.get("publish", "")
    if publish and publish not in known:
        if not is_engine(publish):
            raise InvalidSetting(
                f"[machines] publish: unknown engine {_shown(publish)}; "
                f"known engines: {_listed([*known, 'nats://HOST'])}"
            )
        _check_address("[machines] publish", publish)
    return Machines(tuple(listed), publish, known)


def _engine(name: str, section: object, folder: Path) -> EngineSettings:
    """Return the settings of one engine."""
    if _NAME.fullmatch(name) is None:
        raise InvalidSetting(f"[engines] {_shown(name)}: a name has letters, digits, - and _ only")
    table = f"[engines.{_shown(name)}]"
    if not isinstance(section, dict):
        raise InvalidSetting(f"engines.{_shown(name)} must be a table: {table}")
    for key, value in section.items():
        if key not in _SETTINGS:
            raise InvalidSetting(
                f"{table} unknown setting {_shown(key)}; known settings: {_listed(_SETTINGS)}"
            )
        if type(value) is not _SETTINGS[key]:
            expected = "true or false" if _SETTINGS[key] is bool else "a string in quotes"
            raise InvalidSetting(f"{table} {key}: expected {expected}, got {_shown(repr(value))}")
    if "address" not in section:
        raise InvalidSetting(f'{table} address is missing: address = "nats://HOST"')
    _check_address(f"{table} address", section["address"])
    publisher = section.get("publisher", "")
    if publisher and not is_publisher(publisher):
        raise InvalidSetting(
            f"{table} publisher: {_shown(publisher)} has other characters than a-z, 0-9 and -, or over 63"
        )
    return EngineSettings(
        section["address"],
        _file(section, "credentials", folder),
        _file(section, "ca", folder),
        publisher,
        section.get("plaintext", False),
    )


def _check_address(where: str, words: str) -> None:
    try:
        _, session = parse_engine(words)
    except Fault as fault:
        raise InvalidSetting(f"{where}: {fault}") from None
    if session:
        raise InvalidSetting(f"{where}: {_shown(words)} is a session; an engine is nats://HOST")


def _check_listed(words: object, engines: Mapping[str, EngineSettings]) -> None:
    if not isinstance(words, str):
        raise InvalidSetting(f"[machines] list: expected strings in quotes, got {_shown(repr(words))}")
    if words == HERE or words in engines or words.startswith(SSH):
        return
    if is_engine(words):
        _check_address("[machines] list", words)
        return
    known = [HERE, *engines, "nats://HOST", "ssh://HOST"]
    raise InvalidSetting(f"[machines] list: unknown machine {_shown(words)}; known: {_listed(known)}")


def _file(section: Mapping[str, Any], key: str, folder: Path) -> Path | None:
    """Return the path of a file; one that is relative begins in the folder of the settings."""
    words = section.get(key, "")
    return folder / os.path.expanduser(words) if words else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(text: str) -> SafeText:
    return cut(safe_line(text), _SHOWN_COLUMNS)
