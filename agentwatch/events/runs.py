"""Events about runs and turns: their starts, prompts, token counts and ends."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from agentwatch.events.vocabulary import Outcome, Traits


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
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None
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
    """The Git branch that is checked out in the cwd."""
    title: str | None = None
    """The title of the session, for a list of sessions."""
    is_users_title: bool = False
    """Whether the user has given the title. The agent's own does not replace it."""
    last_prompt: str | None = None
    """The beginning of the user's last prompt, which is repeated for a reader of the last lines."""
    is_one_liner: bool = False
    """Whether another program has started the run for one prompt (`claude -p`, `codex exec`)."""


class TurnStarted(NamedTuple):
    """A turn started: the agent works on a new prompt of the user. It closes no call.

    A turn that starts after the end of another continues the same run.

    Example:
        >>> from agentwatch import TurnStarted
        >>> TurnStarted()
        TurnStarted()
    """


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
    agent: str | None = None
    """The call_id of the subagent's call that the message is for; None for the main agent."""


class Rewound(NamedTuple):
    """The user went back in the conversation: its last turns are no part of it any more.

    Example:
        >>> from agentwatch import Rewound
        >>> Rewound(turns=2).turns
        2
    """

    turns: int


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


class TurnEnded(NamedTuple):
    """The end of a turn, as the agent reports it. It ends the run, unless another turn starts.

    `outcome` is `SUCCEEDED`, `FAILED` or `CANCELLED`. `usage` is the agent's own token count, unchanged.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> ended = next(event for event in events if isinstance(event, agentwatch.TurnEnded))
        >>> ended.outcome, ended.duration_ms
        (<Outcome.SUCCEEDED: 'succeeded'>, 40450)
    """

    outcome: Outcome
    result: str | None = None
    """The text of the result; of a turn that failed, the error message."""
    session_id: str | None = None
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None
