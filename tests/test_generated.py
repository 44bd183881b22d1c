"""Sessions made from the event grammar, their truth known beforehand: the summary is that truth.

A story is what happened; `truth` says what it comes to, `rendered` writes it as Cursor does, with
partial output or without. `AGENTWATCH_EXAMPLES=10000` tries so many stories in each mode.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentwatch.feed import Feed
from agentwatch.outputs.summary import summary
from agentwatch.recording import open_saved
from agentwatch.session import Kind, Session
from tests.lines import CWD, answered, asked, event, session

GENERATED = settings(
    max_examples=int(os.environ.get("AGENTWATCH_EXAMPLES", "150")),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
"""How often a story is told."""

Json = dict[str, Any]


# --- what may happen -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Say:
    """The assistant says something; with partial output cut into deltas, also inside an emoji."""

    text: str
    cuts: tuple[int, ...]


@dataclass(frozen=True)
class Think:
    """The model thinks."""

    text: str
    cuts: tuple[int, ...]
    is_completed: bool


@dataclass(frozen=True)
class Aside:
    """Lines that say nothing of the text or of a call: a query, a notice, a line that is odd."""

    lines: tuple[bytes, ...]
    is_query: bool = False
    malformed: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class Ending:
    """How a call came back, and what that is."""

    result: Json | None
    outcome: str
    error: str | None = None
    exit_code: int | None = None
    note: str | None = None
    phrase: str | None = None
    added: int | None = None
    removed: int | None = None
    is_unknown: bool = False


@dataclass(frozen=True)
class Doing:
    """A tool called with arguments, and what is told of it."""

    tool: str
    phrase: str
    args: Json
    target: str | None
    is_unknown: bool = False


@dataclass(frozen=True)
class ToolCall:
    """A call, and how its lines are written."""

    call_id: str
    doing: Doing
    ending: Ending
    has_start: bool
    has_end: bool
    arguments_at: str
    shape: str
    siblings: str
    started_ms: int | None
    ended_ms: int | None
    numbers_as_strings: bool
    model_call_id: str | None


@dataclass(frozen=True)
class Finish:
    """The result of a run."""

    result: str | None
    """`None` is the text, a string another one; see `says_nothing`."""
    says_nothing: bool
    subtype: str
    is_error: bool
    numbers_as_strings: bool
    request_id: str | None
    usage: Json | None


Step = Say | Think | Aside | ToolCall


@dataclass(frozen=True)
class RunStory:
    """One run: its steps in order; a call stands where it starts and again where it ends."""

    session_id: str
    prompt: str
    steps: tuple[Step, ...]
    finish: Finish | None
    flushes: bool
    """With partial output: whether a segment is repeated where it need not be."""


@dataclass(frozen=True)
class Story:
    """What happened, and how its lines are written."""

    runs: tuple[RunStory, ...]
    line_end: bytes
    ends_in_line_end: bool
    is_ascii: bool


# --- the truth -------------------------------------------------------------------------------------------


def call_truth(call: ToolCall) -> Json:
    """Return what the summary says of a call."""
    told: Json = {"call_id": call.call_id, "tool": call.doing.tool, "target": call.doing.target}
    ending = call.ending if call.has_end else Ending(None, "unfinished")
    note = ending.note or {"rejected": "rejected", "unfinished": "unfinished"}.get(ending.outcome)
    if ending.outcome == "failed":
        note = f"failed: {str(ending.error).partition(chr(10))[0]}"
    words = [ending.phrase or call.doing.phrase, call.doing.target, note and f"({note})"]
    began = call.started_ms if call.has_start else None
    ended = call.ended_ms if call.has_end else None
    is_timed = began is not None and ended is not None and ended >= began
    return told | {
        "action": " ".join(word for word in words if word),
        "outcome": ending.outcome,
        "error": ending.error,
        "exit_code": ending.exit_code,
        "lines_added": ending.added,
        "lines_removed": ending.removed,
        "started_ms": began,
        "ended_ms": ended,
        "duration_ms": ended - began if is_timed and ended is not None and began is not None else None,
    }


def calls_of(run: RunStory) -> list[ToolCall]:
    """Return a run's calls in the order in which they first appear."""
    return list({step.call_id: step for step in run.steps if isinstance(step, ToolCall)}.values())


