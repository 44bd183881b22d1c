"""Events: what can happen in a session, independent of any agent's format.

The decoders in `agentwatch.agents` turn lines into events; the session applies them. All times are
milliseconds since the epoch by the agent's own clock, or None if the line has no time.

Events are named tuples because a recording can have millions: a tuple is created in half the time of a frozen
dataclass. This module does not import `annotations` from `__future__`, because named tuples compile postponed
annotations at start-up, which takes 1 ms in total.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.session.tool_kind import ToolKind

__all__ = [
    "Channel",
    "Compaction",
    "Event",
    "FormatDetected",
    "LimitWindow",
    "Limits",
    "LineTime",
    "Malformed",
    "Notice",
    "Outcome",
    "Oversize",
    "Permission",
    "Plan",
    "PlanEntry",
    "PlanStatus",
    "Prompt",
    "Repair",
    "Retry",
    "Rewound",
    "RunInfo",
    "RunStarted",
    "Text",
    "TextEnded",
    "TextRetracted",
    "Tokens",
    "ToolEnded",
    "ToolKind",
    "ToolProgress",
    "ToolStarted",
    "Traits",
    "TurnEnded",
    "TurnStarted",
    "Unknown",
    "Usage",
    "UsageScope",
    "agent_ms",
]


class Outcome(StrEnum):
    """The state of a call, a turn, a run or a session. Each is its word too: `Outcome.FAILED == "failed"`.

    A session has the outcome of its last run. Once it is read to its end, this is `SUCCEEDED`, `FAILED`,
    `CANCELLED` or `UNFINISHED`, in `load` and as a word in `summary`. A `TurnEnded` has one of the first
    three: a turn that has none when the session ends is unfinished.

    Example:
        >>> import agentwatch
        >>> [call.outcome.value for call in agentwatch.load("recordings/rejected.ndjson").calls]
        ['rejected', 'rejected', 'rejected']
    """

    RUNNING = "running"
    """It has not ended. After the end of the session it is `UNFINISHED`."""
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
    rejected_edits: str = ""
    """Why the agent may reject all edits of a run unasked, and how to change that; empty if it does not."""
    waits_for_subagents: bool = False
    """A run waits in silence for the subagents that continue in the background, and ends only after them."""


class FormatDetected(NamedTuple):
    """The agent that wrote the recording was recognised.

    Example:
        >>> import agentwatch
        >>> with agentwatch.read("recordings/plain.ndjson") as events:
        ...     next(events).event.format
        'cursor'
    """

    format: str
    """The name of its format: `claude-transcript`."""
    traits: Traits
    agent: str | None = None
    """The agent's short name: `claude`. None if it equals the format's name."""


class LineTime(NamedTuple):
    """The time of a line by the clock of the program that wrote it.

    It replaces the arrival time of a line whose arrival nobody recorded, as in an agent's own file on disk.
    It is the first event of its line.

    Example:
        >>> from agentwatch import LineTime
        >>> LineTime(1_793_614_953_500).at_ms
        1793614953500
    """

    at_ms: int


class RunStarted(NamedTuple):
    """An agent process started a run.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/plain.ndjson"))
        >>> run = next(event for event in events if isinstance(event, agentwatch.RunStarted))
        >>> run.format, run.model, run.cwd
        ('cursor', 'Auto', '/home/ada/src/lantern')
    """

    format: str
    """The name of the agent's format: `claude-transcript`."""
    session_id: str | None = None
    """The agent's own id of the session."""
    model: str | None = None
    cwd: str | None = None
    """The working directory."""
    permission_mode: str | None = None
    """What the agent may do without asking, in its own word: `default`."""
    api_key_source: str | None = None
    """How the agent is logged in, in its own word: `login`."""
    agent_version: str | None = None


class RunInfo(NamedTuple):
    """Facts about the current run. They replace earlier ones; None changes nothing.

    Example:
        >>> from agentwatch import RunInfo
        >>> RunInfo(title="Release 0.2", is_users_title=True).model is None
        True
    """

    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None
    agent_version: str | None = None
    agent_name: str | None = None
    """The name of the agent, if its format is shared by several agents."""
    branch: str | None = None
    """The Git branch that is checked out in the cwd; empty for none."""
    title: str | None = None
    """The title of the session, for a list of sessions."""
    is_users_title: bool = False
    """Whether the user has given the title. The agent's own does not replace it."""
    last_prompt: str | None = None
    """The beginning of the user's last prompt, which is repeated for a reader of the last lines."""
    is_one_liner: bool = False
    """Whether another program has started the run for one prompt (`claude -p`, `codex exec`)."""
    repeats_history: bool | None = None
    """Whether the following lines are a copy of another session's history."""


class TurnStarted(NamedTuple):
    """A turn started: the agent works on a new prompt of the user. It closes no call.

    A turn that starts after the end of another continues the same run.

    Example:
        >>> from agentwatch import TurnStarted
        >>> TurnStarted()
        TurnStarted(is_prompted=True)
    """

    is_prompted: bool = True
    """False if the agent works again because a background task has ended: the turn before continues."""


