"""Events: what can happen in a session, independent of any agent's format.

The decoders in `agentwatch.wire` turn lines into events; the session applies them. All times are milliseconds
since the epoch by the agent's own clock, or None if the line has no time.

Events are named tuples because a recording can have millions: a tuple is created in half the time of a frozen
dataclass. This module does not import `annotations` from `__future__`, because named tuples compile
postponed annotations at start-up, which takes 1 ms in total.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """The state of a call or a run."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED = "rejected"
    """Calls only: a person or a rule refused the call."""
    RETURNED = "returned"
    """Calls only: it completed, but the stream does not say whether it succeeded."""
    UNFINISHED = "unfinished"
    """A call that never completed, or a run that ended without a result."""


class ToolKind(StrEnum):
    """What a tool does, independent of what the agent calls it.

    The kinds are those of the Agent Client Protocol, and also `plan`, `delegate` and `mcp`. The decoder sets
    the kind. The rest of the program matches on the kind, never on a tool's name or phrase.
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
    """The state of one entry of a plan."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Channel(StrEnum):
    """The kind of a text: the answer to the user, or the model's reasoning."""

    ANSWER = "answer"
    REASONING = "reasoning"


class Traits(NamedTuple):
    """What an agent's format can express. Integrity checks, exit codes and texts depend on it."""

    announces_calls: bool = True
    """A call has a line for its start and a line for its end."""
    has_result: bool = True
    """A complete run ends with a result line."""
    has_times: bool = True
    """Lines have the agent's own timestamps."""
    repeats_start: bool = False
    """The line that starts a run may occur again within the same run."""


class FormatDetected(NamedTuple):
    """The agent that wrote the recording was recognised."""

    format: str
    """The name of its format: `cursor`."""
    traits: Traits


class RunStarted(NamedTuple):
    """An agent process started a run."""

    format: str
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None


class Prompt(NamedTuple):
    """The user's message, as the agent echoed it."""

    text: str


class Text(NamedTuple):
    """New text, to be appended to its channel."""

    channel: Channel
    text: str
    at_ms: int | None = None
    until_ms: int | None = None
    """The time of the last piece; None for a text that was written at once."""


class TextEnded(NamedTuple):
    """The current block of text of a channel is complete."""

    channel: Channel
    at_ms: int | None = None


class PlanEntry(NamedTuple):
    """One entry of the agent's to-do list."""

    text: str
    status: PlanStatus


class Plan(NamedTuple):
    """The agent replaced or updated its to-do list."""

    entries: tuple[PlanEntry, ...]
    is_update: bool = False
    """The entries are merged into the previous list; otherwise they replace it."""


class ToolStarted(NamedTuple):
    """A tool call started."""

    call_id: str
    session_id: str | None
    tool: str
    """The agent's own name of the tool."""
    kind: ToolKind
    phrase: str
    """The action in the text format: `Read file`."""
    target: str | None
    """What the call acts on: a path (relative if it is inside the cwd), a command, a pattern."""
    path: str | None = None
    """The file or folder that the call acts on, as the agent wrote it."""
    group: str | None = None
    """The model step that requested the call; calls of one step run in parallel."""
    limit_ms: int | None = None
    """The time limit of the call."""
    at_ms: int | None = None


class ToolEnded(NamedTuple):
    """A tool call completed."""

    call_id: str
    session_id: str | None
    tool: str
    kind: ToolKind
    outcome: Outcome
    phrase: str
    has_arguments: bool = False
    """The target and path come from the arguments or from a query. If not, they come from the result."""
    target: str | None = None
    path: str | None = None
    group: str | None = None
    error: str | None = None
    """Why the call failed or was rejected, in the agent's words, or why its outcome is unknown."""
    note: str | None = None
    """The result in a few words: `54 lines`, `in the background`. None for a call that failed."""
    exit_code: int | None = None
    is_new_file: bool = False
    """The call created its file."""
    lines_added: int | None = None
    lines_removed: int | None = None
    at_ms: int | None = None


class Permission(NamedTuple):
    """The agent asked for permission, or received an answer; the agent may also answer itself at once."""

    subject: str
    answer: str | None
    """None if the question has no answer yet."""
    reason: str | None = None
    at_ms: int | None = None


class Notice(NamedTuple):
    """An incident that the user may want to know of: a lost connection, a retry, a background task."""

    message: str
    at_ms: int | None = None


class Tokens(NamedTuple):
    """The tokens of a run, as all agents count them; None where the agent gives no number."""

    input: int | None = None
    """The tokens sent to the model, without those read from its cache."""
    cached: int | None = None
    """The tokens read from the model's cache."""
    output: int | None = None
    cost_usd: float | None = None
    context_used: int | None = None
    context_size: int | None = None


class RunEnded(NamedTuple):
    """The result line of a run.

    `outcome` is `SUCCEEDED` or `FAILED`. `usage` is the agent's own token count, unchanged.
    """

    outcome: Outcome
    result: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None
    tokens: Tokens = Tokens()


class Unknown(NamedTuple):
    """Valid JSON whose type, subtype, tool or result variant this version does not know."""

    what: str
    """The unknown part and its value: `type weather`, `tool teleportToolCall`."""
    line: str = ""
    """The beginning of the line, if no agent is known; otherwise empty."""


class Repair(NamedTuple):
    """The line was not valid JSON, but could be read after a repair."""


class Oversize(NamedTuple):
    """The line is too large to be read completely; its head and tail were read."""

    size: int
    """In bytes."""


class Malformed(NamedTuple):
    """A line that is not a JSON object."""

    reason: str
    text: str
    """The beginning of the line; bytes that are not UTF-8 are replaced."""


Event = (
    FormatDetected
    | RunStarted
    | Prompt
    | Text
    | TextEnded
    | Plan
    | ToolStarted
    | ToolEnded
    | Permission
    | Notice
    | RunEnded
    | Unknown
    | Repair
    | Oversize
    | Malformed
)
