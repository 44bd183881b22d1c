"""The words that events share: outcomes, kinds of tools, states of a plan, channels of text, traits."""

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """The state of a call or a run.

    Example:
        >>> import agentwatch
        >>> [call.outcome.value for call in agentwatch.load("recordings/rejected.ndjson").calls]
        ['rejected', 'rejected', 'rejected']
    """

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED = "rejected"
    """Calls only: a person or a rule refused the call."""
    CANCELLED = "cancelled"
    """A person or the agent interrupted it."""
    RETURNED = "returned"
    """Calls only: it completed, but the stream does not say whether it succeeded."""
    UNFINISHED = "unfinished"
    """A call that never completed, or a run that ended without a result."""


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


class PlanStatus(StrEnum):
    """The state of one entry of a plan.

    Example:
        >>> import agentwatch
        >>> plan = agentwatch.load("recordings/demo.ndjson").plan
        >>> {entry.status for entry in plan}
        {<PlanStatus.COMPLETED: 'completed'>}
    """

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Channel(StrEnum):
    """The kind of a text: the answer to the user, or the model's reasoning.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> texts = [event for event in events if isinstance(event, agentwatch.Text)]
        >>> "".join(each.text for each in texts if each.channel is agentwatch.Channel.ANSWER)
        'I look it up in the timetable. The last ferry leaves at **23:05**.'
    """

    ANSWER = "answer"
    REASONING = "reasoning"


class Traits(NamedTuple):
    """What an agent's format can express. Integrity checks, exit codes and texts depend on it.

    Example:
        >>> import agentwatch
        >>> agentwatch.load("recordings/plain.ndjson").traits.has_result
        True
    """

    announces_calls: bool = True
    """A call has a line for its start and a line for its end."""
    has_result: bool = True
    """A complete run ends with a result line."""
    has_times: bool = True
    """Lines have the agent's own timestamps."""
    has_exit_codes: bool = True
    """The result of a command contains its exit code."""
    result_is_last_text: bool = False
    """The result repeats only the last text of its turn; otherwise all texts, joined without a separator."""
