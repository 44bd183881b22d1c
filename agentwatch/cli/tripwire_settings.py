"""Checks the rules of the settings: the tables `[[on]]`."""

from __future__ import annotations

from agentwatch.base.config import OnSetting
from agentwatch.rules.alarms.tripwire import tripwire
from agentwatch.rules.language.errors import RuleError, did_you_mean
from agentwatch.text.safe import cut, safe_line

_SETTINGS = ("rule", "action", "name")
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
    return tuple(_rule(number, table) for number, table in enumerate(given, 1))


def _rule(number: int, table: dict[str, object]) -> OnSetting:
    where, texts = f"[[on]] number {number}", {}
    for key, value in table.items():
        if key not in _SETTINGS:
            hint = did_you_mean(key, _SETTINGS)
            raise InvalidRule(f"{where}: unknown setting {_shown(key)}{hint}; known: {', '.join(_SETTINGS)}")
        if not isinstance(value, str):
            raise InvalidRule(f"{where}: {key} must be a string in quotes")
        texts[key] = value
    for key in ("rule", "action"):
        if not texts.get(key):
            raise InvalidRule(f"{where}: {key} is missing")
    found = OnSetting(**texts)
    try:
        tripwire(*found, allows_patterns=True)
    except RuleError as error:
        raise InvalidRule(f"{where}: {error.reason}") from None
    return found


def _shown(text: str) -> str:
    return cut(safe_line(text), _SHOWN_COLUMNS)
