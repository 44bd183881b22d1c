"""An opened call: first what happened, then the facts, then the fields that nothing else shows."""

from __future__ import annotations

from typing import Any

from agentwatch.output.export.html.content import CallBody, texts
from tests.builders.claude_lines import written
from tests.builders.exports.opened import RAW, opened
from tests.builders.lines import completed, init, started, user
from tests.builders.on_disk import cursor_transcript as cursor
from tests.conftest import RECORDINGS, Saver, case, in_zone

DEMO = RECORDINGS / "demo.ndjson"


def body_of(number: int, path: Any = DEMO) -> list[Any]:
    """Return the nodes of a call."""
    with opened(path, RAW) as session:
        return CallBody(session.feed, session.session.calls[number - 1]).nodes()


def kinds(nodes: list[Any]) -> list[str]:
    """Return the tag and the class of each node."""
    return [f"{node[0]}.{node[1].split(' ')[0]}" if node[1] else node[0] for node in nodes]


CALLS: list[tuple[int, list[str]]] = [
    (1, ["pre.plain", "p.facts", "details.more"]),
    (3, ["div.lines", "p.facts", "details.more"]),
    (6, ["pre.command", "pre.output", "p.facts", "details.more"]),
    (7, ["ul.plan", "p.facts", "details.more"]),
    (8, ["div.diff", "p.facts", "details.more"]),
    (9, ["pre.error", "p.facts", "details.more"]),
]


def test_what_happened_comes_first() -> None:
    """Each call begins with its output, its diff, its list or its error."""
    for number, expected in CALLS:
        with case(number):
            assert kinds(body_of(number)) == expected


def test_the_facts_are_those_of_the_screen() -> None:
    """The line of facts has the outcome with its sign, the duration, the limit and the local start."""
    with in_zone("UTC"):
        facts = next(node for node in body_of(6) if node[1] == "facts")
    assert facts[2] == "✗ failed · exit 1 · 8.6 s · limit 2:00 · started 09:14:15"


def test_an_equal_call_is_no_result(recording: Saver) -> None:
    """Cursor's own file has no results: the next message ends a call, and may have the same arguments."""
    twice = cursor.called(cursor.call("Teleport", to="Mars"))
    shown = [*texts(body_of(1, recording(written(cursor.user("Go"), twice, twice))))]
    assert shown.count("Mars") == 1


def test_nothing_is_shown_twice(recording: Saver) -> None:
    """The command and the output of a call are not among its other fields, nor is the error its output."""
    done = {"failure": {"stdout": "one line", "exitCode": 1, "interleavedOutput": "one line"}}
    path = recording(
        init(),
        user(),
        started("shell", "a", command="run it"),
        completed("shell", "a", done, command="run it"),
    )
    shown = [*texts(body_of(1, path))]
    assert shown.count("$ run it") == 1
    assert "run it" not in shown
    assert shown.count("one line") == 1


def test_the_arguments_of_an_unknown_tool_are_shown(recording: Saver) -> None:
    """No target stands for the arguments of a tool of an MCP server, so they are not folded."""
    arguments = {"name": "srv-find", "args": {"words": "low water"}, "toolName": "find"}
    done = {"success": {"content": [{"text": {"text": "found it"}}]}}
    path = recording(
        init(), user(), started("mcp", "a", **arguments), completed("mcp", "a", done, **arguments)
    )
    nodes = body_of(1, path)
    open_texts = [*texts(node for node in nodes if node[1] != "more")]
    assert any("low water" in text for text in open_texts)
    assert any("found it" in text for text in open_texts)


def test_the_id_of_a_call_is_among_its_fields() -> None:
    """The folded fields end with the id by which the recording names the call."""
    more = body_of(6)[-1]
    fields = more[-1]
    assert fields[-2] == ["dt", "", "call_id"]
