"""Formats that other packages provide, by the entry point group `agentwatch.agents`.

They are loaded when no built-in format recognises a line, or when `--format` names one. A plugin that fails
is reported once, and its lines are lines of no known agent. Code of other packages may raise any exception,
so this module catches all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from agentwatch.events import Event, Notice, Traits, Unknown
from agentwatch.wire.agent import Agent, AgentDecoder, LineRole
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

GROUP = "agentwatch.agents"
_MOST_WORDS = 300
_EVENTS = get_args(Event)
_Value = TypeVar("_Value")

problems: list[str] = []
"""One line for each plugin that failed, in the order in which they failed."""


def plugin_names() -> list[str]:
    """Return the names of the formats that other packages provide, without loading them."""
    return list(_points())


def plugin_agents() -> list[Agent]:
    """Return the agents that other packages provide, without those that failed."""
    return [agent for name in _points() if (agent := plugin_agent(name)) is not None]


@cache
def plugin_agent(name: str) -> Agent | None:
    """Return the agent of a plugin; None if there is no plugin of this name, or if it cannot be loaded."""
    point = _points().get(name)
    if point is None:
        return None
    try:
        agent = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
        _report(name, error)
        return None
    if not _is_agent(agent):
        _report(name, f"{point.value} is no agentwatch.wire.Agent")
        return None
    if agent.name != name:
        _report(name, "its agent has another name than its entry point")
        return None
    return _Guard(agent).agent()


def problem_of(name: str) -> str:
    """Return why a plugin failed."""
    return next(
        (problem for problem in problems if problem.startswith(_words(name, ""))), _words(name, "failed")
    )


@cache
def _points() -> dict[str, EntryPoint]:
    """Return the entry points of the group by name, from the metadata of all installed packages."""
    try:
        return {point.name: point for point in entry_points(group=GROUP)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the metadata is other people's
        problems.append(_words("all", _reason(error)))
        return {}


class _Guard:
    """Calls the functions of a plugin. After the first exception of one it is not asked again."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._has_failed = False

    def agent(self) -> Agent:
        """Return the agent with functions that never raise."""
        plugin = self._agent
        return Agent(
            name=plugin.name,
            recognises=lambda fields: self.call(False, lambda: bool(plugin.recognises(fields))),
            role=self._role,
            decoder=self._decoder,
            blocks=self._blocks,
            traits=plugin.traits,
            agent=plugin.agent if isinstance(plugin.agent, str) else None,
            time_of=None if plugin.time_of is None else self._time_of,
            unknown_fields=None if plugin.unknown_fields is None else self._unknown_fields,
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
        """Report the plugin, and stop asking it."""
        self._has_failed = True
        _report(self._agent.name, reason)

    def _role(self, fields: Fields) -> LineRole:
        role = self.call(LineRole.OTHER, lambda: self._agent.role(fields))
        return role if isinstance(role, LineRole) else LineRole.OTHER

    def _decoder(self) -> AgentDecoder:
        return _GuardedDecoder(self, self._agent, self.call(None, self._agent.decoder))

    def _blocks(self, fields: Fields, call_id: str) -> Iterable[Block]:
        return self.call([], lambda: list(self._agent.blocks(fields, call_id)))

    def _time_of(self, fields: Fields) -> int | None:
        time_of = self._agent.time_of
        found = None if time_of is None else self.call(None, lambda: time_of(fields))
        return found if type(found) is int else None

    def _unknown_fields(self, fields: Fields) -> Iterator[tuple[str, object]]:
        ask = self._agent.unknown_fields
        nothing: list[tuple[str, object]] = []
        if ask is None:
            return iter(nothing)
        return iter(self.call(nothing, lambda: [(str(what), each) for what, each in ask(fields)]))


class _GuardedDecoder:
    """The decoder of a plugin. Once it has failed, its lines are unknown."""

    def __init__(self, guard: _Guard, agent: Agent, decoder: AgentDecoder | None) -> None:
        self._guard = guard
        self._agent = agent
        self._decoder = decoder

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        known = len(problems)
        found = self._checked(None if self._decoder is None else self._asked(self._decoder.decode, fields))
        if found is not None:
            return found
        unknown = Unknown(f"line that the format {self._agent.name} cannot read")
        return [*map(Notice, problems[known:]), unknown]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream."""
        return self._checked(None if self._decoder is None else self._asked(self._decoder.end)) or []

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._guard.call(None, lambda: list(function(*arguments)))

    def _checked(self, events: list[Event] | None) -> list[Event] | None:
        if events is None or all(isinstance(event, _EVENTS) for event in events):
            return events
        self._guard.fail("its decoder returned something that is no event")
        return None


def _is_agent(value: object) -> bool:
    """Return whether a value has the parts of an agent that are used without being called."""
    return isinstance(value, Agent) and isinstance(value.name, str) and isinstance(value.traits, Traits)


def _report(name: str, reason: BaseException | str) -> None:
    problem = _words(name, reason if isinstance(reason, str) else _reason(reason))
    if problem not in problems:
        problems.append(problem)


def _words(name: str, reason: str) -> str:
    return f"format plugin {name}: {reason}"


def _reason(error: BaseException) -> str:
    """Return an exception in one line. Its message is foreign, and making it may fail too."""
    try:
        words = str(error)[:_MOST_WORDS]
    except Exception:  # noqa: BLE001 - other people's code
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