def text_of(run: RunStory) -> str:
    """Return what the assistant says in a run."""
    return "".join(step.text for step in run.steps if isinstance(step, Say))


def thoughts_of(story: Story) -> str:
    """Return what the model thinks in all runs."""
    return "".join(step.text for run in story.runs for step in run.steps if isinstance(step, Think))


def result_of(run: RunStory) -> str | None:
    """Return the text of a run's result."""
    if run.finish is None or run.finish.says_nothing:
        return None
    return text_of(run) if run.finish.result is None else run.finish.result


def truth(story: Story) -> Json:
    """Return the summary that a story comes to, without the counts of lines."""
    last = story.runs[-1]
    finish, result, text = last.finish, result_of(last), text_of(last)
    calls = [call for run in story.runs for call in calls_of(run)]
    steps = [step for run in story.runs for step in run.steps]
    malformed = sum(step.malformed for step in steps if isinstance(step, Aside))
    unknown = sum(step.unknown for step in steps if isinstance(step, Aside))
    for call in calls:
        odd_end = call.has_end and (call.doing.is_unknown or call.ending.is_unknown)
        unknown += (call.has_start and call.doing.is_unknown) + odd_end
    paired = sum(call.has_start and call.has_end for call in calls)
    matches = None if result is None else text == result
    compared = {True: "text = result", False: "text ≠ result", None: "no result to compare"}[matches]
    same = [ours == theirs for ours, theirs in zip(text, result or "", strict=False)]
    common = [*same, False].index(False)
    return {
        "format": "cursor",
        "session_id": last.session_id,
        "model": "Auto",
        "cwd": CWD,
        "permission_mode": "default",
        "api_key_source": "login",
        "outcome": "unfinished" if finish is None else "failed" if finish.is_error else "succeeded",
        "prompt": last.prompt,
        "text": "".join(map(text_of, story.runs)),
        "result": result,
        "text_matches_result": matches,
        "duration_ms": None if finish is None else 5234,
        "duration_api_ms": None if finish is None else 5200,
        "request_id": finish and finish.request_id,
        "usage": finish and finish.usage,
        "runs": len(story.runs),
        "calls": [call_truth(call) for call in calls],
        "lines": {"malformed": malformed, "unknown": unknown},
        "orphans": {
            "completed_without_started": sum(not call.has_start for call in calls),
            "never_completed": sum(not call.has_end for call in calls),
        },
        "integrity": {
            "holds": paired == len(calls) and not malformed and not unknown and matches is not False,
            "line": f"{compared} · {paired} of {len(calls)} call{'' if len(calls) == 1 else 's'} paired"
            f" · {malformed} malformed · {unknown} unknown",
            "difference_at": common if matches is False else None,
        },
    }


# --- the lines -------------------------------------------------------------------------------------------


def pieces(text: str, cuts: tuple[int, ...]) -> Iterator[str]:
    """Yield a text cut at these places, counted as JavaScript counts: an emoji has two halves."""
    units = text.encode("utf-16-le")
    places = sorted({0, len(units), *(2 * cut % (len(units) + 2) for cut in cuts)})
    if len(places) == 1:
        yield ""
    for begin, end in itertools.pairwise(places):
        yield units[begin:end].decode("utf-16-le", "surrogatepass")


def said(text: str, **fields: Any) -> Json:
    """Return an assistant's line."""
    told = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": told} | fields


def call_line(call: ToolCall, is_start: bool) -> Json:
    """Return one of a call's two lines."""
    place = "start" if is_start else "end"
    args = call.doing.args if call.arguments_at in (place, "both") else {}
    body: Json = {"args": args} if args or is_start else {}
    if not is_start and call.ending.result is not None:
        body["result"] = call.ending.result
    wire: Json = {f"{call.doing.tool}ToolCall": body}
    if call.shape.startswith("function"):
        arguments: Any = json.dumps(args) if call.shape == "function of strings" else args
        wire = {"function": {"name": call.doing.tool, "arguments": arguments} | body}
        del wire["function"]["args" if "args" in body else "arguments"]
        wire["function"]["arguments"] = arguments
    siblings: Json = {"hookAdditionalContexts": [], "toolCallId": call.call_id, "startedAtMs": "990"}
    if call.siblings == "before":
        wire = siblings | wire
    elif call.siblings == "after":
        wire |= siblings
    at_ms = call.started_ms if is_start else call.ended_ms
    told: Json = {
        "type": "tool_call",
        "subtype": "started" if is_start else "completed",
        "call_id": call.call_id,
        "tool_call": json.dumps(wire) if call.shape == "string" else wire,
    }
    if call.model_call_id is not None:
        told["model_call_id"] = call.model_call_id
    if at_ms is not None:
        told["timestamp_ms"] = str(at_ms) if call.numbers_as_strings else at_ms
    return told


