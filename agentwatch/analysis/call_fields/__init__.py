"""The fields of calls in rules: `tool`, `path`, `program`, `duration` and the others of `docs/RULES.md`.

Values are those of every agent's sessions: tools are matched by their kind, never by the words of one agent.
"""

from agentwatch.analysis.call_facts import CallFacts
from agentwatch.analysis.call_fields.comparisons import MAIN
from agentwatch.analysis.call_fields.fields import CALL_FIELDS, CALLS, LIVE, RUN_FIELDS
from agentwatch.analysis.call_fields.paths import paths_of
from agentwatch.analysis.call_fields.readers import call_readers, programs_of

__all__ = [
    "CALLS",
    "CALL_FIELDS",
    "LIVE",
    "MAIN",
    "RUN_FIELDS",
    "CallFacts",
    "call_readers",
    "paths_of",
    "programs_of",
]
