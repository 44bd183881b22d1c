"""The report of a trial: how often each rule would have fired, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from agentwatch.checking.trial import Fired, Trial
from agentwatch.outputs.safe_json import safe_json
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text

_NAME_COLUMNS = 80
_SHOWN = 3


def lines(trial: Trial) -> Iterator[SafeText]:
    """Yield a line for each rule, the one that fired in most sessions first, with its newest places."""
    for each in sorted(trial.fired, key=lambda fired: (-fired.sessions, -fired.hits)):
        yield SafeText(f"{cut(safe_line(each.rule.name), _NAME_COLUMNS)}: {_words(each)}")
        yield from (SafeText(f"  {place}") for place in each.places[:_SHOWN])
    yield SafeText(f"{plural(trial.sessions, 'session')}, {plural(trial.calls, 'call')}")


def _words(fired: Fired) -> str:
    if not fired.judged:
        return "looked at nothing"
    if not fired.sessions:
        return f"never in {plural(fired.judged, 'session')}"
    return f"in {fired.sessions} of {plural(fired.judged, 'session')}, {fired.hits:,} times"


def json_report(trial: Trial) -> bytes:
    """Return the trial as one line of JSON."""
    members = {
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
