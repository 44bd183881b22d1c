"""A value of any type and size can be in any field: it is named, never formatted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.fields import cost, decoded_size, in_words, percent, scalars, seconds_ms
from agentwatch.analysis.block_text import as_json, block_text
from agentwatch.output.summary import summary
from agentwatch.output.unknown_parts import report
from agentwatch.recording.saved import open_saved
from tests.builders.lines import (
    answered,
    asked,
    completed,
    delta,
    event,
    feed_of,
    final,
    init,
    result,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import Saver, case

FACTS: dict[str, Any] = {
    "path": "a",
    "command": "a",
    "timeout": 1,
    "todos": [{"content": "a", "status": "PENDING"}],
    "paths": ["a"],
    "pattern": "a",
    "url": "a",
    "name": "a",
    "args": {"a": 1},
}
SUCCESS = {
    "exitCode": 1,
    "stdout": "a",
    "totalLines": 1,
    "readRange": {"startLine": 1},
    "content": [{"text": "a"}],
    "diffString": "a",
    "afterFullFileContent": "a",
    "todos": [{"status": "a"}],
    "references": [{"url": "a"}],
    "workspaceResults": {"/": {"content": {"matches": [{"file": "a", "matches": [{"content": "a"}]}]}}},
    "conversationSteps": [{"readToolCall": {"args": {"path": "a"}, "result": {"success": {}}}}],
    "files": ["a"],
    "isError": True,
    "directoryTreeRoot": {"numFiles": 1},
}
TOOLS = ("read", "edit", "shell", "grep", "updateTodos", "mcp", "task", "webSearch", "teleport")
LINES = (
    *(
        init(),
        user(),
        delta("a"),
        final("a"),
        thought("a"),
        thought_through(),
        asked(),
        result("a", usage={"a": 1}),
    ),
    *(answered({"approved": {"reason": "a"}}), answered({"rejected": {"reason": "a"}})),
    *(
        event("connection", "reconnecting", attempt=1, endpoint_url="a"),
        event("retry", "starting", attempt=1),
    ),
    *(event("system", "task_notification", task_id="a", title="a", status="a"), event("weather", "update")),
    *(event("system", "background_shell_timeout"), event("tool_call", "progress", tool_call={"a": 1})),
    *(started(tool, **FACTS) for tool in TOOLS),
    *(completed(tool, result={"success": SUCCESS}) for tool in TOOLS),
    *(
        completed("shell", result={name: SUCCESS | {"error": "a"}})
        for name in ("failure", "rejected", "later")
    ),
    event(
        "tool_call",
        "completed",
        tool_call={"function": {"name": "a", "arguments": "{}", "result": {"a": {}}}},
    ),
)
"""A line of each type, with every field that is read."""
VALUES = (b"null", b"true", b"7", b"1.5", b'"a"', b"[]", b"{}", b'[{"a":[]}]', b'"' + b"x" * 300 + b'"')
DEPTHS = (980, 1_000, 1_010, 1_020, 1_023)
"""orjson reads up to 1,024 levels; Python formats fewer than 1,000."""


def with_each_field_replaced(fields: Any, value: str) -> Iterator[Any]:
    """Yield copies of a JSON value in which one member or item, at any level, is another value."""
    members = (
        fields.items() if isinstance(fields, dict) else enumerate(fields) if isinstance(fields, list) else ()
    )
    for key, inner in members:
        for changed in (value, *with_each_field_replaced(inner, value)):
            copy = fields.copy()
            copy[key] = changed
            yield copy


def lines_with(value: bytes) -> Iterator[bytes]:
    """Yield each line with each of its fields replaced by a value, given as JSON."""
    for line in LINES:
        for changed in with_each_field_replaced(json.loads(line), "\ue000"):
            yield json.dumps(changed, ensure_ascii=False).encode().replace('"\ue000"'.encode(), value) + b"\n"


def read_everything(path: Path) -> int:
    """Read a recording as the screen, the summary and the report do; return the number of lines."""
    feed = feed_of(path)
    assert json.loads(b"".join(summary(feed.session)))
    for call in feed.session.calls:
        for place in filter(None, (call.started, call.ended)):
            assert all(isinstance(block_text(block), str) for block in feed.blocks(place))
    assert list(report(open_saved(path)).lines())
    return feed.session.lines.total


@pytest.mark.system
def test_deep_nesting_in_any_field_is_read(recording: Saver) -> None:
    """Every field of every line may be nested as deep as the parser allows."""
    for opening, inner, closing in [(b"[", b"", b"]"), (b'{"a":', b"1", b"}")]:
        for depth in DEPTHS:
            with case((opening, inner, depth)):
                lines = list(lines_with(opening * depth + inner + closing * depth))
                assert read_everything(recording(*lines[:3], init(), *lines)) == len(lines) + 4


def test_any_type_in_any_field_is_read(recording: Saver) -> None:
    """Every field of every line may have a value of any JSON type."""
    for value in VALUES:
        with case(value):
            lines = list(lines_with(value))
            assert read_everything(recording(*lines[:3], init(), *lines)) == len(lines) + 4


@pytest.mark.parametrize("name", ["type", "subtype"])
@pytest.mark.parametrize("before", [(), (init(),)], ids=["first line", "after the agent is known"])
def test_a_nested_type_is_unknown(name: str, before: tuple[bytes, ...]) -> None:
    """A type or subtype that is an object is named by its JSON type, however deep it is nested."""
    decoder = Decoder()
    for line in before:
        decoder.decode(line)
    line = event("weather", "update")
    nested = line.replace(
        {"type": b'"weather"', "subtype": b'"update"'}[name], b'{"a":' * 1_020 + b"1" + b"}" * 1_020
    )
    [found] = decoder.decode(nested)
    assert "an object" in getattr(found, "what", "") or (name, before) == ("subtype", ())


def test_values_are_shown_in_words() -> None:
    """A string is cut to 200 characters, an object is named, deep JSON is a message, and data has a size.
    Scalars stay, but not numbers of more than 64 bits.
    """
    cases: list[tuple[object, str]] = [
        ("weather", "weather"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        (7, "7"),
        (1.5, "1.5"),
        (True, "true"),
        (False, "false"),
        (None, "None"),
        ({"a": 1}, "an object"),
        ([], "an array"),
    ]
    for value, words in cases:
        with case(value):
            assert in_words(value) == words
    further: Any = 1
    for _ in range(100_000):
        further = [further]
    assert as_json(further) == "nested too deeply to be shown"
    assert scalars({"a": 1, "b": "x", "c": True, "d": 0.5, "e": [], "f": {}, "g": 1 << 70}) == {
        "a": 1,
        "b": "x",
        "c": True,
        "d": 0.5,
    }
    assert scalars([1]) is None
    others: list[tuple[str, int]] = [
        ("", 0),
        ("=", 0),
        ("AA==", 1),
        ("AAA=", 2),
        ("AAAA", 3),
        ("AAAAAA==", 4),
    ]
    for data, size in others:
        with case(data):
            assert decoded_size(data) == size


def test_numbers_are_possible_ones() -> None:
    """An impossible cost, share or time is unknown."""
    cases: list[tuple[object, float | None]] = [
        (0, 0.0),
        (2, 2.0),
        (0.5, 0.5),
        (-1, None),
        (1e9, None),
        (True, None),
        ("1", None),
        (float("nan"), None),
    ]
    for value, expected in cases:
        with case(value):
            assert cost(value) == expected
    assert [percent(share, 1) for share in (0, 0.29, 0.9996, 1.02, 10)] == [0, 29, 99.96, 102, 1000]
    wrong: list[object] = [True, -0.01, 10.1, float("nan"), float("inf"), "0.5", None, []]
    for share in wrong:
        with case(share):
            assert percent(share, 1) is None
    assert seconds_ms({"at": 1_789_846_800}, "at") == 1_789_846_800_000
    for at in (0, -1, 1 << 39, "soon", None, 1.5):
        with case(at):
            assert seconds_ms({"at": at}, "at") is None


def test_sums_and_differences_of_large_numbers_are_written(recording: Saver) -> None:
    """A duration between two times fits in 64 bits; a sum of tokens that does not is a float."""
    most = (1 << 53) - 1
    usage = {"inputTokens": most, "outputTokens": 1 << 53, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    for times in ((-most, most), (-(1 << 62), 1 << 62)):
        lines = started("read", at_ms=times[0], path="a"), completed("read", result={}, at_ms=times[1])
        written = json.loads(b"".join(summary(feed_of(recording(init(), *lines)).session)))
        assert written["calls"][0]["duration_ms"] in (2 * most, None)
    runs = [init() + result(usage=usage) for _ in range(2100)]
    written = json.loads(b"".join(summary(feed_of(recording(*runs)).session)))
    assert written["tokens"]["input"] == float(2100 * most)
    assert written["tokens"]["output"] is None
