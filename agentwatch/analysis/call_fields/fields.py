"""The fields of a call and of a run that rules may use."""

from __future__ import annotations

from agentwatch.events import Outcome, ToolKind
from agentwatch.rules import Field, Measure, Vocabulary

_KINDS = tuple(kind.value for kind in ToolKind)
NAMES_OF_KINDS: dict[ToolKind, tuple[str, ...]] = {
    ToolKind.EXECUTE: ("shell",),
    ToolKind.PLAN: ("todo",),
    ToolKind.DELEGATE: ("task", "subagent"),
}
"""Other names of kinds in rules, for the sessions of all agents."""
CREATES = "write"
"""The name of a tool that creates a file, beside that of its kind."""
_TOOLS = (*_KINDS, *(name for names in NAMES_OF_KINDS.values() for name in names), CREATES)
_OUTCOMES = tuple(outcome.value for outcome in Outcome)
_CHEAP, _DERIVED, _COMMANDS, _RECORDING = 0, 2, 3, 9
"""Costs of a value: a member, computed from earlier calls, from the words of a command, from the file."""

CALL_FIELDS = (
    Field("tool", Measure.NAME, "the tool, by the agent's name or by its kind", _TOOLS, example="tool:edit"),
    Field("kind", Measure.NAME, "the kind of the tool", _KINDS, is_closed=True, example="kind:execute"),
    Field("outcome", Measure.NAME, "how it ended", _OUTCOMES, is_closed=True, example="outcome:failed"),
    Field("exit", Measure.COUNT, "the exit code of its command", example="exit>0"),
    Field("duration", Measure.DURATION, "how long it took", example="duration>50s"),
    Field("started", Measure.DURATION, "when it started, from the beginning", example="started>10m"),
    Field("lines_added", Measure.COUNT, "the lines that it added", example="lines_added>100"),
    Field("lines_removed", Measure.COUNT, "the lines that it removed", example="lines_removed>20"),
    Field(
        "phase",
        Measure.NAME,
        "whether it has ended",
        ("started", "ended"),
        is_closed=True,
        example="phase:ended",
    ),
    Field("group", Measure.NAME, "the id of the model call that made it", example="group:msg_*"),
    Field("model", Measure.NAME, "the model of its run", example="model:*opus*"),
    Field("agent", Measure.NAME, "who made it: main, or a subagent", ("main",), example="agent:main"),
    Field("target", Measure.TEXT, "what it acts on, as the table shows it", cost=1, example="target:README"),
    Field("error", Measure.TEXT, "why it failed", cost=1, example='error:"not found"'),
    Field("command", Measure.TEXT, "the command of a shell call", cost=1, example='command:"npm publish"'),
    Field("path", Measure.PATH, "a file that it acts on", cost=_COMMANDS, example='path:"**/.env*"'),
    Field(
        "outside",
        Measure.NAME,
        "whether a file is outside the folder of the session",
        ("cwd",),
        is_closed=True,
        cost=_COMMANDS,
        example="outside:cwd",
    ),
    Field("program", Measure.NAME, "a program of its command", cost=_COMMANDS, example="program:git"),
    Field("idle", Measure.DURATION, "the silence before it", cost=_DERIVED, example="idle>5m"),
    Field("repeat", Measure.COUNT, "how often in a row it was made", cost=_DERIVED, example="repeat>=4"),
    Field("tries", Measure.COUNT, "which try of the same thing it is", cost=_DERIVED, example="tries>3"),
    Field("cycle", Measure.COUNT, "the edit-test-fail cycles up to it", cost=_DERIVED, example="cycle>=5"),
    Field("reread", Measure.COUNT, "how often it has read this", cost=_DERIVED, example="reread>=4"),
    Field(
        "verdict",
        Measure.NAME,
        "what its tests, linter or build said",
        ("green", "red", "none"),
        is_closed=True,
        cost=_RECORDING,
        example="verdict:red",
    ),
    Field("text", Measure.TEXT, "the last 4,096 characters that it printed", cost=_RECORDING),
)
"""The fields of a call."""
RUN_FIELDS = (
    Field("calls", Measure.COUNT, "the number of calls so far", example="calls>400"),
    Field("failed", Measure.COUNT, "the number of failed calls so far", example="failed>3"),
    Field("rejected", Measure.COUNT, "the number of rejected calls so far", example="rejected>0"),
    Field("elapsed", Measure.DURATION, "the time since the beginning", example="elapsed>2h"),
    Field("cost", Measure.COUNT, "the cost so far, in US dollars", example="cost>5"),
    Field("tokens", Measure.COUNT, "the tokens of input and output so far", example="tokens>2M"),
    Field("context", Measure.PERCENT, "how full the model's context is", example="context>80%"),
)
"""The fields of a session up to a call."""

_SYNONYMS = {
    **dict.fromkeys(("file", "filename", "folder", "dir"), "path"),
    **dict.fromkeys(("cmd", "shell", "bash"), "command"),
    **dict.fromkeys(("status", "result", "state"), "outcome"),
    **dict.fromkeys(("time", "took", "length"), "duration"),
    **dict.fromkeys(("output", "stdout", "prints"), "text"),
    **dict.fromkeys(("code", "exitcode", "exit_code"), "exit"),
    **dict.fromkeys(("tests", "test"), "verdict"),
    **dict.fromkeys(("added", "insertions"), "lines_added"),
    **dict.fromkeys(("removed", "deletions"), "lines_removed"),
    **dict.fromkeys(("subagent", "by"), "agent"),
    "silence": "idle",
    "at": "started",
    "message": "error",
    "bin": "program",
}
CALLS = Vocabulary.of(
    CALL_FIELDS, _OUTCOMES, {field.name: "--on and check" for field in RUN_FIELDS}, synonyms=_SYNONYMS
)
"""The vocabulary of filters, which select among calls of any time."""
LIVE = Vocabulary.of((*CALL_FIELDS, *RUN_FIELDS), _OUTCOMES, synonyms=_SYNONYMS)
"""The vocabulary of rules that watch a session as it grows."""