def finish_line(run: RunStory, finish: Finish) -> Json:
    """Return the line of a run's result."""
    number: Callable[[int], int | str] = str if finish.numbers_as_strings else int
    told: Json = {"type": "result", "subtype": finish.subtype, "is_error": finish.is_error}
    told |= {"duration_ms": number(5234), "duration_api_ms": number(5200)}
    optional = {"result": result_of(run), "request_id": finish.request_id, "usage": finish.usage}
    return told | {key: value for key, value in optional.items() if value is not None}


def run_lines(run: RunStory, is_partial: bool) -> Iterator[Json | bytes]:
    """Yield a run's lines."""
    own = {"apiKeySource": "login", "cwd": CWD, "model": "Auto", "permissionMode": "default"}
    yield {"type": "system", "subtype": "init"} | own
    yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": run.prompt}]}}
    segment = ""
    begun: set[str] = set()

    def closed_by(closer: str) -> Iterator[Json]:
        """Yield what closes a segment: its flush with partial output, otherwise its only copy."""
        is_known_not_to_come = is_partial and closer in ("query", "nothing") and not run.flushes
        if segment and not is_known_not_to_come:
            forms: dict[str, Json] = {
                "call": {"timestamp_ms": 1001, "model_call_id": "m-1"},
                "query": {"timestamp_ms": 1001} | ({"model_call_id": "m-1"} if is_partial else {}),
            }
            yield said(segment, **forms.get(closer, {}))

    for step in run.steps:
        match step:
            case Say():
                segment += step.text
                if is_partial:
                    yield from (said(piece, timestamp_ms=1000) for piece in pieces(step.text, step.cuts))
            case Think():
                for piece in pieces(step.text, step.cuts):
                    yield {"type": "thinking", "subtype": "delta", "text": piece, "timestamp_ms": 1000}
                if step.is_completed:
                    yield {"type": "thinking", "subtype": "completed", "timestamp_ms": 1000}
            case Aside():
                if step.is_query:
                    yield from closed_by("query")
                    segment = ""
                yield from step.lines
            case ToolCall():
                yield from closed_by("call")
                segment = ""
                yield call_line(step, step.has_start and step.call_id not in begun)
                begun.add(step.call_id)
    yield from closed_by("result" if run.finish else "nothing")
    if run.finish is not None:
        yield finish_line(run, run.finish)


def is_half(char: str) -> bool:
    """Return whether a character is half a surrogate pair."""
    return "\ud800" <= char <= "\udfff"


def rendered(story: Story, is_partial: bool) -> tuple[bytes, int]:
    """Return a story's recording, and how many of its lines hold half an emoji."""
    lines: list[bytes] = []
    repaired = 0
    for run in story.runs:
        for told in run_lines(run, is_partial):
            if isinstance(told, bytes):
                lines.append(told.removesuffix(b"\n"))
                continue
            told["session_id"] = run.session_id
            has_halves = any(map(is_half, json.dumps(told, ensure_ascii=False)))
            repaired += has_halves
            lines.append(json.dumps(told, ensure_ascii=story.is_ascii or has_halves).encode())
    return story.line_end.join(lines) + (story.line_end if story.ends_in_line_end else b""), repaired


# --- any story -------------------------------------------------------------------------------------------

_TOKENS = [
    *("a", " the", " the", "**", "-", "\n", "\n\n", "🌊", "👩🏽‍💻", "干潮", "\t", '"', "\\", "\u2028", "é"),
    *("{", "}"),
]
TEXTS = st.lists(st.sampled_from(_TOKENS), max_size=6).map("".join)
_CUTS = st.lists(st.integers(0, 30), max_size=4).map(tuple)
_SAYS = st.builds(Say, TEXTS, _CUTS)
_THINKS = st.builds(Think, TEXTS, _CUTS, st.booleans())

