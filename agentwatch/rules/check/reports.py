"""The reports of a check and of a trial, which counts how often rules would have fired in past sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.rules.check.judge import MOST_VIOLATIONS, Checked, Judgement, State, blind, partly_judged
from agentwatch.rules.check.kinds import Forbid, Limit, Require, Rule, Severity
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text, styled
from agentwatch.text.safe_json import encoded

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_PLACES = 5
_STYLES = {"broken": "failed", "warning": "rejected", "holds": "succeeded"}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 forbids, also as references (section 2.2). ElementTree writes them."""
_KINDS = {Forbid: "forbid", Require: "require", Limit: "limit"}
_MOST_OF_A_KIND = 10
"""GitHub shows 10 errors and 10 warnings of a step."""
_NAME_COLUMNS = 120
_ADDRESS_COLUMNS = 400


def text_lines(checked: Sequence[Checked]) -> Iterator[SafeText]:
    """Yield the broken rules of each recording, each with its first five places; then the result."""
    for each in checked:
        for judgement in each.judgements:
            if judgement.state is State.BROKEN:
                words = "broken" if judgement.rule.severity is Severity.ERROR else "warning"
                style = _STYLES[words]
                yield styled(
                    (SafeText(f"{_address_of(each)}: "), "muted"),
                    (SafeText(words), style),
                    (SafeText(f": {name_of(judgement)}: {judgement.words}"), ""),
                )
                yield from (SafeText(f"  {place}") for place in places(each, judgement, _MOST_PLACES))
    if checked:
        yield _styled_verdict(checked)


def explained(checked: Sequence[Checked]) -> Iterator[SafeText]:
    """Yield for each rule the calls that it checked, hit and could not judge; then the result."""
    for each in checked:
        named = f" of {each.format}" if each.format else ""
        calls = SafeText(f": {plural(each.calls, 'call')}{named}")
        yield styled((_address_of(each), "strong"), (calls, "muted"))
        for judgement in each.judgements:
            word = "warning" if judgement.is_warning else judgement.state.value
            words = SafeText(f" {name_of(judgement)}: {_looked(judgement)}")
            yield styled((SafeText(f"  {word:10}"), _STYLES.get(word, "muted")), (words, ""))
            yield from (SafeText(f"{'':13}{place}") for place in places(each, judgement, MOST_VIOLATIONS))
    if checked:
        yield _styled_verdict(checked)


def _styled_verdict(checked: Sequence[Checked]) -> SafeText:
    is_broken = any(each.is_error for one in checked for each in one.judgements)
    return styled((verdict(checked), "failed" if is_broken else "succeeded"))


def _looked(judgement: Judgement) -> str:
    if not hasattr(judgement.rule, "condition"):
        return judgement.words
    parts = [f"checked {plural(judgement.looked_at, 'call')}, hit {judgement.hits:,}"]
    if judgement.not_judged:
        fields = ", ".join(f"{name} in {count:,}" for name, count in judgement.unknown.items())
        parts.append(f"{judgement.not_judged:,} not judged ({fields or 'a value'} unknown)")
    elif not judgement.looked_at:
        parts.append("no calls")
    return "; ".join(parts)


def junit_document(checked: Sequence[Checked]) -> bytes:
    """Return a `testsuite` for each recording with a `testcase` for each rule. A broken rule is a `failure`,
    and a broken warning is `skipped`. A rule that had nothing to check is an `error` if this is so in all
    recordings, else `skipped`. All rules are judged in one pass, so each testcase gets an equal part of the
    time."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # 10 ms, for this format only

    unseen = {each.rule for each in blind(checked)}
    root = Element("testsuites", name="agentwatch check")
    for each in checked:
        name, share = _xml(_address_of(each)), each.seconds / max(len(each.judgements), 1)
        suite = SubElement(root, "testsuite", name=name, time=f"{each.seconds:.3f}")
        counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
        for judgement in each.judgements:
            case = SubElement(
                suite, "testcase", name=_xml(name_of(judgement)), classname=name, time=f"{share:.3f}"
            )
            kind = _kind(judgement, is_blind=judgement.rule in unseen)
            if kind:
                counts[{"failure": "failures", "error": "errors"}.get(kind, kind)] += 1
                _describe(SubElement(case, kind), each, judgement)
        suite.attrib |= {"tests": f"{len(each.judgements)}", **{key: f"{n}" for key, n in counts.items()}}
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode").encode()


def _kind(judgement: Judgement, *, is_blind: bool) -> str:
    is_warning = judgement.rule.severity is Severity.WARNING
    if judgement.state is State.BROKEN:
        return "skipped" if is_warning else "failure"
    if is_blind and not is_warning:
        return "error"
    return "" if judgement.state is State.HOLDS else "skipped"


def _describe(element: Element, checked: Checked, judgement: Judgement) -> None:
    lead = "warning: " if judgement.is_warning else ""
    element.set("message", _xml(lead + judgement.words))
    if element.tag != "skipped":
        element.set("type", judgement.state.value)
    element.text = _xml("\n".join(places(checked, judgement, MOST_VIOLATIONS))) or None


def _xml(text: str) -> str:
    return _FORBIDDEN.sub("", text)


def json_line(checked: Sequence[Checked], exit_code: int) -> bytes:
    members = {
        "version": 1,
        "exit_code": exit_code,
        "recordings": [
            {
                "address": safe_text(each.address),
                "format": each.format,
                "calls": each.calls,
                "is_live": each.is_live,
                "seconds": round(each.seconds, 3),
                "rules": [_rule(each, judgement) for judgement in each.judgements],
            }
            for each in checked
        ],
        "looked_at_nothing": [
            {"name": safe_text(each.rule.name), "reason": each.words} for each in blind(checked)
        ],
    }
    return encoded(members)


def _rule(checked: Checked, judgement: Judgement) -> dict[str, object]:
    rule = judgement.rule
    return {
        "name": safe_text(rule.name),
        "kind": _KINDS[type(rule)],
        "severity": rule.severity,
        "state": judgement.state,
        "reason": judgement.words,
        "value": judgement.value,
        "looked_at": judgement.looked_at,
        "hits": judgement.hits,
        "not_judged": judgement.not_judged,
        "unknown": dict(judgement.unknown),
        "places": [
            {"address": safe_text(f"{checked.address}{each.at}"), "action": each.words}
            for each in judgement.places
        ],
    }


def github_commands(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield `::error title=…::…` for the runner: rules without anything to check, then those with the most
    hits."""
    found = [(one, each) for one in checked for each in one.judgements if each.state is State.BROKEN]
    found.sort(key=lambda pair: -pair[1].hits)
    for severity in Severity:
        of_nothing = (each for each in blind(checked) if each.rule.severity is severity)
        lines = [_command(severity, each, f"had nothing to check: {each.words}") for each in of_nothing]
        broken = ((one, each) for one, each in found if each.rule.severity is severity)
        lines += [_command(severity, each, _message(one, each)) for one, each in broken]
        yield from lines[:_MOST_OF_A_KIND]
        if (more := len(lines) - _MOST_OF_A_KIND) > 0:
            yield f"and {more:,} more {severity}{'' if more == 1 else 's'}"


