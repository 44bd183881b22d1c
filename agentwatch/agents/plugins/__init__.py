"""Formats and programs of agents that other packages provide, by their entry points.

A format is loaded when no built-in one recognises a line, or when `--format` names it. A plugin that fails is
reported once, and its lines are lines of no known agent. The programs are loaded with the built-in ones.

Example, in the `pyproject.toml` of a package `agentwatch_tern`:

    [project.entry-points."agentwatch.agents"]
    tern = "agentwatch_tern:AGENT"

    [project.entry-points."agentwatch.programs"]
    tern = "agentwatch_tern.program:PROGRAM"
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from agentwatch.base.entry_points import Group

if TYPE_CHECKING:
    from collections.abc import Container

    from agentwatch.agents.agent import Agent
    from agentwatch.agents.program import Program

GROUP = Group("agentwatch.agents", "format plugin")
"""The name of an entry point is the name of the format."""
PROGRAMS = Group("agentwatch.programs", "agent plugin")
"""The name of an entry point is the short name of the agent."""


def plugin_agents() -> list[Agent]:
    """Return the agents that other packages provide, without those that failed.

    The functions of the agents never raise.
    """
    return [agent for name in GROUP.names() if (agent := plugin_agent(name)) is not None]


@cache
def plugin_agent(name: str) -> Agent | None:
    """Return the agent of a plugin; None if there is no plugin of this name, or if it cannot be loaded."""
    agent = GROUP.load(name)
    if agent is None:
        return None
    if not _is_agent(agent):
        GROUP.report(name, f"{GROUP.value_of(name)} is not an agentwatch.agents.Agent")
        return None
    if agent.name != name:
        GROUP.report(name, "its agent has another name than its entry point")
        return None
    from agentwatch.agents.plugins.guard import Guard

    return Guard(agent, GROUP).agent()


def plugin_programs(built_in: Container[str]) -> list[Program]:
    """Return the programs that other packages provide, without those that failed, or have the name of a
    built-in agent. Their functions may raise."""
    found = []
    for name in PROGRAMS.names():
        program = PROGRAMS.load(name)
        if name in built_in:
            PROGRAMS.report(name, "this is the name of a built-in agent")
        elif _is_program(program, name):
            found.append(program)
        elif program is not None:
            PROGRAMS.report(
                name, f"{PROGRAMS.value_of(name)} is not an agentwatch.agents.Program of this name"
            )
    return found


def _is_program(value: object, name: str) -> TypeGuard[Program]:
    from agentwatch.agents.program import Program, SessionsAt

    return (
        isinstance(value, Program)
        and value.name == name
        and isinstance(value.sessions, tuple)
        and all(isinstance(each, SessionsAt) for each in value.sessions)
    )


def _is_agent(value: object) -> TypeGuard[Agent]:
    from agentwatch.agents.agent import Agent
    from agentwatch.session.events import Traits

    return isinstance(value, Agent) and isinstance(value.name, str) and isinstance(value.traits, Traits)
