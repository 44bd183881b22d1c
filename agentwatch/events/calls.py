"""Events about tool calls, the to-do list and permissions."""

from typing import NamedTuple

from agentwatch.events.vocabulary import Outcome, PlanStatus, ToolKind


class PlanEntry(NamedTuple):
    """One entry of the agent's to-do list.

    Example:
        >>> from agentwatch import PlanEntry, PlanStatus
        >>> PlanEntry("Write a test", PlanStatus.PENDING).text
        'Write a test'
    """

    text: str
    status: PlanStatus


class Plan(NamedTuple):
    """The agent replaced or updated its to-do list.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/demo.ndjson"))
        >>> plan = next(event for event in events if isinstance(event, agentwatch.Plan))
        >>> [entry.text for entry in plan.entries if entry.status is agentwatch.PlanStatus.IN_PROGRESS]
        ['See the test fail']
    """

    entries: tuple[PlanEntry, ...]
    is_update: bool = False
    """The entries are merged into the previous list; otherwise they replace it."""


class ToolStarted(NamedTuple):
    """A tool call started.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/failures.ndjson"))
        >>> call = next(event for event in events if isinstance(event, agentwatch.ToolStarted))
        >>> call.tool, call.kind, call.target
        ('shell', <ToolKind.EXECUTE: 'execute'>, 'make lint')
    """

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
    agent: str | None = None
    """The call_id of the call whose subagent made this one; None for the main agent."""
    more_paths: tuple[str, ...] = ()
    """The other files that the call acts on."""
    is_update: bool = False
    """The line describes a call that has started before, with arguments that came later."""


class ToolProgress(NamedTuple):
    """An open call reported its progress.

    Example:
        >>> from agentwatch import ToolProgress
        >>> ToolProgress("call-1", None, output="collected 12 items").is_whole
        False
    """

    call_id: str
    session_id: str | None
    output: str | None = None
    """What it has printed; None if the line does not contain it."""
    is_whole: bool = False
    """The output is all of the output so far; otherwise it is to be appended."""


class ToolEnded(NamedTuple):
    """A tool call completed.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/failures.ndjson"))
        >>> ended = next(event for event in events if isinstance(event, agentwatch.ToolEnded))
        >>> ended.phrase, ended.outcome, ended.exit_code
        ('Ran terminal command', <Outcome.FAILED: 'failed'>, 2)
    """

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
    agent: str | None = None
    """The call_id of the call whose subagent made this one; None for the main agent."""
    more_paths: tuple[str, ...] = ()
    """The other files that the call acts on."""
    started_ms: int | None = None
    """When the call started, if the line that ends it says so."""
    duration_ms: int | None = None
    """The duration of the call, if the agent measured it."""
    has_result: bool = True
    """Whether the line is about the call. If not, the call has ended because the agent went on."""


class Permission(NamedTuple):
    """The agent asked for permission, or received an answer; the agent may also answer itself at once.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/rejected.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Permission)).subject
        'webFetch'
    """

    subject: str
    """The tool or the action: `Bash`."""
    answer: str | None
    """None if the question has no answer yet."""
    reason: str | None = None
    at_ms: int | None = None
    key: str | None = None
    """The id of the question, which its answer repeats; None if the format has no such id."""
    call_id: str | None = None
    """The call that the question is about; None if unknown."""
    target: str | None = None
    """What the call would act on: the command, the path."""
    is_automatic: bool = False
    """The agent answers by itself, by its configuration: nobody has to."""
