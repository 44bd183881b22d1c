"""Formats that other packages provide, by the entry point group `agentwatch.agents`.

They are loaded when no built-in format recognises a line, or when `--format` names one. A plugin that fails
is reported once, and its lines are lines of no known agent. Code of other packages may raise any exception,
so this module catches all of them.

Example, in the `pyproject.toml` of a package whose module `tern_format` defines the agent:

    [project.entry-points."agentwatch.agents"]
    tern = "tern_format:AGENT"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.plugins.failures import problems, reason_of, report, words_of
from agentwatch.wire.plugins.guard import Guard

__all__ = ["GROUP", "plugin_agent", "plugin_agents", "plugin_names", "problem_of", "problems"]

GROUP = "agentwatch.agents"
"""The entry point group. The name of an entry point is the name of the format."""


def plugin_names() -> list[str]:
    """Return the names of the formats that other packages provide, without loading them."""
    return list(_points())


def plugin_agents() -> list[Agent]:
    """Return the agents that other packages provide, without those that failed.

    The functions of the agents never raise.
    """
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
        report(name, error)
        return None
    if not _is_agent(agent):
        report(name, f"{point.value} is no agentwatch.wire.Agent")
        return None
    if agent.name != name:
        report(name, "its agent has another name than its entry point")
        return None
    return Guard(agent).agent()


def problem_of(name: str) -> str:
    """Return why a plugin failed, in one line: `format plugin tern: ImportError: no module named tern`."""
    return next(
        (problem for problem in problems if problem.startswith(words_of(name, ""))), words_of(name, "failed")
    )


@cache
def _points() -> dict[str, EntryPoint]:
    """Return the entry points of the group by name, from the metadata of all installed packages."""
    try:
        return {point.name: point for point in entry_points(group=GROUP)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the metadata is other people's
        problems.append(words_of("all", reason_of(error)))
        return {}


def _is_agent(value: object) -> bool:
    """Return whether a value has the parts of an agent that are used without being called."""
    return isinstance(value, Agent) and isinstance(value.name, str) and isinstance(value.traits, Traits)
