"""The language of rules: words that select calls, or sessions of a list.

One parser serves the filter of the calls, the filter of the list, `check`, `--on` and `export --only`. A rule
has no functions, no assignment and no recursion: its cost is bounded by its length and by the number of
calls. `docs/RULES.md` describes it for users.

The package knows no session. A vocabulary names the fields that a rule may use, and readers return the values
of a call or of a row. A value may be unknown. A term about an unknown value is neither true nor false, and
neither is its negation.
"""

from agentwatch.rules.conditions import Condition, Readers, Test, Value
from agentwatch.rules.errors import RuleError
from agentwatch.rules.fields import Field, Measure, Vocabulary
from agentwatch.rules.parser import parse

__all__ = [
    "Condition",
    "Field",
    "Measure",
    "Readers",
    "RuleError",
    "Test",
    "Value",
    "Vocabulary",
    "parse",
]
