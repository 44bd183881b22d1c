"""Reads a file of rules, in TOML: `forbid`, `[require]` and `[limit]`.

Each entry may be a warning. An entry of `[require]` and `[limit]` is then a table: `failed = {value = 5,
severity = "warning"}`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from agentwatch.base.faults import USAGE, Fault, cannot_open
from agentwatch.rules.check.kinds import Limit, Require, Rule, Severity, forbid, limit, require, shown
from agentwatch.rules.language.errors import RuleError, did_you_mean

_MOST_BYTES = 1 << 18
"""No person writes a larger file. `tomllib` reads any file of this size in 0.1 s."""
_MOST_RULES = 500
_STARTERS = Path(__file__).resolve().parent.parent / "starters"
_MOST_MISTAKES = 20
_KEYS = ("forbid", "require", "limit")
_FORBID_KEYS = ("name", "when", "severity")
_VALUE_KEYS = ("value", "severity")
_SEVERITIES = [severity.value for severity in Severity]


def starter_path(name: str) -> Path:
    """Return the file of a set of rules that is shipped: `safe`. Raise `RuleError` for another name."""
    known = {path.stem: path for path in sorted(_STARTERS.glob("*.toml"))}
    if name not in known:
        hint = did_you_mean(name, list(known)) or f"; known: {', '.join(known)}"
        raise RuleError(f"unknown set of rules {shown(name)}{hint}")
    return known[name]


def read_rules(path: Path) -> list[Rule]:
    """Return the rules of a file, in its order. Raise `Fault` if it cannot be read or is not a file of
    rules."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise cannot_open(path, error) from None
    if len(data) > _MOST_BYTES:
        raise _fault(path, f"larger than {_MOST_BYTES >> 10} KiB")
    try:
        found = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise _fault(path, f"not valid UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _fault(path, "not valid TOML: nested too deeply") from None
    except ValueError as error:  # also a number with thousands of digits
        raise _fault(path, f"not valid TOML: {error}") from None
    rules, mistakes = list[Rule](), list[str]()
    for read in _entries(found):
        try:
            if (rule := read()) is not None:
                rules.append(rule)
        except RuleError as error:
            mistakes.append(f"{path}: {error.reason}")
    if mistakes:
        left = len(mistakes) - _MOST_MISTAKES
        rest = [f"{path}: {left} more mistakes"] if left > 0 else []
        raise Fault(mistakes[0], USAGE, [*mistakes[1:_MOST_MISTAKES], *rest])
    if not rules:
        raise _fault(path, "it has no rule; forbid, [require] and [limit] hold rules")
    return rules


def _entries(found: Mapping[str, object]) -> Iterator[Callable[[], Rule | None]]:
    """Yield for each entry of a file what reads it, or raises a RuleError that says what is wrong with it."""
    for key in found:
        if key not in _KEYS:
            yield partial(_refuse, f"unknown key {shown(key)}{_hint(key, _KEYS)}")
    forbids = found.get("forbid", [])
    if not isinstance(forbids, list):
        yield partial(_refuse, 'forbid is a list: forbid = [{name = "…", when = "…"}]')
    elif len(forbids) > _MOST_RULES:
        yield partial(_refuse, f"forbid has {len(forbids)} entries; at most {_MOST_RULES} are read")
    else:
        for index, entry in enumerate(forbids, 1):
            yield partial(_forbid, entry, f"forbid {index}")
    for key, make in (("require", require), ("limit", limit)):
        section = found.get(key, {})
        if isinstance(section, dict):
            for name, value in section.items():
                yield partial(_of_session, key, name, value, make)
        else:
            yield partial(_refuse, f"{key} is a table: [{key}]")


def _refuse(reason: str) -> None:
    raise RuleError(reason)


def _forbid(entry: object, place: str) -> Rule:
    if not isinstance(entry, dict):
        raise RuleError(f'{place} is {shown(entry)}, not {{name = "…", when = "…"}}')
    name = entry.get("name", "")
    if not isinstance(name, str):
        raise RuleError(f"{place}: name is a text, not {shown(name)}")
    place = f"{place} {shown(name)}" if name else place
    _check_keys(entry, _FORBID_KEYS, place)
    when = entry.get("when")
    if not isinstance(when, str):
        missing = "has no when" if when is None else f"when is a text, not {shown(when)}"
        raise RuleError(f"{place}: {missing}; for example when = 'tool:edit outside:cwd'")
    severity = _severity(entry, place)
    try:
        return forbid(when, name.strip(), severity, allows_patterns=True)
    except RuleError as error:
        at = f" (at character {error.at + 1} of when)" if error.at else ""
        raise RuleError(f"{place}: {error.reason}{at}") from None


def _of_session(
    section: str,
    name: str,
    value: object,
    make: Callable[[str, object, Severity], Require | Limit | None],
) -> Rule | None:
    place, severity = f"{section}.{name[:40]}", Severity.ERROR
    if isinstance(value, dict):
        _check_keys(value, _VALUE_KEYS, place)
        severity = _severity(value, place)
        if "value" not in value:
            raise RuleError(f'{place} has no value: {{value = …, severity = "warning"}}')
        value = value["value"]
    try:
        return make(name, value, severity)
    except RuleError as error:
        raise RuleError(f"[{section}] {error.reason}") from None


def _severity(entry: Mapping[str, object], place: str) -> Severity:
    found = entry.get("severity", Severity.ERROR.value)
    if not isinstance(found, str) or found not in _SEVERITIES:
        raise RuleError(f'{place}: severity is "error" or "warning", not {shown(found)}')
    return Severity(found)


def _check_keys(entry: Mapping[str, object], known: tuple[str, ...], place: str) -> None:
    for key in entry:
        if key not in known:
            raise RuleError(f"{place}: unknown key {shown(key)}{_hint(key, known)}")


def _hint(key: str, known: tuple[str, ...]) -> str:
    return did_you_mean(key, known) or f"; known keys: {', '.join(known)}"


def _fault(path: Path, reason: str) -> Fault:
    return Fault(f"{path}: {reason}", USAGE)