_ASIDES = st.sampled_from(
    [
        Aside((asked(), answered({"approved": {}})), is_query=True),
        Aside((asked("webSearch"), answered({"rejected": {"reason": "no"}}, "webSearch")), is_query=True),
        Aside((answered({"result": {"rejected": {"reason": ""}}}),), is_query=True),
        Aside((event("connection", "reconnecting", attempt=1), event("connection", "reconnected"))),
        Aside((event("retry", "starting", attempt="2"), event("retry", "resuming"))),
        Aside((event("system", "task_notification", title="job", status="done"),)),
        Aside((event("system", "background_shell_timeout"),)),
        Aside((b"", b" \r")),
        Aside((b"Checking for updates...",), malformed=1),
        Aside((b'{"type":"assistant","message":{"content":[{"type":"text","te',), malformed=1),
        Aside((b"[1, 2]", b'"}"', b"warning: }"), malformed=3),
        Aside((event("weather", "sunny"), event("system", "reboot")), unknown=2),
    ]
)

_PATHS = (
    *((f"{CWD}/src/a.py", "src/a.py"), (CWD, "."), ("/etc/hosts", "/etc/hosts"), ("ebb 🌊.md", "ebb 🌊.md")),
    *((f"{CWD}le/b", f"{CWD}le/b"), ("/a\x1b[2J\nb", "/a␛[2J␊b")),
)
_COMMANDS = (("pytest -q", "pytest -q"), ("cat <<E\nx\nE", "cat <<E"), (" ls \r\n", "ls"))
_WORDS = (("low water", "low water"), (r"\.seconds\b", r"\.seconds\b"), ("x\ty", "x    y"))

_DOINGS = [
    *(Doing("read", "Read file", {"path": path, "limit": 9}, shown) for path, shown in _PATHS),
    *(Doing("edit", "Edited file", {"path": path, "streamContent": "z"}, shown) for path, shown in _PATHS),
    *(Doing("write", "Created new file", {"path": path}, shown) for path, shown in _PATHS[:2]),
    Doing("delete", "Deleted file", {"path": f"{CWD}/x"}, "x"),
    Doing("ls", "Listed directory", {"path": CWD, "ignore": []}, "."),
    *(Doing("shell", "Ran terminal command", {"command": told}, shown) for told, shown in _COMMANDS),
    *(Doing("grep", "Searched files", {"pattern": told, "path": "/p"}, shown) for told, shown in _WORDS),
    Doing("glob", "Found files", {"globPattern": "**/*.py", "targetDirectory": CWD}, "**/*.py"),
    *(Doing("semSearch", "Searched codebase", {"query": told}, shown) for told, shown in _WORDS),
    Doing("readLints", "Read lints", {"paths": [f"{CWD}/a", "/b"]}, "a, /b"),
    Doing("updateTodos", "Updated to-do list", {"todos": [], "merge": True}, None),
    Doing("mcp", "Called MCP tool", {"name": "s-t", "providerIdentifier": "s", "toolName": "t"}, "s t"),
    Doing("mcp", "Called MCP tool", {"name": "s-t", "args": {}}, "s-t"),
    Doing("task", "Ran subagent", {"description": "Look", "prompt": "p"}, "Look"),
    Doing("webSearch", "Searched the web", {"searchTerm": "tides"}, "tides"),
    Doing("webFetch", "Fetched web page", {"url": "https://example.org"}, "https://example.org"),
    Doing("askQuestion", "Used tool", {"title": "Which?", "questions": []}, "askQuestion Which?"),
    Doing("await", "Used tool", {"blockUntilMs": 5, "taskId": "t-1"}, "await t-1"),
    Doing("teleport", "Used tool", {"speed": 9, "to": "Mars"}, "teleport Mars", is_unknown=True),
]

