"""A session in which two subagents work at once."""

from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
)

_PHRASES = {
    "Task": (ToolKind.DELEGATE, "Ran subagent"),
    "Read": (ToolKind.READ, "Read file"),
    "Grep": (ToolKind.SEARCH, "Searched files"),
    "Bash": (ToolKind.EXECUTE, "Ran terminal command"),
}


def begins(call_id: str, tool: str, target: str, parent_call: str | None = None) -> ToolStarted:
    """Return the start of a call; `parent_call` is the call_id of the subagent's call."""
    kind, phrase = _PHRASES[tool]
    path = target if tool == "Read" else None
    return ToolStarted(call_id, None, tool, kind, phrase, target, path=path, parent_call=parent_call)


def ends(
    call_id: str,
    tool: str,
    parent_call: str | None = None,
    outcome: Outcome = Outcome.SUCCEEDED,
    note: str | None = None,
) -> ToolEnded:
    kind, phrase = _PHRASES[tool]
    error = "exit 1" if outcome is Outcome.FAILED else None
    return ToolEnded(
        call_id, None, tool, kind, outcome, phrase, note=note, error=error, parent_call=parent_call
    )


def says(text: str, parent_call: str | None = None) -> list[Event]:
    return [
        Text(Channel.ANSWER, text, parent_call=parent_call),
        TextEnded(Channel.ANSWER, parent_call=parent_call),
    ]


TWO_SUBAGENTS: list[Event] = [
    RunStarted("made-format", "0123456789", "opus", "/src/tidepool"),
    Prompt("Find every caller of nearest()."),
    *says("I start two subagents."),
    begins("t1", "Task", "Find the callers"),
    begins("t2", "Task", "Check the wire"),
    Prompt("Find all callers.", parent_call="t1"),
    begins("a1", "Read", "nearest.py", "t1"),
    ends("a1", "Read", "t1", note="54 lines"),
    begins("b1", "Bash", "pytest -q tests/agents", "t2"),
    *says("They are in three files.", "t1"),
    begins("a2", "Grep", "nearest(", "t1"),
    ends("a2", "Grep", "t1", note="3 matches"),
    ends("b1", "Bash", "t2", Outcome.FAILED),
    ends("t1", "Task"),
    *says("The first has ended."),
]
"""Calls 1 and 2 start subagents; calls 3 and 5 belong to the first, call 4 to the second, which continues."""
