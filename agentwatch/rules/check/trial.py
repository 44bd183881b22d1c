"""Counts how often rules would have fired in past sessions, and reports it as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from agentwatch.rules.check.judgement import Checked, State
from agentwatch.rules.check.kinds import Rule
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text
from agentwatch.text.safe_json import safe_json

_MOST_PLACES = 20
_NAME_COLUMNS = 80
_SHOWN = 3


class Fired(NamedTuple):
    """How often one rule would have fired."""

    rule: Rule
    sessions: int = 0
    """The number of sessions that break the rule."""
    hits: int = 0
    """The number of places in all these sessions."""
    judged: int = 0
    """The number of sessions in which the rule could be judged."""
    places: tuple[SafeText, ...] = ()
    """The addresses of the newest 20 places; for a rule without places, those of the sessions."""


class Trial:
    """Adds up the judgements of sessions, the newest session first. Only counts and 20 places are kept."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.sessions = 0
        self.calls = 0
        self.fired = [Fired(rule) for rule in rules]

    def add(self, checked: Checked) -> None:
        """Add a session that is older than those before it."""
        self.sessions += 1
        self.calls += checked.calls
        address = safe_line(checked.address)
        for index, (fired, judgement) in enumerate(zip(self.fired, checked.judgements, strict=True)):
            if judgement.state is State.HOLDS:
                self.fired[index] = fired._replace(judged=fired.judged + 1)
            elif judgement.state is State.BROKEN:
                found = [SafeText(f"{address}{each.at}") for each in judgement.places] or [address]
                self.fired[index] = fired._replace(
                    sessions=fired.sessions + 1,
                    judged=fired.judged + 1,
                    hits=fired.hits + judgement.hits,
                    places=(*fired.places, *found)[:_MOST_PLACES],
                )

    @property
    def is_broken(self) -> bool:
        """Whether a rule with severity `error` would have fired."""
        return any(each.sessions and each.rule.severity.value == "error" for each in self.fired)

    def blind(self) -> list[Fired]:
        """Return the rules that could be judged in no session."""
        return [each for each in self.fired if not each.judged]


def lines(trial: Trial) -> Iterator[SafeText]:
    """Yield a line for each rule, the one that fired in most sessions first, with its newest places."""
    for each in sorted(trial.fired, key=lambda fired: (-fired.sessions, -fired.hits)):
        yield SafeText(f"{cut(safe_line(each.rule.name), _NAME_COLUMNS)}: {_words(each)}")
        yield from (SafeText(f"  {place}") for place in each.places[:_SHOWN])
    yield SafeText(f"{plural(trial.sessions, 'session')}, {plural(trial.calls, 'call')}")


def _words(fired: Fired) -> str:
    if not fired.judged:
        return "had nothing to check"
    if not fired.sessions:
        return f"never in {plural(fired.judged, 'session')}"
    return f"in {fired.sessions} of {plural(fired.judged, 'session')}, {fired.hits:,} times"


def json_report(trial: Trial) -> bytes:
    """Return the trial as one line of JSON."""
    members = {
        "version": 1,
        "sessions": trial.sessions,
        "calls": trial.calls,
        "rules": [
            {
                "name": safe_text(each.rule.name),
                "severity": each.rule.severity,
                "sessions": each.sessions,
                "hits": each.hits,
                "judged": each.judged,
                "newest": list(each.places),
            }
            for each in trial.fired
        ],
    }
    return safe_json(orjson.dumps(members))
