"""Everything that a session contains, as plain values that can be compared.

The attributes are found by `vars` and `__slots__`, so that a new attribute is compared without being named
here. Two sessions with the same facts show the same.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from agentwatch.session.call import Call, CallOrder, Calls
from agentwatch.session.session import Notices, Session
from agentwatch.session.storage import GrowingText, Numbers, Spill, TextPrefix
from agentwatch.session.transcript import Answer, Entry, Transcript, TurnResult

Facts = Any
"""A number, a string, a list or a dict of facts."""
_ATOMS = (str, int, float, bytes, type(None))


def facts(value: object) -> Facts:
    """Return everything that a session or a part of it contains."""
    if isinstance(value, _ATOMS):
        return value
    for kind, of_kind in _OF_KINDS.items():
        if isinstance(value, kind):
            return of_kind(value)
    if isinstance(value, dict):
        return [(facts(key), facts(each)) for key, each in value.items()]
    if isinstance(value, tuple | list | deque | array):
        return [facts(each) for each in value]
    return {name: facts(each) for name, each in _attributes(value)}


def different(one: Facts, other: Facts, path: str = "session") -> Iterator[str]:
    """Yield where facts differ, and both values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from different(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from different(first, second, f"{path}[{index}]")
    elif one != other:
        yield f"{path}: {one!r:.200} instead of {other!r:.200}"


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    names = [*getattr(value, "__dict__", ())]
    for each in type(value).__mro__:
        slots = getattr(each, "__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    for name in names:
        if name != "__weakref__" and hasattr(value, name):
            yield name, getattr(value, name)


def _transcript(transcript: Transcript) -> Facts:
    calls = {entry.call.number for entry in transcript if entry.call is not None}
    return {
        "entries": [facts(entry) for entry in transcript],
        "offsets": [transcript.offsets[number] for number in range(len(transcript))],
        "parents": {number: of for number, of in transcript.parents.items() if number in calls},
        "last text": facts(transcript.last_text),
        "last result": facts(transcript.last_result),
        "open kind": transcript.open_kind,
    }


def _entry(entry: Entry) -> Facts:
    names = (name for name in Entry.__slots__ if not name.startswith("_"))
    own = {name: facts(getattr(entry, name)) for name in names}
    return {**own, "result": facts(entry.result), "call": facts(entry.call)}


def _result(result: TurnResult) -> Facts:
    """Return a result; when it was compared with the text is not a fact, but how it compares is."""
    names = set(TurnResult.__slots__) - {"_answer", "_compared"}
    own = {name: facts(getattr(result, name)) for name in sorted(names)}
    return {**own, "matches text": result.matches_text, "is streamed": result.is_streamed}


def _notices(notices: Notices) -> Facts:
    """Return the counts, and the texts of which a further notice is left out."""
    count, _ = counts = notices.counts()
    return {"counts": [*counts], "once": [text for text, before in notices._once.items() if before < count]}


_OF_KINDS: dict[type, Callable[[Any], Facts]] = {
    Transcript: _transcript,
    Entry: _entry,
    TurnResult: _result,
    Notices: _notices,
    Spill: lambda _: None,
    Calls: lambda calls: [facts(call) for call in calls],
    CallOrder: lambda order: [call.number for call in order],
    Call: lambda call: {name: facts(each) for name, each in _attributes(call)},
    Numbers: lambda numbers: [numbers[index] for index in range(len(numbers))],
    GrowingText: str,
    TextPrefix: str,
    Answer: lambda answer: [str(text) for text in answer],
    Session: lambda session: {
        **{name: facts(each) for name, each in _attributes(session)},
        "phase": session.phase,
        "outcome": session.outcome,
        "text": session.text,
        "run": facts(session.run),
    },
}
"""The facts of values whose attributes are not all facts: they may refer to a store, or to later lines."""
