"""What can happen in a session, in the words of no particular agent.

The decoders in `agentwatch.wire` turn lines into these events; the session applies them.
All times are milliseconds since the epoch by the agent's own clock; None where the line bears none.
They are tuples because they are many: one is made in half the time of a frozen dataclass. Their annotations
are not postponed: a named tuple would compile each of these strings, 1 ms in all.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How a call or a run stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED = "rejected"
    """Of a call: it was not allowed."""
    UNFINISHED = "unfinished"
    """It ended without saying how."""


class Channel(StrEnum):
    """What a text is: the answer to the user, or the model's reasoning."""

    ANSWER = "answer"
    REASONING = "reasoning"


class RunStarted(NamedTuple):
    """An agent process began to work."""

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
    """New text, to be added to what its channel already holds."""

    channel: Channel
    text: str
    at_ms: int | None = None
    until_ms: int | None = None
    """When the last of it was written; None of a text that was written at once."""


class TextEnded(NamedTuple):
    """The channel's present block of text is complete."""

    channel: Channel
    at_ms: int | None = None


class ToolStarted(NamedTuple):
    """A tool call began."""

    call_id: str
    session_id: str | None
    tool: str
    phrase: str
    """What the text format calls the action: `Read file`."""
    target: str | None
    """What the call is about: a path (relative to the cwd where it lies inside), a command, a pattern."""
    path: str | None = None
    """The file or folder that the call is about, as the agent named it."""
    group: str | None = None
    """The model step that asked for the call; calls of one step run in parallel."""
    limit_ms: int | None = None
    """The time limit that the call was given."""
    at_ms: int | None = None


class ToolEnded(NamedTuple):
    """A tool call came back."""

    call_id: str
    session_id: str | None
    tool: str
    outcome: Outcome
    phrase: str
    has_arguments: bool = False
    """The line repeats the arguments; otherwise target and path are but what the result tells of them."""
    target: str | None = None
    path: str | None = None
    group: str | None = None
    error: str | None = None
    """Why it failed or was rejected, in the agent's words."""
    note: str | None = None
    """What is known of a success, in a word or two: `54 lines`."""
    exit_code: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    at_ms: int | None = None


class Permission(NamedTuple):
    """The agent asked whether it may, or was told; it may answer itself and wait for nobody."""

    subject: str
    answer: str | None
    """None while it is only asked."""
    reason: str | None = None
    at_ms: int | None = None


class Notice(NamedTuple):
    """Something the user may want to know: a lost connection, a retry, a background task."""

    message: str
    at_ms: int | None = None


class RunEnded(NamedTuple):
    """The terminal result of a run.

    `outcome` is `SUCCEEDED` or `FAILED`; `usage` is the agent's own token count, unchanged.
    """

    outcome: Outcome
    result: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None


class Unknown(NamedTuple):
    """Valid JSON whose type, subtype, tool or result variant this version does not know."""

    what: str
    """`type weather`, `tool teleportToolCall`."""


class Repair(NamedTuple):
    """The line was not quite JSON, and was read all the same."""


class Oversize(NamedTuple):
    """The line is too large to be read whole: its head and tail were."""

    size: int
    """In bytes."""


class Malformed(NamedTuple):
    """A line that is not a JSON object."""

    reason: str
    text: str
    """The beginning of the line, undecodable bytes replaced."""


Event = (
    RunStarted
    | Prompt
    | Text
    | TextEnded
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


class Part(NamedTuple):
    """One piece of what a call was given or gave back, for the detail of the call."""

    kind: str
    """Its title. These have looks of their own:

    `diff` is unified; `change` is what a file became; `content` what it holds; `stdout`, `stderr` and
    `error`; `list` is a name a line; `matches` are a file's name, then `12:` or, of context, `12-` and the
    line, for each; of `to-do list` and `steps` each line begins with a sign; `arguments` and `result` tell
    the rest.
    """
    text: str
    value: object = None
    """The same as JSON, where it has a structure."""
    before: str | None = None
    """Of a `diff` or a `change`: all that the file held before; None where the line does not tell."""
    after: str | None = None
    """Of a `diff` or a `change`: all that it holds since; None where the line does not tell."""
    first_line: int = 1
    """Of a `content`: which line of the file its first is."""

    def __hash__(self) -> int:
        """Return the same for equal pieces; the value, which cannot be hashed, is told by the text."""
        return hash((self.kind, self.text, self.before, self.after, self.first_line))
