"""Reads the user's settings from `config.toml`, when a screen is drawn, by `sessions --prune`, and by every
command that may be about another machine. An error in it is reported in one line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentwatch.base.config import ACTS, HERE, SSH, Config, EngineSettings, Machines, OnSetting, SessionRule
from agentwatch.base.faults import USAGE, Fault, cannot_open
from agentwatch.base.files import config_file
from agentwatch.recording.store import open_regular
from agentwatch.text.safe import SafeText, cut, safe_line

_SHOWN_COLUMNS = 40
_MOST_BYTES = 1 << 20
_RINGS = ("all", "none")
_SECTIONS: Mapping[str, Mapping[str, type] | None] = {
    "keys": None,
    "screen": {"theme": str, "thinking": bool},
    "attention": {"bell": bool, "note": bool, "title": bool, "leave_to": list},
    "sessions": {"ring": str, "keep": str, "columns": list, "on": list},
    "machines": {"list": list, "publish": str},
    "act": dict.fromkeys(ACTS, bool),
    "engines": None,
    "on": None,
}
"""The keys of each section and the types of their values. The keys of `[keys]` are ids of bindings, and those
of `[engines]` are the user's names of engines, each of which is a table. `[[on]]` is a list of tables."""
_EXPECTED = {bool: "true or false", list: "a list of strings in quotes", str: "a string in quotes"}
_OF_ENGINES: Mapping[str, type] = {
    "address": str,
    "credentials": str,
    "ca": str,
    "publisher": str,
    "plaintext": bool,
}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
_OF_RULES = ("rule", "use", "action", "name", "command")
_COMMAND = 'command = ["notify-send", "agentwatch"]'
_MOST_RULES = 100


class InvalidSetting(ValueError):
    """A setting is unknown or invalid; the message names its section, and what is expected."""


def read_config(environ: Mapping[str, str] = os.environ) -> Config:
    """Return the user's settings, or the defaults. AGENTWATCH_CONFIG may name the file."""
    path, sections = _sections_of(environ)
    found = {key: value for name in ("screen", "attention") for key, value in sections.get(name, {}).items()}
    if "ring" in sections.get("sessions", {}):
        found["ring"] = sections["sessions"]["ring"]
    if columns := sections.get("sessions", {}).get("columns"):
        from agentwatch.screen.screens.sessions.cells import NAMES

        _check_known(path, "[sessions]", "column", columns, NAMES)
        found["columns"] = tuple(columns)
    if "leave_to" in found:
        from agentwatch.agents.registry import AGENTS

        _check_known(path, "[attention] leave_to:", "agent", found["leave_to"], AGENTS)
        found["leave_to"] = tuple(found["leave_to"])
    keys, machines = sections.get("keys", {}), _machines(path, sections)
    config = Config(keys=keys, machines=machines, act=_acts(sections), **found)
    config = _with_rules(path, sections, config)
    if config.theme is not None:
        from agentwatch.screen.terminal.themes import theme_names

        _check_known(path, "[screen]", "theme", [config.theme], theme_names())
    if config.keys:
        _check_keys(path, config.keys)
    return config


def read_runs(environ: Mapping[str, str] = os.environ) -> Config:
    """Return the rules that run a command, and the acts allowed; themes and keys would load Textual."""
    path, sections = _sections_of(environ)
    config = _with_rules(path, sections, Config(act=_acts(sections)))
    return config._replace(on=tuple(each for each in config.on if each.command))


def read_keep_ms(environ: Mapping[str, str] = os.environ) -> int | None:
    """Return the age from which `--prune` deletes saved sessions; themes and keys would load Textual."""
    path, sections = _sections_of(environ)
    words = sections.get("sessions", {}).get("keep")
    return None if words is None else _age_ms(path, words)


def read_machines(environ: Mapping[str, str] = os.environ) -> Machines:
    """Return the settings about other machines; themes and keys would load Textual."""
    return _machines(*_sections_of(environ))


