"""The report as text: a line for each broken rule with its places, and the result in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.checking.judgement import MOST_HITS, Checked, Judgement, State, blind
from agentwatch.checking.reports.words import address_of, name_of, places, verdict
from agentwatch.checking.rules import Severity
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

_MOST_PLACES = 5


def report(checked: Sequence[Checked]) -> Iterator[SafeText]:
    """Yield the broken rules of each recording, each with its first five places; then the result."""
    for each in checked:
        for judgement in each.judgements:
            if judgement.state is State.BROKEN:
                words = "broken" if judgement.rule.severity is Severity.ERROR else "warning"
                line = f"{address_of(each)}: {words}: {name_of(judgement)}"
                yield SafeText(f"{line}: {judgement.words}")
                yield from (SafeText(f"  {place}") for place in places(each, judgement, _MOST_PLACES))
    if checked:
        yield verdict(checked, blind(checked))


def explained(checked: Sequence[Checked]) -> Iterator[SafeText]:
    """Yield for each rule the calls that it looked at, hit and could not judge; then the result."""
    for each in checked:
        named = f" of {each.format}" if each.format else ""
        yield SafeText(f"{address_of(each)}: {plural(each.calls, 'call')}{named}")
        for judgement in each.judgements:
            yield SafeText(f"  {_word(judgement):10} {name_of(judgement)}: {_looked(judgement)}")
            yield from (SafeText(f"{'':13}{place}") for place in places(each, judgement, MOST_HITS))
    if checked:
        yield verdict(checked, blind(checked))


def _word(judgement: Judgement) -> str:
    if judgement.is_warning:
        return "warning"
    return judgement.state.value


def _looked(judgement: Judgement) -> str:
    if not hasattr(judgement.rule, "condition"):
        return judgement.words
    parts = [f"looked at {plural(judgement.looked_at, 'call')}, hit {judgement.hits:,}"]
    if judgement.not_judged:
        fields = ", ".join(f"{name} in {count:,}" for name, count in judgement.unknown.items())
        parts.append(f"{judgement.not_judged:,} not judged ({fields or 'a value'} unknown)")
    elif not judgement.looked_at:
        parts.append("no calls")
    return "; ".join(parts)