def _message(checked: Checked, judgement: Judgement) -> str:
    lines = (f"{_address_of(checked)}: {judgement.words}", *places(checked, judgement, _MOST_PLACES))
    return "\n".join(lines)


def _command(kind: str, judgement: Judgement, message: str) -> str:
    title = _escaped(f"agentwatch: {name_of(judgement)}").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def name_of(judgement: Judgement) -> SafeText:
    return cut(safe_line(judgement.rule.name), _NAME_COLUMNS)


def _address_of(checked: Checked) -> SafeText:
    return cut(safe_line(checked.address), _ADDRESS_COLUMNS)


def places(checked: Checked, judgement: Judgement, most: int) -> Iterator[SafeText]:
    """Yield at most `most` places at which a rule is broken, then the number of further places."""
    address = safe_line(checked.address)
    for each in judgement.places[:most]:
        yield SafeText(f"{address}{each.at} {each.words}")
    if (more := judgement.hits - min(len(judgement.places), most)) > 0 and judgement.places:
        yield SafeText(f"and {more:,} more")


def verdict(checked: Sequence[Checked]) -> SafeText:
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
        words = f"{held} of {rules} rules hold" if held < rules else f"all {rules} rules hold"
        words = "the rule holds" if held == rules == 1 else words
    more = [plural(warned, "warning")] if warned else []
    more += [f"{len(idle)} had nothing to check"] if (idle := blind(checked)) else []
    more += [f"{len(partial)} did not judge every call"] if (partial := partly_judged(checked)) else []
    return SafeText(f"{', '.join((words, *more))}: {_recordings(checked)}")


def _recordings(checked: Sequence[Checked]) -> str:
    calls = plural(sum(each.calls for each in checked), "call")
    if len(checked) == 1:
        return f"{_address_of(checked[0])} ({calls})"
    broken = sum(any(each.is_error for each in one.judgements) for one in checked)
    words = f"{plural(len(checked), 'recording')}, {calls}"
    return f"{words}; broken in {broken}" if broken else words


_MOST_TRIAL_PLACES = 20
_RULE_COLUMNS = 80
_SHOWN_PLACES = 3


class Fired(NamedTuple):
    rule: Rule
    sessions: int = 0
    """The number of sessions that break the rule."""
    hits: int = 0
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
                    places=(*fired.places, *found)[:_MOST_TRIAL_PLACES],
                )

    @property
    def is_broken(self) -> bool:
        """Whether a rule with severity `error` would have fired."""
        return any(each.sessions and each.rule.severity.value == "error" for each in self.fired)

    def blind(self) -> list[Fired]:
        """Return the rules that could be judged in no session."""
        return [each for each in self.fired if not each.judged]


def trial_lines(trial: Trial) -> Iterator[SafeText]:
    """Yield a line for each rule, the one that fired in most sessions first, with its newest places."""
    for each in sorted(trial.fired, key=lambda fired: (-fired.sessions, -fired.hits)):
        yield SafeText(f"{cut(safe_line(each.rule.name), _RULE_COLUMNS)}: {_fired(each)}")
        yield from (SafeText(f"  {place}") for place in each.places[:_SHOWN_PLACES])
    yield SafeText(f"{plural(trial.sessions, 'session')}, {plural(trial.calls, 'call')}")


def _fired(fired: Fired) -> str:
    if not fired.judged:
        return "had nothing to check"
    if not fired.sessions:
        return f"never in {plural(fired.judged, 'session')}"
    return f"in {fired.sessions} of {plural(fired.judged, 'session')}, {fired.hits:,} times"


def trial_json(trial: Trial) -> bytes:
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
    return encoded(members)