class Prompt(NamedTuple):
    """The user's message, as the agent echoed it.

    It starts a turn, unless a `TurnStarted` without a prompt came before it.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> [event.text for event in events if isinstance(event, agentwatch.Prompt)]
        ['When does the last ferry leave?']
    """

    text: str
    parent_call: str | None = None
    """The call_id of the subagent's call that the message is for; None for the main agent."""


class Rewound(NamedTuple):
    """The user went back in the conversation: its last turns are not part of it any more.

    Example:
        >>> from agentwatch import Rewound
        >>> Rewound(turns=2).turns
        2
    """

    turns: int
    """The number of these turns."""


class Tokens(NamedTuple):
    """The tokens of a run, as all agents count them; None where the agent gives no number.

    Example:
        >>> import agentwatch
        >>> tokens = agentwatch.load("recordings/plain.ndjson").run.tokens
        >>> tokens.input, tokens.cached, tokens.output, tokens.cost_usd
        (54466, 54272, 431, None)
    """

    input: int | None = None
    """All tokens sent to the model, with those read from its cache and those written to it."""
    cached: int | None = None
    """The tokens of `input` that were read from the model's cache."""
    output: int | None = None
    """All tokens that the model wrote, with those of its reasoning where the agent counts them."""
    cost_usd: float | None = None
    context_used: int | None = None
    """The tokens in the model's context after the newest request."""
    context_size: int | None = None
    """The tokens that the context can hold."""
    written: int | None = None
    """The tokens of `input` that were written to the model's cache."""
    written_1h: int | None = None
    """The tokens of `written` that the cache keeps for an hour. They cost more than those kept for five
    minutes."""


class UsageScope(StrEnum):
    """What a token count covers.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/plain.ndjson"))
        >>> [event.scope for event in events if isinstance(event, agentwatch.Usage)]
        [<UsageScope.TURN: 'turn'>]
    """

    REQUEST = "request"
    """One request to the model: it is added to the counts of its turn."""
    TURN = "turn"
    """The turn so far: it replaces the counts of the turn."""
    RUN = "run"
    """The run so far: it replaces all counts."""


class Usage(NamedTuple):
    """A token count. Its context replaces the known one.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/plain.ndjson"))
        >>> [event.tokens.output for event in events if isinstance(event, agentwatch.Usage)]
        [431]
    """

    tokens: Tokens
    scope: UsageScope
    at_ms: int | None = None
    request: str | None = None
    """The agent's id of the request. A copy of the session's history in another file repeats it."""
    model: str | None = None
    """The model that answered; None if it is that of the run."""


class TurnEnded(NamedTuple):
    """The end of a turn, as the agent reports it. It ends the run, unless another turn starts.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> ended = next(event for event in events if isinstance(event, agentwatch.TurnEnded))
        >>> ended.outcome, ended.duration_ms
        (<Outcome.SUCCEEDED: 'succeeded'>, 40450)
    """

    outcome: Outcome
    """`SUCCEEDED`, `FAILED` or `CANCELLED`."""
    result: str | None = None
    """The text of the result; of a turn that failed, the error message."""
    session_id: str | None = None
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    """The part of the duration in which the agent waited for the model."""
    usage: Mapping[str, object] | None = None
    """The agent's own token count, unchanged."""


class Text(NamedTuple):
    """New text, to be appended to its channel.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> texts = [event for event in events if isinstance(event, agentwatch.Text)]
        >>> texts[0].channel, texts[0].text
        (<Channel.ANSWER: 'answer'>, 'I look it up in the timetable. ')
    """

    channel: Channel
    text: str
    at_ms: int | None = None
    until_ms: int | None = None
    """The time of the last piece; None for a text that was written at once."""
    parent_call: str | None = None
    """The call_id of the call whose subagent wrote the text; None for the main agent."""
    times_ms: Sequence[int] = ()
    """The time of each line, if several lines were decoded at once."""


class TextEnded(NamedTuple):
    """The current block of text of a channel is complete.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.TextEnded)).channel
        <Channel.REASONING: 'reasoning'>
    """

    channel: Channel
    at_ms: int | None = None
    parent_call: str | None = None
    """The call_id of the call whose subagent wrote the text; None for the main agent."""


class TextRetracted(NamedTuple):
    """The last texts of the main agent's answer are not part of it: what follows replaces them.

    Example:
        >>> from agentwatch import TextRetracted
        >>> TextRetracted(characters=120).characters
        120
    """

    characters: int
    """The length of these texts together."""


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
    parent_call: str | None = None
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
    """The exit code of the command; None for another tool, or where the agent does not write it."""
    is_new_file: bool = False
    """The call created its file."""
    lines_added: int | None = None
    lines_removed: int | None = None
    at_ms: int | None = None
    parent_call: str | None = None
    """The call_id of the call whose subagent made this one; None for the main agent."""
    more_paths: tuple[str, ...] = ()
    """The other files that the call acts on."""
    started_ms: int | None = None
    """When the call started, if the line that ends it says so."""
    duration_ms: int | None = None
    """The duration of the call, if the agent measured it."""
    has_result: bool = True
    """Whether the line is about the call. If not, the call has ended because the agent continued."""
    corrects: Outcome | None = None
    """The outcome that an earlier line gave the call, if this line gives it another one."""


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
    """It is None if the question has no answer yet."""
    reason: str | None = None
    at_ms: int | None = None
    key: str | None = None
    """The id of the question, which its answer repeats; None if the format has no such id."""
    call_id: str | None = None
    """The call that the question is about; None if unknown."""
    target: str | None = None
    """What the call would act on: the command, the path."""
    is_automatic: bool = False
    """The agent answers, by its configuration: nobody has to."""
    limit_ms: int | None = None
    """The time after which the agent answers if nobody has, as its line says."""


