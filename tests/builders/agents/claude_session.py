"""A session of Claude Code with two subagents that work at once, as lines of its stream."""

from tests.builders.claude_lines import CWD, Json, answer, assistant, call, init, result, say, user, written

_SEEN = {"input_tokens": 12, "cache_read_input_tokens": 41_000, "output_tokens": 85}
_PATH = f"{CWD}/src/nearest.py"
_PATCH = {"oldStart": 8, "oldLines": 2, "newStart": 8, "newLines": 3}
_PATCH_LINES = [
    " def nearest(times):",
    "-    return times[0]",
    "+    found = min(times)",
    "+    return found",
]


def _todos(call_id: str, *done: str) -> list[Json]:
    steps = ("Find the callers", "Check the wire", "Report")
    todos = [
        {"content": step, "status": "completed" if step in done else "pending", "activeForm": step}
        for step in steps
    ]
    return [call("TodoWrite", call_id, todos=todos), answer("Todos have been modified.", call_id)]


def _started(name: str, call_id: str, parent: str, **arguments: str) -> Json:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return assistant(block, parent_tool_use_id=parent, message_id=f"msg_{parent}")


def claude_session() -> bytes:
    """Return the whole session: subagents with an edit and a failed command, a denied call, an MCP tool."""
    patched = {"filePath": _PATH, "structuredPatch": [{**_PATCH, "lines": _PATCH_LINES}]}
    usage = {"input_tokens": 40, "cache_read_input_tokens": 123_000, "output_tokens": 812}
    of_model = {"claude-sonnet-5": {"inputTokens": 40, "outputTokens": 812, "contextWindow": 200_000}}
    return written(
        init(
            permissionMode="acceptEdits",
            apiKeySource="none",
            session_id="7d0f5a11-0000-4000-8000-000000000001",
        ),
        say("I start **two** subagents.", usage=_SEEN),
        *_todos("t-1"),
        call(
            "Task", "t-2", description="Find the callers", prompt="Find all callers.", subagent_type="Explore"
        ),
        call("Task", "t-3", description="Check the wire", prompt="Run its tests.", subagent_type="Explore"),
        user("Find all callers.", parent_tool_use_id="t-2"),
        _started("Read", "a-1", "t-2", file_path=_PATH),
        _started("Bash", "b-1", "t-3", command="pytest -q tests/agents", description="Run the tests"),
        answer("8\tdef nearest(times):\n9\t    return times[0]", "a-1", parent_tool_use_id="t-2"),
        _started("Edit", "a-2", "t-2", file_path=_PATH, old_string="times[0]", new_string="min(times)"),
        answer("The file has been updated.", "a-2", parent_tool_use_id="t-2", result=patched),
        say("The callers pass 時刻 in any order.", parent_tool_use_id="t-2"),
        answer("Exit code 1\n1 failed, 3 passed in 0.2s", "b-1", is_error=True, parent_tool_use_id="t-3"),
        answer("Three callers.", "t-2"),
        answer("One test fails.", "t-3"),
        call("mcp__tides__forecast", "t-4", place="Brest"),
        answer("low water at 14:20", "t-4"),
        *_todos("t-5", "Find the callers", "Check the wire"),
        say("Both are done: one test fails.", usage=_SEEN),
        result(
            "Both are done: one test fails.",
            duration_ms=8123,
            total_cost_usd=0.41,
            usage=usage,
            modelUsage=of_model,
        ),
    )
