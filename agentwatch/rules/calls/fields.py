"""The fields of a call and of a run that rules may use."""

from __future__ import annotations

from agentwatch.recording.acts import ACT_NAMES
from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary
from agentwatch.session.events import Outcome, ToolKind

_KINDS = tuple(kind.value for kind in ToolKind)
NAMES_OF_KINDS: dict[ToolKind, tuple[str, ...]] = {
    ToolKind.EXECUTE: ("shell",),
    ToolKind.PLAN: ("todo",),
    ToolKind.DELEGATE: ("task", "subagent"),
}
"""Names in rules for kinds of calls, for the sessions of all agents."""
CREATES = "write"
"""The name of a tool that creates a file, beside that of its kind."""
_TOOLS = (*_KINDS, *(name for names in NAMES_OF_KINDS.values() for name in names), CREATES)
_OUTCOMES = tuple(outcome.value for outcome in Outcome)
_CHEAP, _DERIVED, _COMMANDS, _RECORDING = 0, 2, 3, 9
"""Costs of a value: a member, computed from earlier calls, from the words of a command, from the file."""


def _choice(name: str, about: str, values: tuple[str, ...], example: str, cost: int = _CHEAP) -> Field:
    return Field(name, Measure.NAME, about, values, is_closed=True, cost=cost, example=example)


CALL_FIELDS = (
    Field("tool", Measure.NAME, "the tool: the agent's name of it, or its kind", _TOOLS, example="tool:edit"),
    _choice("kind", "the kind of the tool", _KINDS, "kind:execute"),
    _choice("outcome", "how the call ended", _OUTCOMES, "outcome:failed"),
    Field("exit", Measure.COUNT, "the exit code of the command", example="exit>0"),
    Field("duration", Measure.DURATION, "how long the call took", example="duration>50s"),
    Field("started", Measure.DURATION, "the time from the beginning to the start", example="started>10m"),
    Field("lines_added", Measure.COUNT, "the lines that the call added", example="lines_added>100"),
    Field("lines_removed", Measure.COUNT, "the lines that the call removed", example="lines_removed>20"),
    _choice("phase", "whether the call has ended", ("started", "ended"), "phase:ended"),
    Field("group", Measure.NAME, "the id of the model's response with the call", example="group:msg_*"),
    Field("model", Measure.NAME, "the model of the run", example="model:*opus*"),
    Field("agent", Measure.NAME, "who made the call: main, or a subagent", ("main",), example="agent:main"),
    Field("target", Measure.TEXT, "what the call acts on, as in the table", cost=1, example="target:README"),
    Field("error", Measure.TEXT, "why the call failed", cost=1, example='error:"not found"'),
    Field("command", Measure.TEXT, "the command of a shell call", cost=1, example='command:"npm publish"'),
    Field("path", Measure.PATH, "a file that the call acts on", cost=_COMMANDS, example='path:"**/.env*"'),
    _choice(
        "outside",
        "whether a file is outside the folder of the session",
        ("cwd",),
        "outside:cwd",
        cost=_COMMANDS,
    ),
    Field("program", Measure.NAME, "a program in the command", cost=_COMMANDS, example="program:git"),
    Field(
        "runs",
        Measure.NAME,
        "a program in the command with its arguments, or a pipeline",
        cost=_COMMANDS,
        example='runs:"git push* -f*"',
    ),
    _choice(
        "deletes",
        "where a file is that the call deletes",
        ("inside", "outside", "temporary"),
        "deletes:outside",
        cost=_COMMANDS,
    ),
    Field("reads", Measure.PATH, "a file that the call reads", cost=_COMMANDS, example='reads:"**/.env"'),
    Field(
        "secret", Measure.NAME, "the kind of a credential in the command", cost=_COMMANDS, example="secret:*"
    ),
    Field("idle", Measure.DURATION, "the silence before the call", cost=_DERIVED, example="idle>5m"),
    Field(
        "repeat", Measure.COUNT, "how often in a row the call was made", cost=_DERIVED, example="repeat>=4"
    ),
    Field(
        "tries", Measure.COUNT, "the number of the try: 2 after a failure", cost=_DERIVED, example="tries>3"
    ),
    Field("cycle", Measure.COUNT, "the edit-test-fail cycles in a row", cost=_DERIVED, example="cycle>=5"),
    Field("reread", Measure.COUNT, "how often the same part was read", cost=_DERIVED, example="reread>=4"),
    _choice(
        "verdict",
        "the verdict on its tests, linter or build",
        ("green", "red", "none"),
        "verdict:red",
        cost=_RECORDING,
    ),
    _choice(
        "acted",
        "what you did through agentwatch while the call ran, or since the calls before it",
        ACT_NAMES,
        "acted:allow",
        cost=_DERIVED,
    ),
    Field("text", Measure.TEXT, "the last 4,096 characters of the output", cost=_RECORDING),
    Field(
        "adds",
        Measure.TEXT,
        "a line that the call adds to a file",
        cost=_RECORDING,
        example="adds:eslint-disable",
    ),
)
RUN_FIELDS = (
    Field("calls", Measure.COUNT, "the number of calls so far", example="calls>400"),
    Field("failed", Measure.COUNT, "the number of failed calls so far", example="failed>3"),
    Field("rejected", Measure.COUNT, "the number of rejected calls so far", example="rejected>0"),
    Field("elapsed", Measure.DURATION, "the time since the beginning", example="elapsed>2h"),
    Field("cost", Measure.COUNT, "the cost so far, in US dollars", example="cost>5"),
    Field("tokens", Measure.COUNT, "the tokens of input and output so far", example="tokens>2M"),
    Field("context", Measure.PERCENT, "how full the model's context is", example="context>80%"),
    Field("limit", Measure.PERCENT, "how full the fullest usage limit is", example="limit>80%"),
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
