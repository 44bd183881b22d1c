"""Groups the entries of a transcript into steps: one for each prompt, notice and call of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from agentwatch.events import Outcome
from agentwatch.session import Call, Entry, Kind


class Origin(StrEnum):
    """Who a step comes from."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"


@dataclass(slots=True)
class Step:
    """One step, as the numbers of its entries and calls: a step may have any number of them."""

    origin: Origin
    numbers: list[int] = field(default_factory=list)
    """The entries, in order."""
    texts: list[int] = field(default_factory=list)
    """Those of its message."""
    reasoning: list[int] = field(default_factory=list)
    """Those of the model's reasoning."""
    calls: list[int] = field(default_factory=list)
    """The numbers of its calls."""
    group: str | None = None
    """The model step of its calls."""
    first_end: int | None = None
    """The offset of the line that ended the first of its calls to end."""

    def add_call(self, entry: Entry, call: Call) -> None:
        """Add a call and its entry."""
        self.numbers.append(entry.number)
        self.calls.append(call.number)
        self.group = call.group if self.group is None else self.group
        if call.ended is not None and (self.first_end is None or call.ended.offset < self.first_end):
            self.first_end = call.ended.offset

    def add_text(self, entry: Entry) -> None:
        """Add a text."""
        self.numbers.append(entry.number)
        (self.reasoning if entry.kind is Kind.REASONING else self.texts).append(entry.number)

    def add_texts(self, other: Step | None) -> None:
        """Add the texts of another step."""
        if other is not None:
            self.numbers += other.numbers
            self.texts += other.texts
            self.reasoning += other.reasoning

    def has_requested(self, call: Call) -> bool:
        """Return whether the model requested a call together with those of the step.

        An agent that names its model steps says so. Of others, a call belongs to the step of a call that had
        not ended when it started: the model has not seen a result between the two.
        """
        if not self.calls:
            return True
        if self.group is not None or call.group is not None:
            return self.group == call.group
        started = call.started or call.ended
        return started is not None and (self.first_end is None or started.offset < self.first_end)


def steps_of(entries: Iterable[Entry]) -> Iterator[Step]:
    """Yield the steps of the entries of one agent, in order.

    A notice between the calls of a step follows the step. The model reasons before it answers: reasoning
    after an answer begins a step.
    """
    step: Step | None = None
    after: Step | None = None
    """Texts after a call, which belong to its step if a call of the same model step follows."""
    notices: list[int] = []
    for entry in entries:
        call = entry.call
        if call is not None:
            if step is not None and step.has_requested(call) and (after is None or call.group is not None):
                step.add_texts(after)
            else:
                yield from _ended(step, notices)
                step = after or Step(Origin.AGENT)
            step.add_call(entry, call)
            after = None
        elif entry.kind in (Kind.ANSWER, Kind.REASONING):
            if step is None:
                step = Step(Origin.AGENT)
            elif entry.kind is Kind.REASONING and step.texts and not step.calls:
                yield from _ended(step, notices)
                step = Step(Origin.AGENT)
            elif step.calls and after is None:
                after = Step(Origin.AGENT)
            elif entry.kind is Kind.REASONING and after is not None and after.texts:
                yield from _ended(step, notices)
                yield after
                step, after = Step(Origin.AGENT), None
            (after or step).add_text(entry)
        elif entry.kind is Kind.NOTICE and step is not None and after is None:
            notices.append(entry.number)
        else:
            yield from _ended(step, notices)
            yield from _ended(after, [])
            step = after = None
            if (origin := _origin(entry)) is not None:
                yield Step(origin, [entry.number], [entry.number])
    yield from _ended(step, notices)
    yield from _ended(after, [])


def _ended(step: Step | None, notices: list[int]) -> Iterator[Step]:
    """Yield a step that has ended, then the notices that came while it lasted."""
    if step is not None:
        yield step
    for number in notices:
        yield Step(Origin.SYSTEM, [number], [number])
    notices.clear()


def _origin(entry: Entry) -> Origin | None:
    """Return who an entry comes from that is a step of its own; None if it is no step.

    A result repeats the agent's text, unless the recording has nothing else, or it is an error message.
    """
    if entry.kind is Kind.PROMPT:
        return Origin.USER
    if (result := entry.result) is None:
        return Origin.SYSTEM
    if not result.length:
        return None
    if result.is_bare and result.outcome is Outcome.SUCCEEDED:
        return Origin.AGENT
    is_new = result.outcome is not Outcome.SUCCEEDED and not result.is_streamed
    return Origin.SYSTEM if is_new else None
