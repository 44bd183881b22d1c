"""A rule that watches a session, and the action when it is hit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from agentwatch.rules.calls.fields import LIVE, RUN_FIELDS
from agentwatch.rules.language.conditions import Comparison, Condition, Not, Several, Word
from agentwatch.rules.language.errors import RuleError, did_you_mean
from agentwatch.rules.language.parser import parse

_OF_THE_RUN = frozenset({"idle", *(field.name for field in RUN_FIELDS)})
_OF_THE_END = frozenset(
    {"outcome", "error", "text", "exit", "verdict", "phase", "lines_added", "lines_removed", "acted"}
)
"""Fields that change while a call runs. Whether one stays without a value is known only at the end."""
_MOST_NAME = 200


class Action(StrEnum):
    """The action when a rule is hit. Each hit is also written to the log."""

    BELL = "bell"
    NOTE = "note"
    """A desktop notification."""
    LOG = "log"
    """A line is written to the log, and nothing else happens."""
    RUN = "run"
    """A command of the user's is run."""
    PAUSE = "pause"
    """The agent's process group is stopped until the user continues it."""
    STOP = "stop"
    """The agent is terminated."""

    @property
    def needs_agent(self) -> bool:
        """Whether the action affects the agent, which agentwatch must have started."""
        return self in (Action.PAUSE, Action.STOP)


@dataclass(frozen=True)
class Tripwire:
    name: str
    action: Action
    condition: Condition
    command: tuple[str, ...] = ()

    @property
    def is_about_run(self) -> bool:
        """Whether the rule is about the run so far, such as `failed>3`, and not about single calls."""
        fields = self.condition.fields
        has_word = any(isinstance(part, Word) for part in _parts(self.condition))
        return bool(fields) and fields <= _OF_THE_RUN and not has_word

    @property
    def waits_for_end(self) -> bool:
        """Whether the rule may be true only because a call has not ended yet: `-outcome:succeeded`."""
        return any(_depends_on_end(part) for part in _parts(self.condition))


def tripwire(
    rule: str, action: str, name: str = "", command: tuple[str, ...] = (), *, allows_patterns: bool = False
) -> Tripwire:
    """Read a rule and its action.

    `action` is `bell`, `note`, `log`, `run`, `pause` or `stop`. `name` is that under which it is shown; the
    rule itself if empty. `command` is the program with its arguments for `run`. `allows_patterns` says
    whether the rule may contain regular expressions, as in a file. Raise `RuleError` if the rule cannot be
    read, or the action does not exist.

    Example:
        >>> tripwire("failed>3", "bell").is_about_run
        True
    """
    condition = parse(rule, LIVE, allows_patterns=allows_patterns)
    if action not in list(Action):
        known = ", ".join(Action)
        raise RuleError(f'unknown action "{action}"{did_you_mean(action, list(Action))}; known: {known}')
    if action == Action.RUN and not command:
        raise RuleError('run needs a command, which only the settings name: command = ["…"] in [[on]]')
    return Tripwire((name or " ".join(rule.split()))[:_MOST_NAME], Action(action), condition, command)


def _parts(condition: Condition) -> Iterator[Condition]:
    left = [condition]
    while left:
        part = left.pop()
        yield part
        if isinstance(part, Several):
            left += part.parts
        elif isinstance(part, Not):
            left.append(part.part)


def _depends_on_end(part: Condition) -> bool:
    if isinstance(part, Not):
        has_word = any(isinstance(each, Word) for each in _parts(part))
        return has_word or not part.fields.isdisjoint({*_OF_THE_END, "duration"})
    return isinstance(part, Comparison) and part.field.name == "duration" and part.operator in ("<", "<=")