class Notice(NamedTuple):
    """An incident that the user may want to know of: a lost connection, a warning, a background task.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Notice)).message
        'connection reconnecting, attempt 1'
    """

    message: str
    at_ms: int | None = None
    is_error: bool = False
    """If the run ends without a result, the message is the best known reason."""


class Retry(NamedTuple):
    """The agent repeats a request to the model, or waits until it may send the next one.

    Example:
        >>> from agentwatch import Retry
        >>> Retry("overloaded", attempt=2, most_attempts=10, delay_ms=4_000).delay_ms
        4000
    """

    message: str
    """Why: `overloaded`."""
    attempt: int | None = None
    """Counted from 1."""
    most_attempts: int | None = None
    """The number of attempts after which the agent gives up."""
    delay_ms: int | None = None
    """The time until the next attempt."""
    at_ms: int | None = None


class LimitWindow(NamedTuple):
    """How full a window of the account's usage limit is.

    Example:
        >>> from agentwatch import LimitWindow
        >>> LimitWindow("5h", 62.0, 1_793_624_400_000).name
        '5h'
    """

    name: str
    """Its length, and the model if it counts only one: `5h`, `7d`, `7d opus`."""
    used_percent: float | None = None
    """Percent of the limit; 100 is full."""
    resets_ms: int | None = None
    """When it is empty again, in milliseconds since the epoch."""


class Limits(NamedTuple):
    """The agent reported how full the windows of its usage limit are, or whether one refuses its requests.

    Example:
        >>> from agentwatch import Limits, LimitWindow
        >>> Limits((LimitWindow("5h", 100.0, 1_793_624_400_000),), is_refused=True).is_refused
        True
    """

    windows: tuple[LimitWindow, ...]
    is_refused: bool | None = None
    """Whether a request was refused; None if the line does not say it."""
    until_ms: int | None = None
    """When the window that refuses is empty again."""
    at_ms: int | None = None


class Compaction(NamedTuple):
    """The agent shortens the conversation, so that it fits into the model's context.

    Example:
        >>> from agentwatch import Compaction
        >>> Compaction(is_over=True, trigger="auto", tokens_before=180_000, tokens_after=21_000).trigger
        'auto'
    """

    is_over: bool
    """The conversation is shortened now; otherwise this begins."""
    trigger: str | None = None
    """`auto` or `manual`."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    """The tokens of the context, as `tokens_before`."""
    at_ms: int | None = None


class Unknown(NamedTuple):
    """Valid JSON whose type, subtype, tool or result variant this version does not know.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/unknown.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Unknown)).what
        'type budget_notice/update'
    """

    what: str
    """The unknown part and its value: `type weather`, `tool teleportToolCall`."""
    line: str = ""
    """The beginning of the line, if no agent is known; otherwise empty."""


class Repair(NamedTuple):
    """The line was not valid JSON, but could be read after a repair.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/malformed.ndjson"))
        >>> sum(isinstance(event, agentwatch.Repair) for event in events)
        1
    """


class Oversize(NamedTuple):
    """The line is too large to be read completely; its head and tail were read.

    Example:
        >>> from agentwatch import Oversize
        >>> Oversize(size=40_000_000).size
        40000000
    """

    size: int
    """The size in bytes."""


class Malformed(NamedTuple):
    """A line that is not a JSON object.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/malformed.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.Malformed)).reason
        'not JSON'
    """

    reason: str
    text: str
    """The beginning of the line; bytes that are not UTF-8 are replaced."""


Event = (
    FormatDetected
    | LineTime
    | RunStarted
    | RunInfo
    | TurnStarted
    | Prompt
    | Text
    | TextEnded
    | TextRetracted
    | Rewound
    | Plan
    | ToolStarted
    | ToolProgress
    | ToolEnded
    | Permission
    | Notice
    | Retry
    | Limits
    | Compaction
    | Usage
    | TurnEnded
    | Unknown
    | Repair
    | Oversize
    | Malformed
)


def agent_ms(events: Sequence[Event]) -> int | None:
    """Return the last of the agent's times in the events of a line; None without one."""
    for event in reversed(events):
        at_ms: int | None = event.until_ms if type(event) is Text else None  # that of a limit is to come
        at_ms = getattr(event, "at_ms", None) if at_ms is None else at_ms
        if at_ms is not None:
            return at_ms
    return None
