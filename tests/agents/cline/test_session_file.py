"""The session files of Cline: one JSON document, whose messages are read as lines."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.cline.agent import SESSION
from agentwatch.agents.cline.documents import Documents
from agentwatch.agents.cline.program import PROGRAM
from agentwatch.agents.cline.stream import ClineSessionDecoder, entry_blocks
from agentwatch.session.blocks import ErrorBlock, FieldsBlock, OutputBlock
from agentwatch.session.events import (
    Event,
    Outcome,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
)
from tests.builders.captures import OWN
from tests.conftest import case

Json = dict[str, Any]
FACTS: Json = {"sessionId": "s", "agent": "lead", "origin": {"version": "3.0.65"}}


def message(role: str, *content: Json, key: str = "m", **fields: Any) -> Json:
    return {"id": key, "role": role, "content": list(content), "ts": 1000, **fields}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


USE: Json = {"type": "tool_use", "id": "c", "name": "run_commands", "input": {"commands": ["ls"]}}


def returned(content: Any, **fields: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": "c", "name": "run_commands", "content": content, **fields}


def decoded(*lines: Json) -> list[Event]:
    decoder = ClineSessionDecoder()
    return [event for line in lines for event in decoder.decode(line)] + decoder.end()


def test_its_lines_are_recognised() -> None:
    """The facts name the agent of the session, and a message has its time as a number."""
    for line, is_own, role in (
        (FACTS, True, LineRole.START),
        (message("user", text("x")), True, LineRole.START),
        (message("assistant", text("x")), True, LineRole.OTHER),
        (message("assistant", USE), True, LineRole.CALL),
        (message("user", returned("x")), True, LineRole.CALL),
        ({"sessionId": "s", "origin": {}}, False, LineRole.START),
        ({"role": "user", "content": [], "ts": "x"}, False, LineRole.START),
        ({"role": "user", "content": "x", "ts": 7}, False, LineRole.START),
    ):
        with case(line):
            assert (SESSION.recognises(line), SESSION.role(line)) == (is_own, role)
    assert SESSION.time_of is not None
    assert SESSION.time_of(message("user")) == 1000


def test_a_turn_is_read() -> None:
    """It has the user's own words, its calls, its tokens and its end."""
    metrics = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 5}
    answer = message("assistant", text("I do."), USE, key="a", metrics=metrics, modelInfo={"id": "m"})
    found = decoded(
        FACTS,
        message("user", text('<user_input mode="act">Run ls.</user_input>')),
        answer,
        message("user", returned([{"result": "a", "success": True}]), key="r"),
        message(
            "assistant", {"type": "thinking", "thinking": "Hm"}, text("Done."), key="d", modelInfo={"id": "m"}
        ),
    )
    assert found[:3] == [
        RunStarted("cline-session", "s", agent_version="3.0.65"),
        Prompt("Run ls."),
        RunInfo(model="m"),
    ]
    assert [each.text for each in found if isinstance(each, Text)] == ["I do.", "Hm", "Done."]
    assert [each.target for each in found if isinstance(each, ToolStarted)] == ["ls"]
    assert [each.outcome for each in found if isinstance(each, ToolEnded)] == [Outcome.SUCCEEDED]
    [usage] = [each for each in found if isinstance(each, Usage)]
    assert (usage.tokens.input, usage.request) == (10, "a")
    assert found[-1] == TurnEnded(Outcome.SUCCEEDED)


def test_a_message_may_grow() -> None:
    """Of a message that is written again, only what is new is read; without an id it is a new one."""
    first, whole = message("assistant", text("I do.")), message("assistant", text("I do."), USE)
    assert len([each for each in decoded(first, whole, whole) if isinstance(each, Text | ToolStarted)]) == 2
    assert len(decoded(*[message("user", text("x"), key="")] * 2)) == 2


