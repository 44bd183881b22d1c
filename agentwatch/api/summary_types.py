"""The types of the dictionary that `summary` returns, for type checkers and editors. None means unknown."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class CallSummary(TypedDict):
    """A call in a `Summary`.

    Example:
        >>> import agentwatch
        >>> call: agentwatch.CallSummary = agentwatch.summary("recordings/plain.ndjson")["calls"][0]
        >>> call["tool"], call["target"], call["duration_ms"]
        ('read', 'lantern/settings.py', 610)
    """

    number: int
    call_id: str
    agent: str | None
    """The call_id of the call whose subagent made this one, `Call.parent_call`; None for the main agent."""
    tool: str | None
    """The name of the tool; None if the recording has only the result of the call."""
    kind: str
    """A word of `ToolKind`."""
    target: str | None
    """What the call acts on, in one line of at most 200 columns."""
    command: str | None
    """The whole command of a shell call, at most 65,536 characters."""
    action: str
    """The phrase of the call, in one line, as the text format prints it."""
    outcome: Literal["succeeded", "failed", "rejected", "cancelled", "returned", "unfinished"]
    """A word of `Outcome`."""
    error: str | None
    exit_code: int | None
    lines_added: int | None
    lines_removed: int | None
    started_ms: int | None
    """Milliseconds since the epoch, by the agent's clock, as is `ended_ms`."""
    ended_ms: int | None
    duration_ms: int | None


class TokenSummary(TypedDict):
    """The token counts and the cost in a `Summary`."""

    input: int | None
    cached: int | None
    output: int | None
    cost_usd: float | None
    context_used: int | None
    context_size: int | None


class LineSummary(TypedDict):
    """The counts of lines in a `Summary`."""

    total: int
    events: int
    malformed: int
    unknown: int
    repaired: int
    oversize: int


class OrphanSummary(TypedDict):
    """The counts of calls without a start or without an end in a `Summary`."""

    completed_without_started: int
    never_completed: int


class IntegritySummary(TypedDict):
    """Whether the parts of a recording agree, in a `Summary`."""

    holds: bool
    line: str
    difference_at: int | None
    """The first character at which the streamed text and the result differ; None if they are equal."""


class CommandSummary(TypedDict):
    """The last verdict of a command that tests, lints or builds, in a `Summary`."""

    command: str
    call: int
    """The number of the call."""
    tool: str
    of_tests: bool
    verdict: str
    """`green`, `red`; `none` without a verdict, or if nothing ran."""
    source: str | None
    words: str | None
    passed: int | None
    failed: int | None
    errors: int | None
    skipped: int | None
    changed_by: int | None
    """The number of the call that changed a file after the verdict."""


class VerdictSummary(TypedDict):
    """The state of the tests in a `Summary`."""

    state: str
    """`green`, `red`, `unknown`, or `changed since`: green before a file changed."""
    commands: list[CommandSummary]
    complete: bool


class Summary(TypedDict):
    """What `--output-format summary` prints.

    Example:
        >>> import agentwatch
        >>> def failed(found: agentwatch.Summary) -> list[int]:
        ...     return [call["number"] for call in found["calls"] if call["outcome"] == "failed"]
        >>> failed(agentwatch.summary("recordings/failures.ndjson"))
        [1, 2, 3, 4, 5, 6]
    """

    version: int
    """The version of the schema, which `agentwatch schema summary` prints."""
    format: str | None
    session_id: str | None
    model: str | None
    cwd: str | None
    permission_mode: str | None
    api_key_source: str | None
    outcome: Literal["succeeded", "failed", "cancelled", "unfinished"]
    """A word of `Outcome`, as that of `Session.outcome`."""
    exit_code: int | None
    """The exit code of the agent's process; None if agentwatch did not start it."""
    result_outcome: Literal["succeeded", "failed", "cancelled", "unfinished"]
    """What the result says, whatever the exit code."""
    prompt: str | None
    text: str
    result: str | None
    text_matches_result: bool | None
    duration_ms: int | None
    duration_api_ms: int | None
    request_id: str | None
    usage: dict[str, Any] | None
    """The agent's own object."""
    runs: int
    """The number of runs. `calls` and `text` cover all runs, the other members the last one."""
    turns: int
    tokens: TokenSummary
    cost_estimated_usd: float | None
    """The cost by the price list; None if the agent reports a cost, and without the list."""
    calls: list[CallSummary]
    calls_by_outcome: dict[str, int]
    """The number of calls with each outcome that occurs."""
    lines: LineSummary
    orphans: OrphanSummary
    integrity: IntegritySummary
    tests: VerdictSummary | None
