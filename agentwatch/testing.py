"""Tests a format of another package: that no line of an agent makes it raise, and that it costs linear time.

Example:
    >>> from agentwatch import testing
    >>> from agentwatch.agents.registry import agent_named
    >>> with open("recordings/plain.ndjson", "rb") as file:
    ...     testing.check_agent(agent_named("cursor"), file)
"""

from agentwatch.api.check_agent import check_agent

__all__ = ["check_agent"]
