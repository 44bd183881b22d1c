"""The guard around the `Program` of a plugin: all of its functions are called here, and may raise anything.

A function that raises counts as one that has found nothing. The first problem of each plugin is a line in
`PROGRAMS.problems`. An OSError is not a problem of the plugin: the caller reports the file.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from types import NoneType
from typing import Any

from agentwatch.agents.first_use import imported
from agentwatch.agents.places import Kind
from agentwatch.agents.plugins import PROGRAMS
from agentwatch.agents.program import HookedAgent, Program
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Reporter, StateReport


def guarded(program: Program) -> Program:
    """Return a program whose functions never raise."""
    call = partial(_called, program.name)
    command = program.command
    if command is not None and command.opens is not None:
        command = command._replace(opens=partial(call, command.opens, bool))
    stores = tuple(partial(call, opener, NoneType) for opener in program.stores)
    return program._replace(command=command, stores=stores, id_in=partial(call, program.id_in, str))


def kind_of(name: str, layout: str | Callable[..., Kind], *arguments: str) -> Kind:
    """Return the kind of a folder with sessions, whose functions never raise.

    Args:
        name: The short name of the agent.
        layout: The function that returns it, or its `module:name`.
        arguments: Its arguments.
    """
    call = partial(_called, name)
    found = call(lambda: imported(layout)(*arguments), NoneType)
    return _guarded_kind(call, found) if isinstance(found, Kind) else Kind(name)


def reporter_of(name: str, reader: str, *arguments: object) -> Reporter:
    """Return what reads the reports of an agent, and never raises.

    Args:
        name: The short name of the agent.
        reader: `module:name` of the `Reporter`.
        arguments: Its arguments.
    """
    return _GuardedReporter(name, _called(name, lambda: imported(reader)(*arguments), NoneType))


def hooked_agent_of(name: str, hooks: str | HookedAgent) -> HookedAgent | None:
    """Return the agent whose hooks can be used; None if the plugin does not describe them.

    Args:
        name: The short name of the agent.
        hooks: The `HookedAgent`, or its `module:name`.
    """
    found = _called(name, lambda: imported(hooks), NoneType)
    if found is None or isinstance(found, HookedAgent):
        return found
    PROGRAMS.report(name, f"{hooks} is not an agentwatch.agents.program.HookedAgent")
    return None


def _guarded_kind(call: Callable[..., Any], kind: Kind) -> Kind:
    def below(folder: str) -> Kind | None:
        found = call(kind.below, NoneType, folder)
        return _guarded_kind(call, found) if isinstance(found, Kind) else None

    guarded = kind._replace(
        owner=partial(call, kind.owner, NoneType),
        beside=partial(call, kind.beside, tuple),
        below=below,
        urgent=partial(call, kind.urgent, set),
    )
    return guarded._replace(read=partial(call, kind.read, list)) if kind.holds_sessions else guarded


class _GuardedReporter:
    """The reader of a plugin's reports. When it raises, it has said nothing."""

    def __init__(self, name: str, reporter: Reporter | None) -> None:
        self.reported: dict[Key, StateReport] = {}
        self.is_exact = False
        self._name = name
        self._reporter = reporter

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """Read what may have changed, and return whether something new is said."""
        before = self.reported
        if self._reporter is not None:
            self.reported, self.is_exact = _called(self._name, self._read, lambda: ({}, False), now, keys)
        return self.reported != before

    def _read(self, now: float, keys: Container[Key] | None) -> tuple[dict[Key, StateReport], bool]:
        reporter: Any = self._reporter
        reporter.refresh(now, keys=keys)
        reported = dict(reporter.reported)
        if not all(
            isinstance(each, StateReport) and key == (self._name, each.session_id)
            for key, each in reported.items()
        ):
            raise TypeError(f"a report is not an agentwatch.agents.state_report.StateReport of {self._name}")
        return reported, reporter.is_exact is True


def _called(name: str, function: Callable[..., Any], otherwise: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of a plugin returns, or another value if it fails.

    Args:
        name: The name of the plugin.
        function: Its function.
        otherwise: Returns the other value, such as the type of an empty one.
        arguments: The arguments.
    """
    try:
        return function(*arguments)
    except OSError:
        raise  # the file cannot be read, which is reported with its path
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
        PROGRAMS.report(name, error)
        return otherwise()
