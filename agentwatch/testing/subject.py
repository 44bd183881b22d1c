"""The format that is checked: calls its functions, and checks what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, NoReturn, TypeVar, get_args

from agentwatch.analysis.block_text import block_text
from agentwatch.blocks import Block
from agentwatch.events import Event, ToolEnded, ToolProgress, ToolStarted
from agentwatch.testing.event_types import problem_of
from agentwatch.testing.variants import ABSENT, Path
from agentwatch.wire.agent import Agent, AgentDecoder, LineRole
from agentwatch.wire.fields import Fields, in_words

_BLOCKS: tuple[type, ...] = get_args(Block)
_MOST_CALLS = 3
_MOST_WORDS = 300

_Value = TypeVar("_Value")


class Where(NamedTuple):
    """A sample line, and how it was changed."""

    number: int
    """The number of the line, counted from 1."""
    path: Path = ()
    """The field that was changed; empty for no field."""
    other: object = None
    """The value in its place."""
    change: str = ""
    """Another change, in words."""

    def words(self) -> str:
        """Return the place for a message: `line 3 without message.content`."""
        if self.path:
            name = ".".join(map(str, self.path))
            is_absent = self.other is ABSENT
            change = f" without {name}" if is_absent else f" with {name} = {in_words(self.other)}"
            return f"line {self.number}{change}"
        return f"line {self.number}{self.change}"


class Subject:
    """The functions of a format. An exception, and a value of another type, is a failed check."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def fail(self, words: str) -> NoReturn:
        """Raise an `AssertionError` that names the format."""
        raise AssertionError(f"format {self.agent.name}: {words}")

    def decoder(self) -> AgentDecoder:
        """Return a new decoder."""
        return self._asked("decoder", Where(0), self.agent.decoder)

    def decode(self, decoder: AgentDecoder, fields: Fields, where: Where) -> list[Event]:
        """Return the events of a line."""
        events = self._asked("decode", where, lambda: list(decoder.decode(fields)))
        return self._checked("decode", events, where)

    def end(self, decoder: AgentDecoder, where: Where) -> list[Event]:
        """Return the events of the end, after a line."""
        return self._checked("end", self._asked("end", where, lambda: list(decoder.end())), where)

    def recognises(self, fields: Fields, where: Where) -> bool:
        """Return whether only the agent can have written a line."""
        return self._typed("recognises", where, lambda: self.agent.recognises(fields), bool)

    def role(self, fields: Fields, where: Where) -> LineRole:
        """Return the role of a line."""
        return self._typed("role", where, lambda: self.agent.role(fields), LineRole)

    def show(self, fields: Fields, call_ids: Iterable[str], where: Where) -> None:
        """Make the text of the blocks of a line, for its first calls and for one that it does not have."""
        for call_id in (*islice(call_ids, _MOST_CALLS), "call-of-another-line"):
            blocks = self._asked("blocks", where, partial(self._blocks, fields, call_id))
            for block in blocks:
                if not isinstance(block, _BLOCKS):
                    kind = type(block).__name__
                    self.fail(f"blocks returned a {kind}, which is no block ({where.words()})")
                self._asked("the text of the blocks", where, partial(block_text, block))

    def use(self, decoder: AgentDecoder, fields: Fields, where: Where) -> None:
        """Call the functions that the program calls for each line, and check nothing but exceptions."""
        self._asked("recognises", where, lambda: self.agent.recognises(fields))
        self._asked("role", where, lambda: self.agent.role(fields))
        self._asked("decode", where, lambda: list(decoder.decode(fields)))
        self._asked("blocks", where, lambda: self._blocks(fields, "call-of-another-line"))

    def _blocks(self, fields: Fields, call_id: str) -> list[Block]:
        return list(self.agent.blocks(fields, call_id))

    def ask_others(self, fields: Fields, where: Where) -> None:
        """Call the optional functions."""
        agent = self.agent
        if agent.time_of is not None:
            time_of = agent.time_of
            self._typed("time_of", where, lambda: time_of(fields), int | None)
        if agent.may_write is not None:
            may_write = agent.may_write
            self._typed("may_write", where, lambda: may_write(fields), bool)
        if agent.unknown_fields is not None:
            unknown_fields = agent.unknown_fields
            names = self._asked("unknown_fields", where, lambda: [name for name, _ in unknown_fields(fields)])
            if not all(isinstance(name, str) for name in names):
                self.fail(f"unknown_fields yielded a name that is no text ({where.words()})")

    def ask_all(self, decoder: AgentDecoder, fields: Fields, where: Where) -> list[Event]:
        """Call every function with a line, and return its events."""
        self.recognises(fields, where)
        self.role(fields, where)
        self.ask_others(fields, where)
        events = self.decode(decoder, fields, where)
        self.show(fields, call_ids(events), where)
        return events

    def _checked(self, name: str, events: list[Event], where: Where) -> list[Event]:
        for event in events:
            if (problem := problem_of(event)) is not None:
                self.fail(f"{name} returned a wrong event: {problem} ({where.words()})")
        return events

    def _typed(self, name: str, where: Where, ask: Callable[[], _Value], expected: Any) -> _Value:
        value = self._asked(name, where, ask)
        if not isinstance(value, expected):
            words = getattr(expected, "__name__", str(expected))
            self.fail(f"{name} returned a {type(value).__name__}, not {words} ({where.words()})")
        return value

    def _asked(self, name: str, where: Where, ask: Callable[[], _Value]) -> _Value:
        try:
            return ask()
        except Exception as error:
            words = f"{type(error).__name__}: {error}"[:_MOST_WORDS]
            raise AssertionError(
                f"format {self.agent.name}: {name} raised {words} ({where.words()})"
            ) from error


def call_ids(events: Iterable[Event]) -> set[str]:
    """Return the ids of the calls that events are about."""
    return {each.call_id for each in events if isinstance(each, ToolStarted | ToolProgress | ToolEnded)}
