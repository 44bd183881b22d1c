"""Calls made without a stream."""

from itertools import count

from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind

PLACE = Place(0, 1, None)
_numbers = count(1)


def made(tool: str, target: str | None, outcome: Outcome = Outcome.SUCCEEDED, **facts: object) -> Call:
    """Return a call with this outcome; it has an end unless it is running."""
    kind = ToolKind.READ if tool == "read" else ToolKind.EXECUTE
    number = next(_numbers)
    call = Call(number, 1, f"c-{number}", tool, "Did it", target, kind=kind, started=PLACE)
    for name, value in facts.items():
        setattr(call, name, value)
    return end(call, outcome)


def end(call: Call, outcome: Outcome) -> Call:
    """Give a call an outcome, and return it."""
    call.outcome = outcome
    call.ended = None if outcome is Outcome.RUNNING else PLACE
    return call
