"""Checks the rules of the settings: the tables `[[on]]`."""

from __future__ import annotations

from agentwatch.base.config import OnSetting
from agentwatch.rules.alarms.tripwire import tripwire
from agentwatch.rules.check.kinds import Forbid
from agentwatch.rules.check.rule_file import read_rules, starter_path
from agentwatch.rules.language.errors import RuleError, did_you_mean
from agentwatch.text.safe import cut, safe_line

_SETTINGS = ("rule", "use", "action", "name")
_MOST_RULES = 100
_SHOWN_COLUMNS = 40


class InvalidRule(ValueError):
    """A table is invalid; the message says which one, and what is expected."""


def rules_of(given: object) -> tuple[OnSetting, ...]:
    """Return the rules that watch every session.

    Args:
        given: What the settings contain under `on`.

    Raises:
        InvalidRule: A setting is unknown or missing, or a rule cannot be read.
    """
    if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        raise InvalidRule("on must be a list of tables, each of which begins with [[on]]")
    if len(given) > _MOST_RULES:
        raise InvalidRule(f"[[on]]: at most {_MOST_RULES} rules")
    return tuple(rule for number, table in enumerate(given, 1) for rule in _rules(number, table))


def _rules(number: int, table: dict[str, object]) -> list[OnSetting]:
    """Return the rule of a table, or the rules of the set that it names."""
    where, texts = f"[[on]] number {number}", {}
    for key, value in table.items():
        if key not in _SETTINGS:
            hint = did_you_mean(key, _SETTINGS)
            raise InvalidRule(f"{where}: unknown setting {_shown(key)}{hint}; known: {', '.join(_SETTINGS)}")
        if not isinstance(value, str):
            raise InvalidRule(f"{where}: {key} must be a string in quotes")
        texts[key] = value
    if "use" in texts and not texts.keys().isdisjoint({"rule", "name"}):
        raise InvalidRule(f"{where}: use names a set of rules; it takes neither rule nor name")
    for key in ("action",) if "use" in texts else ("rule", "action"):
        if not texts.get(key):
            raise InvalidRule(f"{where}: {key} is missing")
    try:
        used = read_rules(starter_path(texts.pop("use"))) if "use" in texts else []
        found = [OnSetting(each.when, name=each.name, **texts) for each in used if isinstance(each, Forbid)]
        found = found or [OnSetting(**texts)]
        for each in found:
            tripwire(*each, allows_patterns=True)
    except RuleError as error:
        raise InvalidRule(f"{where}: {error.reason}") from None
    return found


def _shown(text: str) -> str:
    return cut(safe_line(text), _SHOWN_COLUMNS)