def test_an_error_ends_the_turn() -> None:
    """An answer that only shows an error is one."""
    shown = {"displayRole": "error"}
    assert decoded(message("assistant", text("400"), metadata=shown)) == [TurnEnded(Outcome.FAILED, "400")]
    assert decoded(message("assistant", metadata=shown)) == [TurnEnded(Outcome.FAILED)]


def test_other_lines_are_read() -> None:
    """A part of a new type is counted; a change of the facts says nothing."""
    assert decoded({"$set": {}}, {"$rewindTo": "m"}) == []
    assert decoded({"role": "critic"}) == [Unknown("role critic")]
    assert decoded(message("user", {"type": "image"}, {"type": "new"}, text(""))) == [Unknown("content new")]


def test_the_document_is_followed(tmp_path: Path) -> None:
    """A message that is added is a line more; the prompts of the vendor are none."""
    source = next(OWN.glob("real/cline-3.0.65/sessions/sessions/*/1795995555898*.messages.json"))
    path = Path(shutil.copyfile(source, tmp_path / source.name))
    store = PROGRAM.stores[0](path, b"{")
    assert store is not None
    document = json.loads(path.read_text())
    lines = [json.loads(line) for line in store.new_lines()]
    assert len(lines) == len(document["messages"]) + 1
    assert "system_prompt" not in lines[0]
    document["messages"].append(message("user", text("More.")))
    document["updated_at"] = "later"
    path.write_text(json.dumps(document))
    os.utime(path, (1, 1))
    assert [json.loads(line)["id"] for line in store.new_lines()] == ["m"]
    assert PROGRAM.stores[0](path, b"") is None
    assert PROGRAM.stores[0](tmp_path / "x.json", b"{") is None


def test_a_subagent_is_read_with_its_session(tmp_path: Path) -> None:
    """Its lines are joined to those of its session by their times, unless the session is read alone."""
    source = next(OWN.glob("real/cline-3.0.65/sessions/sessions/1795995646302*"))
    folder = Path(shutil.copytree(source, tmp_path / source.name, copy_function=shutil.copyfile))
    path = folder / f"{folder.name}.messages.json"
    for is_alone, expected in ((False, [None, "agent_1795995646839_bi2m5l"]), (True, [None])):
        store = Documents(path)
        if is_alone:
            store.leave_out_subagents()
        lines = [json.loads(line) for line in store.new_lines()]
        store.close()
        found = decoded(*lines)
        parents = [each.parent_call for each in found if isinstance(each, ToolStarted)]
        assert parents == expected
        times = [line["ts"] for line in lines if "ts" in line]
        assert times == sorted(times)
        assert [type(each) for each in found].count(TurnEnded) == 1
    # A document that says nothing has no line, and one that is not complete is left out until it is.
    nested = "[" * 990 + "]" * 990
    for content in ('{"messages": []}', f'{{"messages": [], "id": {nested}}}', "{"):
        with case(content[:20]):
            next(folder.glob("agent_*")).write_text(content)
            read = Documents(path).new_lines()
            assert not [line for line in read if b"joinedSubagent" in line]
    # A link is left out.
    subagent = next(folder.glob("agent_*"))
    subagent.unlink()
    subagent.symlink_to(next(source.glob("agent_*")).absolute())
    assert not [line for line in Documents(path).new_lines() if b"joinedSubagent" in line]


def test_the_detail_of_a_call() -> None:
    """A start has its arguments, an end its output and why it failed; another call has none."""
    assert [*entry_blocks(message("assistant", USE), "c")] == [FieldsBlock("arguments", {"commands": ["ls"]})]
    failed = returned([{"result": "x", "error": "Command exited with code 4", "success": False}])
    blocks = [*entry_blocks(message("user", failed), "c")]
    assert blocks == [ErrorBlock("exit 4"), OutputBlock("stdout", "x")]
    assert [*entry_blocks(message("user", failed, USE, text("x")), "other")] == []