_ENDINGS = [
    Ending({"error": {"errorMessage": "no such file"}}, "failed", "no such file"),
    Ending({"error": {"error": "one\ntwo"}}, "failed", "one\ntwo"),
    Ending({"error": "as it is"}, "failed", "as it is"),
    Ending({"failure": {"exitCode": 2, "stderr": "e"}, "isBackground": False}, "failed", "exit 2", 2),
    Ending({"isBackground": True, "failure": {"exitCode": "127"}}, "failed", "exit 127", 127),
    Ending({"failure": {"exitCode": 0, "signal": "SIGKILL"}}, "failed", "signal SIGKILL", 0),
    Ending({"failure": {"aborted": True}}, "failed", "aborted"),
    Ending({"rejected": {"reason": "not now"}}, "rejected", "not now"),
    Ending({"rejected": {"reason": "", "isReadonly": False}}, "rejected"),
    Ending({"permissionDenied": {"error": "not yours"}}, "failed", "not yours"),
    Ending({"spawnError": {"error": "ENOENT"}}, "failed", "ENOENT"),
    Ending({"timeout": {}}, "failed", "timeout"),
    Ending({"fileNotFound": {}}, "failed", "file not found"),
    Ending({"success": {"exitCode": 1, "stdout": ""}}, "failed", "exit 1", 1),
    Ending({"success": {"isError": True, "content": [{"text": {"text": "403"}}]}}, "failed", "403"),
    Ending(None, "unfinished", "came back without a result"),
    Ending({"later": {"x": 1}}, "unfinished", "unknown outcome later", is_unknown=True),
]
"""Endings that any tool may come to."""

_MATCHES = {"content": {"totalMatchedLines": 3}, "count": {"totalMatchedLines": "1"}}
_CHANGE = {"linesAdded": 3, "linesRemoved": "1", "beforeFullFileContent": "", "afterFullFileContent": "y"}
_NEW = {"linesAdded": 4, "linesRemoved": 0, "afterFullFileContent": "z", "diffString": "--- /dev/null"}
_DONE = {"status": "TODO_STATUS_COMPLETED", "content": "a"}
_SUCCESSES: dict[str, list[Ending]] = {
    "read": [
        Ending({"success": {"content": "{}", "totalLines": "54"}}, "succeeded", note="54 lines"),
        Ending({"success": {"contentBlobId": "b", "totalLines": 1}}, "succeeded", note="1 line"),
        Ending(
            {"success": {"totalLines": 54, "readRange": {"startLine": "3", "endLine": 9}}},
            "succeeded",
            note="lines 3-9 of 54",
        ),
    ],
    "edit": [
        Ending({"success": _CHANGE}, "succeeded", note="+3 -1", added=3, removed=1),
        Ending({"success": _NEW}, "succeeded", None, None, "4 lines", "Created new file", 4, 0),
    ],
    "write": [Ending({"success": {"linesCreated": 19}}, "succeeded", note="19 lines")],
    "shell": [
        Ending({"success": {"exitCode": 0, "stdout": "\x1b"}, "isBackground": True}, "succeeded", None, 0),
        Ending({"isBackground": True, "success": {"exitCode": "0"}}, "succeeded", None, 0),
    ],
    "grep": [
        Ending({"success": {"workspaceResults": {CWD: _MATCHES}}}, "succeeded", note="4 matches"),
    ],
    "glob": [Ending({"success": {"files": [], "totalFiles": 7}}, "succeeded", note="7 files")],
    "ls": [Ending({"success": {"directoryTreeRoot": {"numFiles": 1}}}, "succeeded", note="1 file")],
    "updateTodos": [Ending({"success": {"todos": [_DONE, {}]}}, "succeeded", note="1 of 2 done")],
    "mcp": [Ending({"success": {"content": [{"text": {"text": "x"}}], "isError": False}}, "succeeded")],
    "task": [Ending({"success": {"conversationSteps": [], "durationMs": "12"}}, "succeeded")],
    "webSearch": [Ending({"success": {"references": [{"title": ""}]}}, "succeeded", note="1 result")],
}
_ANY_SUCCESS = [Ending({"success": {}}, "succeeded")]
_IDS = ("toolu_1", "call_2\nfc_2", "Read_1", "call-4-0\nfc_4_0", "tool_x\t", "[b]{6}")


