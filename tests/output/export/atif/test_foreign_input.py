"""Foreign input is data: no text, number or nesting makes a trajectory invalid, or slow to write."""

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory

from agentwatch.output.export import atif
from agentwatch.output.export.atif import EXPORTER
from tests.builders import claude_lines as claude
from tests.builders.exports.opened import RAW, written
from tests.builders.lines import CWD, completed, final, init, line, result, started, user
from tests.output.export.atif.trajectories import Json, calls, of_lines


def of_raw(tmp_path: Path, *lines: bytes) -> Json:
    """Return the trajectory of lines, which the models accept, as a program reads it."""
    found = of_lines(tmp_path, *lines)
    Trajectory.model_validate_json(written(EXPORTER, tmp_path / "session.ndjson", RAW))
    return found


def test_what_no_reader_accepts_is_left_out(tmp_path: Path) -> None:
    """Values over 100 levels deep, NaN and integers over 64 bits do not make the file invalid."""
    # A half pair becomes U+FFFD in texts, arguments, keys and results; two halves become one character.
    half = b'{"path":"\\ud83d","\\udc00":1}'
    found = of_raw(
        tmp_path,
        init(),
        user("Go \\ud83d").replace(b"\\\\u", b"\\u"),
        started("read", path="x").replace(b'{"path": "x"}', half),
        completed("read", result={"success": {"content": "\ud83d"}}),
        final("\\ud83d\\ude00 \\ud83d").replace(b"\\\\u", b"\\u"),
    )
    assert found["steps"][0]["message"] == "Go \ufffd"
    [call] = calls(found)
    assert call["arguments"] == {"path": "\ufffd", "\ufffd": 1}
    assert "\ufffd" in call["result"]["content"]
    assert found["steps"][-1]["message"] == "\U0001f600 \ufffd"
    # A long text is written in pieces, each of which may end in half a pair.
    pieces = "a\ud83d", "\ude00b", "\ud83d", "", "x", "\ud83d"
    assert json.loads(b"".join(atif.text_json(pieces))) == "a\U0001f600b\ufffdx\ufffd"
    deep = "[" * 300 + "]" * 300
    text = f'{{"a": {deep}, "nan": NaN, "big": {1 << 70}, "ok": [1, "two"]}}'
    line_of_it = started("read", path="x").replace(b'{"path": "x"}', text.encode())
    found = of_raw(tmp_path, init(), line_of_it, completed("read", result={"success": {}}))
    arguments = calls(found)[0]["arguments"]
    assert (arguments["nan"], arguments["ok"]) == (None, [1, "two"])
    assert "nested too deeply to be written" in json.dumps(arguments["a"])
    assert arguments["big"] in (1 << 70, str(1 << 70))
    # A time after the year 9999 is no ISO time.
    far, near = started("read", "c-1", at_ms=1 << 60), started("read", "c-2", at_ms=1793610846815)
    lines = init(), far, completed("read", "c-1", {"success": {}}), near
    first, second = of_raw(tmp_path, *lines)["steps"]
    assert "timestamp" not in first
    assert second["timestamp"] == "2026-11-02T09:14:06.815Z"
    # The result of a line over 16 MiB is its size and its place.
    large = completed("read", result={"success": {"content": "x" * (17 << 20)}})
    [call] = calls(of_raw(tmp_path, init(), started("read", path="a"), large, result()))
    assert "bytes, starting at byte" in call["result"]["content"]


def test_fields_of_other_types_are_kept_valid(tmp_path: Path) -> None:
    """Arguments that are not an object are an `input`; a text of JSON is the object that it has."""
    for given, kept in (
        ([1, 2], {"input": [1, 2]}),
        ("words", {"input": "words"}),
        ('{"cmd": "ls"}', {"cmd": "ls"}),
        ("[1]", {"input": "[1]"}),
        (7, {"input": 7}),
    ):
        call = claude.assistant({"type": "tool_use", "id": "t-1", "name": "Bash", "input": given})
        found = of_raw(tmp_path, claude.written(claude.init(), call, claude.answer("ok")))
        assert calls(found)[0]["arguments"] == kept
    # A result of text parts is their text. The data of a picture is left out. The format requires a step.
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4000}}
    text = {"type": "text", "text": "One."}
    for content, shown in (
        ([text, {"type": "text", "text": "Two."}], "One.\nTwo."),
        ([text, {"type": "resource", "uri": "x"}], None),
        ([text, picture], None),
    ):
        lines = claude.init(), claude.call("Bash"), claude.answer(content)
        found = calls(of_raw(tmp_path, claude.written(*lines)))[0]["result"]["content"]
        assert shown is None or found == shown
        assert "One." in found
        assert "AAAA" not in found
    assert [step["source"] for step in of_raw(tmp_path, init())["steps"]] == ["system"]
    # An agent may not write what its tools return: the call has ended, and has no content. The agent's facts
    # are where the format has a place for them; unknown ones are not invented.
    said = {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."}]}}
    asks = {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nGo\n</user_query>"}]},
    }
    use = {
        "role": "assistant",
        "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}]},
    }
    found = of_raw(tmp_path, *map(line, (asks, said, use, said)))
    [call] = calls(found)
    assert call["arguments"] == {"command": "ls"}
    assert call["result"] is None or "content" not in call["result"]
    found = of_raw(tmp_path, init(), user(), result("Done.", usage={"inputTokens": 10, "outputTokens": 2}))
    assert found["session_id"] == "s-1"
    assert found["agent"] == {
        "name": "cursor-cli",
        "version": "unknown",
        "model_name": "Auto",
        "extra": {"cwd": CWD, "permission_mode": "default"},
    }
    assert found["final_metrics"]["total_prompt_tokens"] == 10
    assert (found["notes"], found["extra"]["outcome"]) == ("not redacted", "succeeded")
    # An agent may write several calls in one line without ids: each has its own arguments.
    uses = [{"type": "tool_use", "name": "Shell", "input": {"command": words}} for words in ("ls", "pwd")]
    found = of_raw(tmp_path, line(asks), line({"role": "assistant", "message": {"content": uses}}))
    assert [call["arguments"] for call in calls(found)] == [{"command": "ls"}, {"command": "pwd"}]


def test_a_line_of_many_calls_is_read_for_some_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line with hundreds of results is decoded for some of them only, and each has its own."""
    monkeypatch.setattr(atif, "_MOST_DECODED", 1 << 20)
    count = 300
    blocks = [
        {"type": "tool_use", "id": f"t-{at}", "name": "Bash", "input": {"at": at}} for at in range(count)
    ]
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": f"t-{at}", "content": [{"type": "text", "text": f"{at}"}]}
        for at in range(count)
    ]
    ended = claude.line("user", message={"role": "user", "content": results}, parent_tool_use_id=None)
    found = calls(of_raw(tmp_path, claude.written(claude.init(), claude.assistant(*blocks), ended)))
    assert [call["arguments"] for call in found] == [{"at": at} for at in range(count)]
    assert [call["result"]["content"] for call in found] == [f"{at}" for at in range(count)]