def read_acts_allowed(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the kinds of acts of `ACTS` that are switched on; themes and keys would load Textual."""
    return _acts(_sections_of(environ)[1])


def _acts(sections: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(name for name, is_on in sections.get("act", {}).items() if is_on)


def _sections_of(environ: Mapping[str, str]) -> tuple[Path, dict[str, dict[str, Any]]]:
    """Return the path of the file and its sections, whose names and types are checked."""
    path, is_named = config_file(environ), bool(environ.get("AGENTWATCH_CONFIG"))
    try:
        data = _read(path, is_named=is_named)
    except FileNotFoundError as error:
        if is_named:
            raise cannot_open(path, error) from None
        return path, {}
    except OSError as error:
        raise cannot_open(path, error) from None
    import tomllib  # takes 1.5 ms

    try:
        sections = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise _fault(path, f"not valid UTF-8 at byte {error.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _fault(path, f"not valid TOML: {error}") from None
    for name, section in sections.items():
        _check_section(path, name, section)
    of_sessions = sections.get("sessions", {})
    if "keep" in of_sessions:
        _age_ms(path, of_sessions["keep"])
    _check_known(path, "[sessions]", "ring", [of_sessions.get("ring", _RINGS[0])], _RINGS)
    return path, sections


def _read(path: Path, *, is_named: bool) -> bytes:
    """Return the text of the settings. The file must be regular: a FIFO could block for ever, and a device
    has no end. `AGENTWATCH_CONFIG=/dev/null` means no settings."""
    if is_named and os.fspath(path) == os.devnull:
        return b""
    with open(open_regular(path, follow_links=True), "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _fault(path, f"larger than {_MOST_BYTES >> 10} KiB")
    return data


def _check_section(path: Path, name: str, section: object) -> None:
    if name not in _SECTIONS:
        known = ", ".join(f"[{known}]" for known in _SECTIONS)
        raise _fault(path, f"unknown section {_short(name)}; known sections: {known}")
    if name == "on":
        return  # `_with_rules` checks them, with a module that most settings do not need
    if not isinstance(section, dict):
        raise _fault(path, f"{name} must be a table: [{name}]")
    if name == "engines":
        return  # `_machines` checks them, with a module that most settings do not need
    types = _SECTIONS[name]
    for key, value in section.items():
        expected = str if types is None else types.get(key)
        if types is not None and expected is None:
            raise _fault(path, f"[{name}] unknown setting {_short(key)}; known settings: {', '.join(types)}")
        if type(value) is not expected:
            expectation = _EXPECTED[str if expected is None else expected]
            raise _fault(path, f"[{name}] {_short(key)}: expected {expectation}, got {_short(repr(value))}")


def _machines(path: Path, sections: Mapping[str, Mapping[str, Any]]) -> Machines:
    given, engines = sections.get("machines", {}), sections.get("engines", {})
    if not given and not engines:
        return Machines()
    try:
        return machines_of(given, engines, path.parent)
    except InvalidSetting as error:
        raise _fault(path, str(error)) from None


def _with_rules(path: Path, sections: Mapping[str, Any], config: Config) -> Config:
    on, on_sessions = sections.get("on", ()), sections.get("sessions", {}).get("on", [])
    if not on and not on_sessions:
        return config
    try:
        rules = rules_of(on) if on else ()
        return config._replace(on=rules, on_sessions=session_rules_of(on_sessions))
    except InvalidSetting as error:
        raise _fault(path, str(error)) from None


def _check_known(path: Path, where: str, noun: str, names: Iterable[object], known: Collection[str]) -> None:
    for name in names:
        if not isinstance(name, str) or name not in known:
            shown = _short(name if isinstance(name, str) else repr(name))
            raise _fault(path, f"{where} unknown {noun} {shown}; known {noun}s: {', '.join(known)}")


def _age_ms(path: Path, words: str) -> int:
    from agentwatch.cli.parameters import AGE_HINT, age_ms

    if (found := age_ms(words)) is None:
        raise _fault(path, f"[sessions] keep: {_short(repr(words))} is not an age; {AGE_HINT}")
    return found


def _check_keys(path: Path, keys: Mapping[str, str]) -> None:
    from agentwatch.screen.keys import InvalidKeys, check_keys

    try:
        check_keys(keys)
    except InvalidKeys as error:
        raise _fault(path, f"[keys] {error}") from None


def _short(text: str) -> SafeText:
    return cut(safe_line(text), _SHOWN_COLUMNS)


def _fault(path: Path, what: str) -> Fault:
    return Fault(safe_line(f"{path}: {what}"), USAGE)


def machines_of(given: Mapping[str, Any], engines: Mapping[str, Any], folder: Path) -> Machines:
    """Return the settings of the section `[machines]`, which is `given`; its names and types are checked
    already. Relative paths begin at `folder`, the folder of the settings."""
    from agentwatch.remote.address import is_engine

    known = {name: _engine(name, section, folder) for name, section in engines.items()}
    listed = given.get("list", [])
    for words in listed:
        _check_listed(words, known)
    publish = given.get("publish", "")
    if publish and publish not in known:
        if not is_engine(publish):
            raise InvalidSetting(
                f"[machines] publish: unknown engine {_short(publish)}; "
                f"known engines: {', '.join([*known, 'nats://HOST'])}"
            )
        _check_address("[machines] publish", publish)
    return Machines(tuple(listed), publish, known)


def _engine(name: str, section: object, folder: Path) -> EngineSettings:
    from agentwatch.remote.engine import is_publisher

    if _NAME.fullmatch(name) is None:
        raise InvalidSetting(f"[engines] {_short(name)}: a name has letters, digits, - and _ only")
    table = f"[engines.{_short(name)}]"
    if not isinstance(section, dict):
        raise InvalidSetting(f"engines.{_short(name)} must be a table: {table}")
    for key, value in section.items():
        if key not in _OF_ENGINES:
            raise InvalidSetting(
                f"{table} unknown setting {_short(key)}; known settings: {', '.join(_OF_ENGINES)}"
            )
        if type(value) is not _OF_ENGINES[key]:
            expected = _EXPECTED[_OF_ENGINES[key]]
            raise InvalidSetting(f"{table} {key}: expected {expected}, got {_short(repr(value))}")
    if "address" not in section:
        raise InvalidSetting(f'{table} address is missing: address = "nats://HOST"')
    _check_address(f"{table} address", section["address"])
    publisher = section.get("publisher", "")
    if publisher and not is_publisher(publisher):
        raise InvalidSetting(
            f"{table} publisher: {_short(publisher)} has other characters than a-z, 0-9 and -, or over 63"
        )
    return EngineSettings(
        section["address"],
        _file(section, "credentials", folder),
        _file(section, "ca", folder),
        publisher,
        section.get("plaintext", False),
    )


def _check_address(where: str, words: str) -> None:
    from agentwatch.remote.address import parse_engine

    try:
        _, session = parse_engine(words)
    except Fault as fault:
        raise InvalidSetting(f"{where}: {fault}") from None
    if session:
        raise InvalidSetting(f"{where}: {_short(words)} is a session; an engine is nats://HOST")


def _check_listed(words: object, engines: Mapping[str, EngineSettings]) -> None:
    from agentwatch.remote.address import is_engine

    if not isinstance(words, str):
        raise InvalidSetting(f"[machines] list: expected strings in quotes, got {_short(repr(words))}")
    if words == HERE or words in engines or words.startswith(SSH):
        return
    if is_engine(words):
        _check_address("[machines] list", words)
        return
    known = [HERE, *engines, "nats://HOST", "ssh://HOST"]
    raise InvalidSetting(f"[machines] list: unknown machine {_short(words)}; known: {', '.join(known)}")


def _file(section: Mapping[str, Any], key: str, folder: Path) -> Path | None:
    words = section.get(key, "")
    return folder / os.path.expanduser(words) if words else None


def rules_of(given: object) -> tuple[OnSetting, ...]:
    """Return the rules of `[[on]]`, which watch every session."""
    tables = _tables("on", "[[on]]", given)
    return tuple(rule for where, table in tables for rule in _rules(where, table))


def _tables(name: str, header: str, given: object) -> list[tuple[str, dict[str, object]]]:
    """Yield the tables of a list, each with the words that say where it is."""
    tables = given if isinstance(given, list) else [None]
    if not all(isinstance(table, dict) for table in tables):
        raise InvalidSetting(f"{name} must be a list of tables, each of which begins with {header}")
    if len(tables) > _MOST_RULES:
        raise InvalidSetting(f"{header}: at most {_MOST_RULES} rules")
    return [(f"{header} number {number}", table) for number, table in enumerate(tables, 1)]


def session_rules_of(given: object) -> tuple[SessionRule, ...]:
    """Return the rules of `[[sessions.on]]`: the changes of state that run a command."""
    from agentwatch.rules.alarms.events import EVENTS
    from agentwatch.rules.alarms.tripwire import Action

    found = []
    for where, table in _tables("[sessions] on", "[[sessions.on]]", given):
        texts, command = _settings(where, table, ("event", "action", "name", "command"))
        for key, known in (("event", EVENTS), ("action", (Action.RUN.value,))):
            if texts.get(key) not in known:
                raise InvalidSetting(f"{where}: {key} must be one of: {', '.join(known)}")
        if not command:
            raise InvalidSetting(f"{where}: command is missing: {_COMMAND}")
        found.append(SessionRule(texts["event"], texts.get("name") or texts["event"], command))
    return tuple(found)


def _rules(where: str, table: dict[str, object]) -> list[OnSetting]:
    """Return the rule of a table, or the rules of the set that it names."""
    from agentwatch.rules.alarms.tripwire import Action, tripwire
    from agentwatch.rules.check.kinds import Forbid, read_rules, starter_path
    from agentwatch.rules.language.errors import RuleError

    texts, command = _settings(where, table, _OF_RULES)
    if "use" in texts and not texts.keys().isdisjoint({"rule", "name"}):
        raise InvalidSetting(f"{where}: use names a set of rules; it takes neither rule nor name")
    for key in ("action",) if "use" in texts else ("rule", "action"):
        if not texts.get(key):
            raise InvalidSetting(f"{where}: {key} is missing")
    if bool(command) is not (texts["action"] == Action.RUN):
        raise InvalidSetting(f'{where}: action = "run" and command need each other: {_COMMAND}')
    try:
        used = read_rules(starter_path(texts.pop("use"))) if "use" in texts else []
        rules = [(each.when, each.name) for each in used if isinstance(each, Forbid)]
        rules = rules or [(texts["rule"], texts.get("name", ""))]
        found = [OnSetting(rule, texts["action"], name, command) for rule, name in rules]
        for each in found:
            tripwire(*each, allows_patterns=True)
    except RuleError as error:
        raise InvalidSetting(f"{where}: {error.reason}") from None
    return found


def _settings(
    where: str, table: dict[str, object], known: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    from agentwatch.rules.language.errors import did_you_mean

    texts, command = {}, tuple[str, ...]()
    for key, value in table.items():
        if key not in known:
            hint = did_you_mean(key, known)
            raise InvalidSetting(f"{where}: unknown setting {_short(key)}{hint}; known: {', '.join(known)}")
        if key == "command":
            command = _command(where, value)
        elif not isinstance(value, str):
            raise InvalidSetting(f"{where}: {key} must be a string in quotes")
        else:
            texts[key] = value
    return texts, command


def _command(where: str, given: object) -> tuple[str, ...]:
    """Return a program with its arguments; `~` at its beginning is the home folder. A relative path is an
    error: it would depend on the folder in which agentwatch runs, which may belong to anybody."""
    words = given if isinstance(given, list) else []
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise InvalidSetting(f"{where}: command must be a list of strings in quotes: {_COMMAND}")
    program = os.path.expanduser(words[0])
    if "/" in program and not os.path.isabs(program):
        raise InvalidSetting(
            f"{where}: command: {_short(program)} must be a whole path, or a name on the PATH"
        )
    return (program, *words[1:])