@st.composite
def _calls(draw: st.DrawFn, call_id: str) -> ToolCall:
    doing = draw(st.sampled_from(_DOINGS))
    endings = _SUCCESSES.get(doing.tool, _ANY_SUCCESS)
    ending = draw(st.sampled_from(endings * (len(_ENDINGS) // len(endings)) + _ENDINGS))
    has_start, has_end = draw(
        st.sampled_from([(True, True), (True, True), (True, True), (True, False), (False, True)])
    )
    places = ["both", "start", "end"] if has_start and has_end else ["start" if has_start else "end"]
    return ToolCall(
        call_id,
        doing,
        ending,
        has_start,
        has_end,
        draw(st.sampled_from(places)),
        draw(st.sampled_from(["object", "object", "string", "function", "function of strings"])),
        draw(st.sampled_from(["none", "before", "after"])),
        draw(st.none() | st.integers(1000, 1100)),
        draw(st.none() | st.integers(1050, 9000)),
        draw(st.booleans()),
        draw(st.sampled_from(["m-1", None])),
    )


_FINISHES = st.builds(
    Finish,
    st.sampled_from([None, None, None, None, "another", "a the"]),
    st.sampled_from([False, False, False, False, True]),
    st.sampled_from(["success", "correcto", "成功"]),
    st.sampled_from([False, False, False, True]),
    st.booleans(),
    st.sampled_from(["r-1", None]),
    st.sampled_from([None, {"inputTokens": 5, "outputTokens": 7}]),
)


@st.composite
def _runs(draw: st.DrawFn) -> RunStory:
    count = draw(st.integers(0, 4))
    calls = [draw(_calls(call_id)) for call_id in _IDS[:count]]
    steps: list[Step] = [step for call in calls for step in [call] * (call.has_start + call.has_end)]
    steps += draw(st.lists(st.one_of(_SAYS, _SAYS, _THINKS, _ASIDES), max_size=6))
    order = draw(st.permutations(range(len(steps))))
    finish = draw(st.none() | _FINISHES | _FINISHES | _FINISHES)
    session_id = draw(st.sampled_from(["s-1", "s-2\n"]))
    prompt = draw(st.sampled_from(["Do it.", "Two\nlines 🌊"]))
    return RunStory(session_id, prompt, tuple(steps[at] for at in order), finish, draw(st.booleans()))


STORIES = st.builds(
    Story,
    st.lists(_runs(), min_size=1, max_size=3).map(tuple),
    st.sampled_from([b"\n", b"\n", b"\r\n"]),
    st.booleans(),
    st.booleans(),
)


# --- the summary is the truth ----------------------------------------------------------------------------


def told_of(story: Story, read: Session, data: bytes, repaired: int) -> tuple[Json, Json]:
    """Return a session's summary and the truth of its story, the counts of its lines among it."""
    expected = truth(story)
    lines = expected["lines"]
    lines["total"] = sum(1 for line in data.split(b"\n") if line.strip())
    lines["events"] = lines["total"] - lines["malformed"] - lines["unknown"]
    lines |= {"repaired": repaired, "oversize": 0}
    if repaired:
        expected["integrity"]["line"] += f" · {repaired} repaired"
    told: Json = json.loads(b"".join(summary(read)))
    return told, expected


@pytest.mark.parametrize("is_partial", [False, True], ids=["whole segments", "partial output"])
@GENERATED
@given(STORIES)
def test_the_summary_is_the_truth(is_partial: bool, story: Story) -> None:
    """Text, calls, outcomes, orphans, counts and integrity of any session are what happened in it."""
    data, repaired = rendered(story, is_partial)
    read = session(data)
    told, expected = told_of(story, read, data, repaired)
    assert told == expected
    thoughts = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert "".join(thoughts) == thoughts_of(story)
    said = [entry.text for entry in read.transcript if entry.kind is Kind.ANSWER]
    assert "".join(said) == read.text


@settings(GENERATED, max_examples=60)
@given(STORIES, st.booleans())
def test_a_file_tells_what_its_lines_tell(
    tmp_path_factory: pytest.TempPathFactory, story: Story, is_partial: bool
) -> None:
    """A recording opened as a file comes to the same truth as its lines in memory."""
    data, repaired = rendered(story, is_partial)
    path: Path = tmp_path_factory.getbasetemp() / "story.ndjson"
    path.write_bytes(data)
    reader = open_saved(path)
    feed = Feed(reader)
    try:
        feed.advance()
        told, expected = told_of(story, feed.session, data, repaired)
        assert told == expected
        assert (feed.is_over, feed.backlog()) == (True, 0)
    finally:
        os.close(reader.fd)


@settings(GENERATED, max_examples=60)
@given(STORIES)
def test_both_modes_tell_the_same(story: Story) -> None:
    """With partial output and without, a session comes to the same text, calls and outcome."""
    whole, partial = (
        json.loads(b"".join(summary(session(rendered(story, mode)[0])))) for mode in (False, True)
    )
    for told in (whole, partial):
        del told["lines"], told["integrity"]
    assert whole == partial
