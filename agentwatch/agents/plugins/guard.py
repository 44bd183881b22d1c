"""The guard around the `Agent` of a plugin, whose functions may raise any exception."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar, get_args

from agentwatch.agents.agent import Agent, AgentDecoder, LineRole
from agentwatch.agents.fields import Fields
from agentwatch.base.entry_points import Group
from agentwatch.session.events import Event, Notice, Unknown

if TYPE_CHECKING:
    from agentwatch.session.blocks import Block

_EVENTS = get_args(Event)
_Value = TypeVar("_Value")
_FieldsOf = Callable[[Fields], Iterator[tuple[str, object]]]


class Guard:
    """Calls the functions of a plugin. After the first exception, none of them is called again."""

    def __init__(self, agent: Agent, group: Group) -> None:
        self._agent = agent
        self._group = group
        self.problems = group.problems
        self._has_failed = False

    def agent(self) -> Agent:
        """Return the agent with functions that never raise, whatever the plugin's do."""
        plugin = self._agent
        return Agent(
            name=plugin.name,
            recognises=lambda fields: self.call(False, lambda: bool(plugin.recognises(fields))),
            role=self._role,
            decoder=self._decoder,
            blocks=self._blocks,
            traits=plugin.traits,
            agent=plugin.agent if isinstance(plugin.agent, str) else None,
            time_of=plugin.time_of and partial(self._time_of, plugin.time_of),
            unknown_fields=plugin.unknown_fields and partial(self._unknown_fields, plugin.unknown_fields),
            reworded=plugin.reworded if isinstance(plugin.reworded, bytes) else None,
        )

    def call(self, otherwise: _Value, ask: Callable[[], _Value]) -> _Value:
        """Return what a function of the plugin returns, or another value if it fails."""
        if self._has_failed:
            return otherwise
        try:
            return ask()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
            self.fail(error)
            return otherwise

    def fail(self, reason: BaseException | str) -> None:
        """Report the plugin, and call none of its functions again."""
        self._has_failed = True
        self._group.report(self._agent.name, reason)

    def _role(self, fields: Fields) -> LineRole:
        role = self.call(LineRole.OTHER, lambda: self._agent.role(fields))
        return role if isinstance(role, LineRole) else LineRole.OTHER

    def _decoder(self) -> AgentDecoder:
        return _GuardedDecoder(self, self._agent, self.call(None, self._agent.decoder))

    def _blocks(self, fields: Fields, call_id: str) -> Iterable[Block]:
        return self.call([], lambda: list(self._agent.blocks(fields, call_id)))

    def _time_of(self, ask: Callable[[Fields], int | None], fields: Fields) -> int | None:
        found = self.call(None, lambda: ask(fields))
        return found if type(found) is int else None

    def _unknown_fields(self, ask: _FieldsOf, fields: Fields) -> Iterator[tuple[str, object]]:
        nothing: list[tuple[str, object]] = []
        return iter(self.call(nothing, lambda: [(str(what), each) for what, each in ask(fields)]))


class _GuardedDecoder:
    """The decoder of a plugin. Once it has failed, its lines are unknown."""

    def __init__(self, guard: Guard, agent: Agent, decoder: AgentDecoder | None) -> None:
        self._guard = guard
        self._agent = agent
        self._decoder = decoder

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        known = len(self._guard.problems)
        found = self._events(lambda decoder: decoder.decode(fields))
        if found is not None:
            return found
        unknown = Unknown(f"line that the format {self._agent.name} cannot read")
        return [*map(Notice, self._guard.problems[known:]), unknown]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream."""
        return self._events(lambda decoder: decoder.end()) or []

    def _events(self, ask: Callable[[AgentDecoder], Iterable[Event]]) -> list[Event] | None:
        decoder = self._decoder
        events = None if decoder is None else self._guard.call(None, lambda: list(ask(decoder)))
        if events is None or all(isinstance(event, _EVENTS) for event in events):
            return events
        self._guard.fail("its decoder returned something that is not an event")
        return None
