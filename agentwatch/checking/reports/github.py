"""The report as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.checking.judgement import Checked, Judgement, State, blind
from agentwatch.checking.reports.words import address_of, name_of, places, verdict
from agentwatch.checking.rules import Severity
from agentwatch.text.safe import SafeText

_MOST_OF_A_KIND = 10
"""GitHub shows 10 errors and 10 warnings of a step."""
_MOST_PLACES = 5


def commands(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield commands for the runner, `::error title=…::…`, the rules with the most hits first.

    Rules that looked at nothing come before. Safe text has no line end, and every message is escaped.
    """
    of_nothing: dict[Severity, list[str]] = {severity: [] for severity in Severity}
    for each in blind(checked):
        severity = each.rule.severity
        of_nothing[severity].append(_command(severity.value, each, f"looked at nothing: {each.words}"))
    found = [(one, each) for one in checked for each in one.judgements if each.state is State.BROKEN]
    found.sort(key=lambda pair: -pair[1].hits)
    errors = of_nothing[Severity.ERROR] + [
        _command("error", each, _message(one, each)) for one, each in found if each.is_error
    ]
    warnings = of_nothing[Severity.WARNING] + [
        _command("warning", each, _message(one, each)) for one, each in found if each.is_warning
    ]
    for kind, of_kind in (("error", errors), ("warning", warnings)):
        yield from of_kind[:_MOST_OF_A_KIND]
        if (more := len(of_kind) - _MOST_OF_A_KIND) > 0:
            yield f"and {more} more {kind}{'' if more == 1 else 's'}"


def result(checked: Sequence[Checked]) -> SafeText:
    """Return the result in one line, which is no command."""
    return verdict(checked, blind(checked))


def _message(checked: Checked, judgement: Judgement) -> str:
    lines = (f"{address_of(checked)}: {judgement.words}", *places(checked, judgement, _MOST_PLACES))
    return "\n".join(lines)


def _command(kind: str, judgement: Judgement, message: str) -> str:
    title = _escaped(f"agentwatch: {name_of(judgement)}").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
