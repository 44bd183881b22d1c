"""The formats of tokens that begin with letters of their vendor, as the vendors document them.

Each module has the tokens of one field in `RULES`. Kinds are the vendors' names.
"""

from agentwatch.redaction.secrets.rules import (
    business,
    clouds,
    code_hosts,
    messages,
    models,
    money,
    watching,
)
from agentwatch.redaction.secrets.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *models.RULES,
    *clouds.RULES,
    *code_hosts.RULES,
    *money.RULES,
    *messages.RULES,
    *watching.RULES,
    *business.RULES,
)

__all__ = ["RULES", "Rule"]
