"""Stories of a session of Cursor: what happens in it, and any such story."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from agentwatch.rules.calls.facts import CallFacts
from agentwatch.session.session import Session
from tests.builders.lines import CWD, answered, asked, event


def facts_of(session: Session | None = None) -> CallFacts:
    """Return the facts about the calls of a session, without those that are read from the recording."""
    feed: Any = SimpleNamespace(session=session or Session())
    return CallFacts(feed)


Json = dict[str, Any]


KINDS = {
    **dict.fromkeys(("grep", "glob", "ls", "semSearch", "webSearch"), "search"),
    **dict.fromkeys(("edit", "write"), "edit"),
    "read": "read",
    "delete": "delete",
    "shell": "execute",
    "updateTodos": "plan",
    "mcp": "mcp",
    "task": "delegate",
    "webFetch": "fetch",
}
"""The kind of each tool; any other tool has the kind `other`."""


@dataclass(frozen=True)
class Say:
    """The assistant writes a text; with partial output it is cut into deltas, even inside an emoji."""

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
    """Lines that add neither text nor calls: a query, a notice, an odd line."""

    lines: tuple[bytes, ...]
    is_query: bool = False
    malformed: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class Ending:
    """The result of a call, and the facts expected from it."""

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
class ToolUse:
    """A tool called with arguments, and the facts expected from them."""

    tool: str
    phrase: str
    args: Json
    target: str | None
    is_unknown: bool = False

    @property
    def kind(self) -> str:
        """The expected kind of the tool."""
        return KINDS.get(self.tool, "other")


@dataclass(frozen=True)
class ToolCall:
    """A call, and how its lines are written."""

    call_id: str
    use: ToolUse
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
    """`None` is the streamed text, a string another text; see `says_nothing`."""
    says_nothing: bool
    subtype: str
    is_error: bool
    numbers_as_strings: bool
    request_id: str | None
    usage: Json | None


Step = Say | Think | Aside | ToolCall


@dataclass(frozen=True)
class RunStory:
    """One run with its steps in order; a call is listed at its start and again at its end."""

    session_id: str
    prompt: str
    steps: tuple[Step, ...]
    finish: Finish | None
    flushes: bool
    """With partial output: whether a segment is flushed even where this is optional."""


@dataclass(frozen=True)
class Story:
    """The runs of a session, and how its lines are written."""

    runs: tuple[RunStory, ...]
    line_end: bytes
    ends_in_line_end: bool
    is_ascii: bool


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
_COMMANDS = (("pytest -q", "pytest -q"), ("cat <<E\nx\nE", "cat <<E ⏎ +2 lines"), (" ls \r\n", "ls"))
_WORDS = (("low water", "low water"), (r"\.seconds\b", r"\.seconds\b"), ("x\ty", "x    y"))

_TOOL_USES = [
    *(ToolUse("read", "Read file", {"path": path, "limit": 9}, shown) for path, shown in _PATHS),
    *(ToolUse("edit", "Edited file", {"path": path, "streamContent": "z"}, shown) for path, shown in _PATHS),
    *(ToolUse("write", "Created new file", {"path": path}, shown) for path, shown in _PATHS[:2]),
    ToolUse("delete", "Deleted file", {"path": f"{CWD}/x"}, "x"),
    ToolUse("ls", "Listed directory", {"path": CWD, "ignore": []}, "."),
    *(ToolUse("shell", "Ran terminal command", {"command": given}, shown) for given, shown in _COMMANDS),
    *(ToolUse("grep", "Searched files", {"pattern": given, "path": "/p"}, shown) for given, shown in _WORDS),
    ToolUse("glob", "Found files", {"globPattern": "**/*.py", "targetDirectory": CWD}, "**/*.py"),
    *(ToolUse("semSearch", "Searched codebase", {"query": given}, shown) for given, shown in _WORDS),
    ToolUse("readLints", "Read lints", {"paths": [f"{CWD}/a", "/b"]}, "a, /b"),
    ToolUse("updateTodos", "Updated to-do list", {"todos": [], "merge": True}, None),
    ToolUse("mcp", "Called MCP tool", {"name": "s-t", "providerIdentifier": "s", "toolName": "t"}, "s t"),
    ToolUse("mcp", "Called MCP tool", {"serverIdentifier": "s", "toolName": "t"}, "s t"),
    ToolUse("mcp", "Called MCP tool", {"name": "s-t", "args": {}}, "s-t"),
    ToolUse("task", "Ran subagent", {"description": "Look", "prompt": "p"}, "Look"),
    ToolUse("webSearch", "Searched the web", {"searchTerm": "tides"}, "tides"),
    ToolUse("webFetch", "Fetched web page", {"url": "https://example.org"}, "https://example.org"),
    ToolUse("askQuestion", "Used tool", {"title": "Which?", "questions": []}, "askQuestion Which?"),
    ToolUse("await", "Used tool", {"blockUntilMs": 5, "taskId": "t-1"}, "await t-1"),
    ToolUse("exaSearch", "Used tool", {"query": "tides", "toolCallId": "c"}, "exaSearch tides"),
    ToolUse("teleport", "Used tool", {"speed": 9, "to": "Mars"}, "teleport Mars", is_unknown=True),
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
    Ending({"invalidFile": {}, "sandboxPolicy": {"type": "x"}}, "failed", "invalid file"),
    Ending({"toolNotFound": {}}, "failed", "tool not found"),
    Ending({"partialResult": {"stdout": "a"}}, "returned", "partial result"),
    Ending(None, "returned", "came back without a result"),
    Ending({"sandboxPolicy": {"x": 1}, "later": {}}, "returned", "unknown outcome later", is_unknown=True),
]
"""Endings that any tool can have."""

_MATCHES = {"content": {"totalMatchedLines": 3}, "count": {"totalMatchedLines": "1"}}
_CHANGE = {"linesAdded": 3, "linesRemoved": "1", "beforeFullFileContent": "", "afterFullFileContent": "y"}
_NEW = {"linesAdded": 4, "linesRemoved": 1, "afterFullFileContent": "z", "diffString": "--- /dev/null"}
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
        Ending({"success": _NEW}, "succeeded", None, None, "4 lines", "Created new file", 4, 1),
    ],
    "write": [Ending({"success": {"linesCreated": 19}}, "succeeded", note="19 lines")],
    "shell": [
        Ending({"success": {"exitCode": 0, "stdout": "\x1b"}, "isBackground": False}, "succeeded", None, 0),
        Ending({"sandboxPolicy": {"x": 1}, "success": {"exitCode": "0"}}, "succeeded", None, 0),
        Ending({"isBackground": True, "success": {"exitCode": "0"}}, "returned", note="in the background"),
    ],
    "grep": [Ending({"success": {"workspaceResults": {CWD: _MATCHES}}}, "succeeded", note="4 matches")],
    "readLints": [Ending({"success": {"totalDiagnostics": 3}}, "succeeded", note="3 diagnostics")],
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
    use = draw(st.sampled_from(_TOOL_USES))
    endings = _SUCCESSES.get(use.tool, _ANY_SUCCESS)
    ending = draw(st.sampled_from(endings * (len(_ENDINGS) // len(endings)) + _ENDINGS))
    has_start, has_end = draw(
        st.sampled_from([(True, True), (True, True), (True, True), (True, False), (False, True)])
    )
    places = ["both", "start", "end"] if has_start and has_end else ["start" if has_start else "end"]
    return ToolCall(
        call_id,
        use,
        ending,
        has_start,
        has_end,
        draw(st.sampled_from(places)),
        draw(
            st.sampled_from(["object", "object", "string", "function", "function of strings", "bare", "case"])
        ),
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
