"""Calls what a plugin says about the program of an agent, which may raise any exception."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from agentwatch.agents.places import Kind
from agentwatch.agents.plugins import PROGRAMS
from agentwatch.agents.program import Program, imported


def guarded(program: Program) -> Program:
    """Return a program whose functions never raise."""
    call = partial(_called, program.name)
    command = program.command
    if command is not None and command.opens is not None:
        command = command._replace(opens=partial(call, command.opens, bool))
    stores = tuple(partial(call, opener, _nothing) for opener in program.stores)
    return program._replace(command=command, stores=stores, id_in=partial(call, program.id_in, str))


def kind_of(name: str, layout: str, *arguments: str) -> Kind:
    """Return the kind of a folder with sessions of a plugin's agent, whose functions never raise.

    Args:
        name: The short name of the agent.
        layout: `module:name` of the function that returns it.
        arguments: Its arguments.
    """
    call = partial(_called, name)
    found = call(lambda: imported(layout)(*arguments), _nothing)
    return _guarded_kind(call, found) if isinstance(found, Kind) else Kind(name)


def _guarded_kind(call: Callable[..., Any], kind: Kind) -> Kind:
    def below(folder: str) -> Kind | None:
        found = call(kind.below, _nothing, folder)
        return _guarded_kind(call, found) if isinstance(found, Kind) else None

    guarded = kind._replace(
        owner=partial(call, kind.owner, _nothing),
        beside=partial(call, kind.beside, tuple),
        below=below,
        urgent=partial(call, kind.urgent, set),
    )
    return guarded._replace(read=partial(call, kind.read, list)) if kind.holds_sessions else guarded


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
        if not PROGRAMS.problems:
            PROGRAMS.report(name, error)
        return otherwise()


def _nothing() -> None:
    return None
