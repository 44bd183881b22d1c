"""Checks the rules of the settings: the tables `[[on]]` and `[[sessions.on]]`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentwatch.base.config import OnSetting, SessionRule
from agentwatch.rules.alarms.events import EVENTS
from agentwatch.rules.alarms.tripwire import Action, tripwire
from agentwatch.rules.check.kinds import Forbid
from agentwatch.rules.check.rule_file import read_rules, starter_path
from agentwatch.rules.language.errors import RuleError, did_you_mean
from agentwatch.text.safe import cut, safe_line

_SETTINGS = ("rule", "use", "action", "name", "command")
_COMMAND = 'command = ["notify-send", "agentwatch"]'
_MOST_RULES = 100
_SHOWN_COLUMNS = 40


class InvalidRule(ValueError):
    """A table is invalid; the message says which one, and what is expected."""


def rules_of(given: object) -> tuple[OnSetting, ...]:
    """Return the rules that watch every session. Raise `InvalidRule` if a setting is unknown or missing, or a
    rule cannot be read."""
    tables = _tables("on", "[[on]]", given)
    return tuple(rule for where, table in tables for rule in _rules(where, table))


def _tables(name: str, header: str, given: object) -> list[tuple[str, dict[str, object]]]:
    """Return the tables of a list, each with the words that say where it is."""
    tables = given if isinstance(given, list) else [None]
    if not all(isinstance(table, dict) for table in tables):
        raise InvalidRule(f"{name} must be a list of tables, each of which begins with {header}")
    if len(tables) > _MOST_RULES:
        raise InvalidRule(f"{header}: at most {_MOST_RULES} rules")
    return [(f"{header} number {number}", table) for number, table in enumerate(tables, 1)]


def session_rules_of(given: object) -> tuple[SessionRule, ...]:
    """Return the changes of state that run a command. Raise `InvalidRule` if a setting is unknown or missing,
    or has another value."""
    found = []
    for where, table in _tables("[sessions] on", "[[sessions.on]]", given):
        texts, command = _settings(where, table, ("event", "action", "name", "command"))
        for key, known in (("event", EVENTS), ("action", (Action.RUN.value,))):
            if texts.get(key) not in known:
                raise InvalidRule(f"{where}: {key} must be one of: {', '.join(known)}")
        if not command:
            raise InvalidRule(f"{where}: command is missing: {_COMMAND}")
        found.append(SessionRule(texts["event"], texts.get("name") or texts["event"], command))
    return tuple(found)


def _rules(where: str, table: dict[str, object]) -> list[OnSetting]:
    """Return the rule of a table, or the rules of the set that it names."""
    texts, command = _settings(where, table, _SETTINGS)
    if "use" in texts and not texts.keys().isdisjoint({"rule", "name"}):
        raise InvalidRule(f"{where}: use names a set of rules; it takes neither rule nor name")
    for key in ("action",) if "use" in texts else ("rule", "action"):
        if not texts.get(key):
            raise InvalidRule(f"{where}: {key} is missing")
    if bool(command) is not (texts["action"] == Action.RUN):
        raise InvalidRule(f'{where}: action = "run" and command need each other: {_COMMAND}')
    try:
        used = read_rules(starter_path(texts.pop("use"))) if "use" in texts else []
        rules = [(each.when, each.name) for each in used if isinstance(each, Forbid)]
        rules = rules or [(texts["rule"], texts.get("name", ""))]
        found = [OnSetting(rule, texts["action"], name, command) for rule, name in rules]
        for each in found:
            tripwire(*each, allows_patterns=True)
    except RuleError as error:
        raise InvalidRule(f"{where}: {error.reason}") from None
    return found


def _settings(
    where: str, table: dict[str, object], known: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the texts of a table by their keys, and its command."""
    texts, command = {}, tuple[str, ...]()
    for key, value in table.items():
        if key not in known:
            hint = did_you_mean(key, known)
            raise InvalidRule(f"{where}: unknown setting {_shown(key)}{hint}; known: {', '.join(known)}")
        if key == "command":
            command = _command(where, value)
        elif not isinstance(value, str):
            raise InvalidRule(f"{where}: {key} must be a string in quotes")
        else:
            texts[key] = value
    return texts, command


def _command(where: str, given: object) -> tuple[str, ...]:
    """Return a program with its arguments; `~` at its beginning is the home folder.

    A relative path would depend on the folder in which agentwatch runs, which may be anybody's.
    """
    words = given if isinstance(given, list) else []
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise InvalidRule(f"{where}: command must be a list of strings in quotes: {_COMMAND}")
    program = os.path.expanduser(words[0])
    if "/" in program and not os.path.isabs(program):
        raise InvalidRule(f"{where}: command: {_shown(program)} must be a whole path, or a name on the PATH")
    return (program, *words[1:])


def _shown(text: str) -> str:
    return cut(safe_line(text), _SHOWN_COLUMNS)
