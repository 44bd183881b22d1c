"""The report as JUnit XML, which CI services show as tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentwatch.rules.check.judgement import MOST_VIOLATIONS, Checked, Judgement, State, blind
from agentwatch.rules.check.kinds import Severity
from agentwatch.rules.check.reports.words import address_of, name_of, places

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 forbids, also as references (section 2.2). ElementTree writes them."""


def report(checked: Sequence[Checked]) -> bytes:
    """Return a `testsuite` for each recording with a `testcase` for each rule, as UTF-8.

    A broken rule is a `failure`, and a broken warning is `skipped`. A rule that looked at nothing in all
    recordings is an `error`; a rule that looked at nothing only in this recording is `skipped`. All rules are
    judged in one pass, so each testcase gets an equal part of the time.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # 10 ms, for this format only

    unseen = {each.rule for each in blind(checked)}
    root = Element("testsuites", name="agentwatch check")
    for each in checked:
        name, share = _xml(address_of(each)), each.seconds / max(len(each.judgements), 1)
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
