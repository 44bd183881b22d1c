"""The words of a filter: which calls they select, and how they can continue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CALLS
from agentwatch.rules.calls.readers import MAIN, call_readers, paths_of, programs_of
from agentwatch.rules.language.completion import Offer, Value, offers
from agentwatch.rules.language.conditions import Condition, Partly
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse, typed
from agentwatch.session.actions import target
from agentwatch.session.call import Call
from agentwatch.text.safe import safe_line

Matches = Callable[[Call], bool]
"""Returns whether a filter selects a call. If a value that decides it is unknown, it does not."""
_MOST_READ = 256
"""The newest calls whose programs and paths are offered: reading their commands takes 8 ms."""


class Filter(NamedTuple):
    """The words of a filter that can be used."""

    words: str
    """The words before the first mistake."""
    matches: Matches | None
    """The test for a call; None if there are no words."""
    problem: RuleError | None = None


def call_filter(text: str, facts: CallFacts) -> Matches | None:
    """Return the test of a filter; None if there are no words. A word must occur in the call's tool or
    target, or be the beginning of its outcome (at least three letters, so that it matches while it is being
    typed). `docs/rules.md` has the fields. Raise `RuleError` if the words are not a rule."""
    return _selecting(parse(text, CALLS), facts) if text.strip() else None


def usable_filter(text: str, facts: CallFacts) -> Filter:
    """Return the filter of the words before the first mistake, and the mistake."""
    words, condition, problem = typed(text, CALLS)
    matches = None if condition is None else _selecting(condition, facts)
    return Filter(words, matches, problem)


def _selecting(condition: Condition, facts: CallFacts) -> Matches:
    test = condition.bind(call_readers(facts))
    return lambda call: test(call) is True


def filter_offers(
    text: str, facts: CallFacts, tools: Iterable[str], delegating: Callable[[], Sequence[Call]]
) -> list[Offer]:
    """Return how the last word of a filter can continue; `text` ends at the cursor."""
    return offers(text, CALLS, partial(_values, facts, tools, delegating))


def _values(
    facts: CallFacts, tools: Iterable[str], delegating: Callable[[], Sequence[Call]], field: str
) -> Iterable[Value]:
    session = facts.session
    match field:
        case "tool":
            return [Value(safe_line(tool)) for tool in tools]
        case "agent":
            subagents = ((f"#{call.number}", target(call) or safe_line(call.tool)) for call in delegating())
            return [Value(MAIN), *(Value(*each) for each in subagents)]
        case "model":
            return [Value(safe_line(run.model)) for run in reversed(session.runs) if run.model]
        case "program" | "path":
            newest = session.calls[max(len(session.calls) - _MOST_READ, 0) :]
            found: dict[str, None] = {}
            for call in reversed(newest):
                names = programs_of(call) if field == "program" else _shown_paths(call, facts.cwd(call))
                found |= dict.fromkeys(names)
            return [Value(safe_line(name)) for name in found]
    return ()


def _shown_paths(call: Call, cwd: str | None) -> Sequence[str]:
    """Return the paths of a call that is about files, relative to the cwd if they are in it."""
    found = paths_of(call, cwd) if call.path else ()
    return found[-1:] if found and not isinstance(found, Partly) else ()
