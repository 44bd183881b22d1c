"""The groups of what other packages provide: formats, and the programs of agents."""

from agentwatch.plugins.group import Group

GROUP = Group("agentwatch.agents", "format plugin")
"""The name of an entry point is the name of the format."""
PROGRAMS = Group("agentwatch.programs", "agent plugin")
"""The name of an entry point is the short name of the agent."""
