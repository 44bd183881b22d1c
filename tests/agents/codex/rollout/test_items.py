"""Each item and event that reports a call is a call with its tool, its target and its outcome."""

from __future__ import annotations

from tests.builders.codex.lines import META, Json, completed, event, item, only_call, read
from tests.conftest import case

MCP: Json = {"server": "s", "tool": "t"}
NEW = {"/home/ada/app/a": {"add": {"content": "x"}}}

ITEMS: list[tuple[Json, str]] = [
    (completed("WebSearch", query="q", action={}), "web_search|q|succeeded"),
    (completed("Extension", kind="web", query="", action={"queries": ["a"]}), "web|a|succeeded"),
    (completed("Extension", kind="clock"), "clock|clock|returned"),
    (completed("McpToolCall", status="completed", **MCP), "t|s t|succeeded"),
    (completed("McpToolCall", result={"isError": True}, **MCP), "t|s t|failed"),
    (completed("McpToolCall", status="failed", error="x", **MCP), "t|s t|failed"),
    (
        completed("McpToolCall", status="failed", error={"message": "user rejected MCP tool call"}, **MCP),
        "t|s t|rejected",
    ),
    (
        completed("CollabAgentToolCall", tool="spawnAgent", prompt="Look", status="completed"),
        "spawn_agent|Look|succeeded",
    ),
    (
        completed("CollabAgentToolCall", tool="wait", receiverThreadIds=["t-2"], status="failed"),
        "wait|wait t-2|failed",
    ),
    (completed("CollabAgentToolCall", status="failed"), "collab_tool_call|collab_tool_call|failed"),
    (completed("DynamicToolCall", tool="dial", arguments={"to": "x"}, success=True), "dial|dial x|succeeded"),
    (completed("DynamicToolCall", tool="dial", status="failed", error="busy"), "dial|dial|failed"),
    (completed("ImageView", path="file:///a.png"), "view_image|/a.png|succeeded"),
    (completed("ImageView"), "view_image||succeeded"),
    (
        completed("ImageGeneration", status="completed", revised_prompt="A cat"),
        "image_generation|image_generation A cat|succeeded",
    ),
    (completed("ImageGeneration"), "image_generation|image_generation|returned"),
    (completed("Sleep", duration_ms=5), "sleep|sleep|succeeded"),
    (completed("FileChange", changes=NEW, status="completed"), "file_change|a|succeeded"),
    (completed("FileChange", changes={"/b": {}}, status="declined"), "file_change|/b|rejected"),
]
EVENTS: list[tuple[Json, str]] = [
    (event("exec_command_end", call_id="c", command="ls", exit_code=1), "command_execution|ls|failed"),
    (event("patch_apply_end", call_id="c", success=False, changes={"/b": 7}), "file_change|/b|failed"),
    (event("mcp_tool_call_end", call_id="c", invocation=MCP, result={"Err": "x"}), "t|s t|failed"),
    (
        event(
            "mcp_tool_call_end", call_id="c", invocation=MCP, result={"Err": "user cancelled MCP tool call"}
        ),
        "t|s t|rejected",
    ),
    (
        event("mcp_tool_call_end", call_id="c", invocation=MCP, result={"Ok": {"isError": True}}),
        "t|s t|failed",
    ),
    (event("mcp_tool_call_end", call_id="c", result={}), "mcp_tool_call||returned"),
    (
        event("collab_agent_spawn_end", call_id="c", new_thread_id="t-2"),
        "spawn_agent|spawn_agent t-2|succeeded",
    ),
    (event("collab_agent_spawn_end", call_id="c", prompt="Look"), "spawn_agent|Look|failed"),
    (item("web_search_call", id="ws", status="failed", action={"query": "q"}), "web_search|q|failed"),
    (item("web_search_call", action={"query": "q"}), "web_search|q|succeeded"),
    (item("image_generation_call", id="ig", status="failed"), "image_generation|image_generation|failed"),
]


def test_what_ended_is_a_call() -> None:
    """It has its tool, its target, its outcome and, although no line announced it, both of its ends."""
    for line, facts in ITEMS + EVENTS:
        with case(line):
            found = read(META, line)
            (call,) = found.calls
            assert f"{call.tool}|{call.target or ''}|{call.outcome}" == facts
            assert found.completed_without_started == 0


def test_a_web_search_whose_item_has_no_id_is_one_call() -> None:
    """Older versions report it by an event and an item, which only share what was looked for."""
    end, again = (
        event("web_search_end", call_id=each, query="q", action={"type": "search", "query": "q"})
        for each in ("ws-1", "ws-2")
    )
    found = item("web_search_call", status="completed", action={"type": "search", "query": "q"})
    for lines in ([end, found, again, found], [found, end, found, again]):
        assert len(list(read(META, *lines).calls)) == 2
    assert only_call(META, end, found).call_id == "ws-1"
    own = item("web_search_call", id="ws-1", status="completed", action={"type": "search", "query": "q"})
    assert only_call(META, end, own).call_id == "ws-1"
