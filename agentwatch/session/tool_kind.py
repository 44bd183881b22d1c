"""What a tool does, and the longest command. Importing the events of a session with them takes 3 ms."""

from enum import StrEnum

MOST_COMMAND = 1 << 16
"""The length of the longest command, which rules judge as a whole. One of this length was cut."""


class ToolKind(StrEnum):
    """What a tool does, independent of what the agent calls it.

    The kinds are those of the Agent Client Protocol, and also `plan`, `delegate` and `mcp`. The decoder sets
    the kind. The rest of the program matches on the kind, never on a tool's name or phrase.

    Example:
        >>> import agentwatch
        >>> [call.kind.value for call in agentwatch.load("recordings/plain.ndjson").calls]
        ['read', 'edit']
    """

    READ = "read"
    EDIT = "edit"
    """Changes or creates a file."""
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    """Runs a command."""
    FETCH = "fetch"
    THINK = "think"
    PLAN = "plan"
    """Updates the agent's to-do list."""
    DELEGATE = "delegate"
    """Starts a subagent."""
    MCP = "mcp"
    OTHER = "other"
