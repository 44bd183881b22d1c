"""The group of the formats that other packages provide."""

from agentwatch.plugins.group import Group

GROUP = Group("agentwatch.agents", "format plugin")
"""The name of an entry point is the name of the format."""
