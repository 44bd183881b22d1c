"""The words that the reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.checking.judgement import Checked, Judgement, State
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line

_NAME_COLUMNS = 120
_ADDRESS_COLUMNS = 400


def name_of(judgement: Judgement) -> SafeText:
    """Return the name of a rule as one line."""
    return cut(safe_line(judgement.rule.name), _NAME_COLUMNS)


def address_of(checked: Checked) -> SafeText:
    """Return the address of a recording as one line."""
    return cut(safe_line(checked.address), _ADDRESS_COLUMNS)


def places(checked: Checked, judgement: Judgement, most: int) -> Iterator[SafeText]:
    """Yield at most `most` places at which a rule is broken, then the number of further places."""
    address = safe_line(checked.address)
    for each in judgement.places[:most]:
        yield SafeText(f"{address}{each.at} {each.words}")
    if (more := judgement.hits - min(len(judgement.places), most)) > 0 and judgement.places:
        yield SafeText(f"and {more:,} more")


def verdict(checked: Sequence[Checked], blind: Sequence[Judgement]) -> SafeText:
    """Return the result of a check in one line: `2 of 15 rules are broken: run.ndjson (212 calls)`."""
    rules = len(checked[0].judgements) if checked else 0
    by_rule = list(zip(*(each.judgements for each in checked), strict=True))
    broken = sum(any(each.is_error for each in judgements) for judgements in by_rule)
    warned = sum(
        any(each.is_warning for each in judgements) and not any(each.is_error for each in judgements)
        for judgements in by_rule
    )
    held = sum(
        not any(each.state is State.BROKEN for each in judgements)
        and any(each.state is State.HOLDS for each in judgements)
        for judgements in by_rule
    )
    words = f"{broken} of {plural(rules, 'rule')} {'is' if broken == 1 else 'are'} broken"
    if not broken:
        words = f"{held} of {rules} rules hold" if held < rules else f"{_all(rules)}"
    more = [plural(warned, "warning")] if warned else []
    more += [f"{len(blind)} looked at nothing"] if blind else []
    return SafeText(f"{', '.join((words, *more))}: {_recordings(checked)}")


def _all(rules: int) -> str:
    return "the rule holds" if rules == 1 else f"all {rules} rules hold"


def _recordings(checked: Sequence[Checked]) -> str:
    calls = plural(sum(each.calls for each in checked), "call")
    if len(checked) == 1:
        return f"{address_of(checked[0])} ({calls})"
    broken = sum(any(each.is_error for each in one.judgements) for one in checked)
    words = f"{plural(len(checked), 'recording')}, {calls}"
    return f"{words}; broken in {broken}" if broken else words
