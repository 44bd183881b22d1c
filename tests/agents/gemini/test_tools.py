"""The tools of Gemini: kind, phrase, target and facts of each."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.gemini.stream import argument_facts, shown_facts, tool_named
from agentwatch.agents.tool import NO_FACTS, Facts, Phrase
from agentwatch.session.events import ToolKind
from tests.conftest import case


def test_a_tool_has_a_kind_a_phrase_and_a_target() -> None:
    """Each of the agent's tools is described by its arguments; any other is named."""
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("read_file", {"file_path": "a"}, "read", "Read file a"),
        ("read_file", {"absolute_path": "/a"}, "read", "Read file /a"),
        ("read_many_files", {"include": ["a", "b", 1]}, "read", "Read file a, b"),
        ("read_many_files", {"paths": ["a"]}, "read", "Read file a"),
        ("write_file", {"file_path": "a"}, "edit", "Created new file a"),
        ("replace", {"file_path": "a"}, "edit", "Edited file a"),
        ("run_shell_command", {"command": "ls\npwd"}, "execute", "Ran terminal command ls"),
        ("list_directory", {"dir_path": "."}, "search", "Listed directory ."),
        ("list_directory", {"path": "/"}, "search", "Listed directory /"),
        ("glob", {"pattern": "*"}, "search", "Found files *"),
        ("search_file_content", {"pattern": "x"}, "search", "Searched files x"),
        ("grep_search", {"pattern": "x"}, "search", "Searched files x"),
        ("google_web_search", {"query": "q"}, "search", "Searched the web q"),
        ("web_fetch", {"prompt": "Read https://e.org now"}, "fetch", "Fetched web page https://e.org"),
        ("web_fetch", {"prompt": "Read it"}, "fetch", "Fetched web page Read it"),
        ("web_fetch", {"url": "u"}, "fetch", "Fetched web page u"),
        ("web_fetch", {}, "fetch", "Fetched web page None"),
        ("write_todos", {}, "plan", "Updated to-do list None"),
        ("delegate_to_agent", {"agent_name": "a", "objective": "o"}, "delegate", "Ran subagent a o"),
        ("codebase_investigator", {}, "delegate", "Ran subagent None"),
        ("mcp_github_list_issues", {}, "mcp", "Called MCP tool github list_issues"),
        ("github__list", {}, "mcp", "Called MCP tool github list"),
        ("save_memory", {"fact": "f"}, "other", "Used tool save_memory f"),
        ("ask_user", {"questions": [1]}, "other", "Used tool ask_user"),
        ("discovered_tool_x", {"name": "n"}, "other", "Used tool discovered_tool_x n"),
        ("mcp_x", {}, "other", "Used tool mcp_x"),
        ("__x", {}, "other", "Used tool __x"),
    ]
    for name, arguments, kind, action in cases:
        with case((name, arguments, kind)):
            tool = tool_named(name)
            target, _ = tool.described(arguments)
            assert (tool.kind, f"{tool.phrase} {target}") == (ToolKind(kind), action)


def test_the_name_for_display_shows_the_server() -> None:
    """In older versions only the name for display has the server of an MCP tool."""
    tool = tool_named("list_issues", "list_issues (my hub MCP Server)")
    assert (tool.kind, tool.target({})) == (ToolKind.MCP, "my hub list_issues")
    assert tool_named("list_issues", "Issues").kind is ToolKind.OTHER


def test_the_arguments_contain_facts() -> None:
    """The lines of a new file and of one replacement are known; those of several replacements are not."""
    cases: list[tuple[str, dict[str, Any], Facts]] = [
        ("write_file", {"content": "a\nb\n"}, Facts(note="2 lines")),
        ("write_file", {"content": "a\nb"}, Facts(note="2 lines")),
        ("write_file", {}, NO_FACTS),
        ("replace", {"old_string": "a\nb", "new_string": "a\nc\nd"}, Facts(lines_added=2, lines_removed=1)),
        ("replace", {"old_string": "a", "new_string": "b", "allow_multiple": True}, NO_FACTS),
        ("replace", {"old_string": "a", "new_string": "b", "expected_replacements": 2}, NO_FACTS),
        ("replace", {"old_string": "a", "new_string": 1}, NO_FACTS),
        ("replace", {"old_string": None, "new_string": "a"}, NO_FACTS),
        ("glob", {}, NO_FACTS),
    ]
    for name, arguments, facts in cases:
        with case((name, arguments)):
            assert argument_facts(name, arguments) == facts


def test_a_replacement_of_nothing_creates_a_file() -> None:
    """The tool creates a file if there is nothing to look for."""
    facts = argument_facts("replace", {"old_string": "", "new_string": "a\nb\n"})
    assert (facts.phrase, facts.note, facts.is_new_file, facts.lines_added) == (
        Phrase.CREATED,
        "2 lines",
        True,
        2,
    )


DIFF = "Index: a\n--- a\n+++ a\n@@ -1,1 +1,2 @@\n-x\n+y\n+z"


def test_what_the_agent_shows_contains_facts() -> None:
    """A short text is the note of a search; the change of a file has its lines."""
    cases: list[tuple[str, object, Facts]] = [
        ("glob", "Found 3 files.", Facts(note="Found 3 files")),
        ("read_file", "", NO_FACTS),
        ("grep_search", "a\nb", NO_FACTS),
        ("grep_search", "x" * 61, NO_FACTS),
        ("run_shell_command", "ok", NO_FACTS),
        ("write_file", {}, NO_FACTS),
        ("write_file", None, NO_FACTS),
        ("replace", {"fileDiff": DIFF, "originalContent": "x"}, Facts(None, Phrase.EDITED, False, 2, 1)),
        ("replace", {"fileDiff": DIFF}, Facts(None, Phrase.EDITED, False, 2, 1)),
        (
            "write_file",
            {"fileDiff": DIFF, "originalContent": None},
            Facts("2 lines", Phrase.CREATED, True, 2, 1),
        ),
        (
            "write_file",
            {"fileDiff": DIFF, "originalContent": ""},
            Facts("2 lines", Phrase.CREATED, True, 2, 1),
        ),
        ("write_file", {"fileDiff": DIFF, "isNewFile": True}, Facts("2 lines", Phrase.CREATED, True, 2, 1)),
    ]
    for name, shown, facts in cases:
        with case((name, shown)):
            assert shown_facts(tool_named(name), shown, NO_FACTS) == facts
