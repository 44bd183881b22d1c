"""The report as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from agentwatch.rules.check.judgement import Checked, Judgement, blind
from agentwatch.rules.check.kinds import Forbid, Limit, Require
from agentwatch.text.safe import safe_text
from agentwatch.text.safe_json import safe_json

_KINDS = {Forbid: "forbid", Require: "require", Limit: "limit"}


def report(checked: Sequence[Checked], exit_code: int) -> bytes:
    """Return the report as one line of JSON, without a line end.

    Args:
        checked: The recordings.
        exit_code: The exit code of the check.
    """
    members = {
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
    return safe_json(orjson.dumps(members))


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
