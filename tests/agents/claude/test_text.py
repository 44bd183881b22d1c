"""Text is neither doubled nor lost, however its blocks arrive."""

from __future__ import annotations

import pytest

from agentwatch.session.events import Channel, Text, TextEnded, TextRetracted, ToolStarted
from agentwatch.session.transcript import Kind
from tests.builders.claude_lines import (
    Json,
    answer,
    assistant,
    call,
    delta,
    events,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

ANSWER, REASONING = Channel.ANSWER, Channel.REASONING
START = line("stream_event", event={"type": "message_start", "message": {"id": "msg_1"}})
STOP = line("stream_event", event={"type": "content_block_stop", "index": 0})


def text_of(*lines: Json) -> str:
    """Return the text of a session of Claude Code."""
    return session(written(init(), *lines)).text


def think(words: str, **fields: object) -> Json:
    """Return a full block of reasoning."""
    return assistant({"type": "thinking", "thinking": words, "signature": "x"}, **fields)


def test_a_full_block_repeats_its_deltas() -> None:
    """The text of a block that came as deltas is there once: the block may come before or after its stop."""
    assert (
        text_of(START, delta("On"), delta("e"), say("One"), STOP, delta("Two"), STOP, say("Two")) == "OneTwo"
    )
    assert events(delta("One"), say("One"))[-1] == TextEnded(ANSWER)


def test_a_full_block_replaces_other_deltas() -> None:
    """A full block that differs from its deltas is the text; one that is empty removes them."""
    assert text_of(say("Zero"), delta("Onr"), say("One")) == "ZeroOne"
    assert text_of(say("Zero"), delta("One"), say("")) == "Zero"
    assert TextRetracted(3) in events(delta("Onr"), say("One"))


def test_a_message_that_was_broken_off_is_repeated() -> None:
    """The deltas of a message without a full block are no part of the text once another message starts."""
    assert text_of(START, delta("Half of"), START, delta("All"), say("All")) == "All"
    assert text_of(START, delta("Half of")) == "Half of"


def test_reasoning_keeps_its_deltas() -> None:
    """A full block of reasoning ends its deltas even if it is empty, and is shown if no deltas came."""
    assert events(delta("Hm", "thinking"), think(""))[-2:] == [Text(REASONING, "Hm"), TextEnded(REASONING)]
    assert events(think("Hm"))[-2:] == [Text(REASONING, "Hm"), TextEnded(REASONING)]
    assert not [event for event in events(think("")) if isinstance(event, Text)]


def test_blocks_of_one_message_come_in_lines_of_their_own() -> None:
    """Reasoning, text and calls of a message are separate lines, and calls of a message share a group."""
    found = events(
        think("Hm"), say("I look."), call("Read", "t-1", file_path="/a"), call("Bash", "t-2", command="ls")
    )
    kinds = [type(event) for event in found if isinstance(event, Text | ToolStarted)]
    assert kinds == [Text, Text, ToolStarted, ToolStarted]
    assert {event.group for event in found if isinstance(event, ToolStarted)} == {"msg_1"}


def test_a_line_may_have_several_calls() -> None:
    """Each block of a line is read."""
    uses = [
        {"type": "tool_use", "id": f"t-{n}", "name": "Read", "input": {"file_path": "/a"}} for n in (1, 2)
    ]
    found = events(assistant({"type": "text", "text": "I read."}, *uses))
    assert [event.call_id for event in found if isinstance(event, ToolStarted)] == ["t-1", "t-2"]


def test_tools_of_the_server_are_calls() -> None:
    """A search that the model's provider makes starts and ends in messages of the agent."""
    use = {"type": "server_tool_use", "id": "s-1", "name": "web_search", "input": {"query": "tide"}}
    found = session(
        written(init(), assistant(use), assistant({"type": "web_search_tool_result", "tool_use_id": "s-1"}))
    )
    assert [(call.tool, call.target, call.outcome) for call in found.calls] == [
        ("web_search", "web_search tide", "succeeded")
    ]


def test_texts_of_subagents_are_not_the_answer() -> None:
    """A subagent's text and prompt belong to its call. Its deltas are left out: the full block follows."""
    inner = {"parent_tool_use_id": "t-1"}
    lines = (call("Task", description="Look"), user("Look there.", **inner), delta("I s", **inner))
    more = (say("I see.", **inner), think("Hm", **inner), think("", **inner), say("Done."))
    found = session(written(init(), *lines, *more, answer("ok"), result("Done.")))
    assert found.text == "Done."
    shown = [(entry.kind, entry.text, entry.parent) for entry in found.transcript if entry.parent]
    assert shown == [(Kind.PROMPT, "Look there.", 1), (Kind.ANSWER, "I see.", 1), (Kind.REASONING, "Hm", 1)]
    assert found.run.turns == 1


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_refused_message_is_replaced(is_partial: bool) -> None:
    """Messages that another one supersedes, or that a fallback retracts, are no part of the text."""
    first = [delta("No"), say("No", uuid="u-9")] if is_partial else [say("No", uuid="u-9")]
    fallback = line(
        "system", "model_refusal_fallback", retracted_message_uuids=["u-9"], message="Another model."
    )
    assert text_of(say("So: ", uuid="u-8"), *first, say("Yes", supersedes=["u-9"])) == "So: Yes"
    assert text_of(say("So: ", uuid="u-8"), *first, fallback, say("Yes", uuid="u-10")) == "So: Yes"
    assert text_of(say("So: ", uuid="u-8"), say("Yes", supersedes=["u-77"], uuid="u-9")) == "So: Yes"


def test_at_most_256_messages_can_be_retracted() -> None:
    """The oldest lines of a turn are forgotten: a refusal retracts the newest."""
    many = [say(str(number), uuid=f"u-{number}") for number in range(300)]
    assert text_of(*many, say("!", supersedes=["u-299"])).endswith("298!")
    assert text_of(*many, say("!", supersedes=["u-0"])).endswith("299!")


def test_a_message_may_be_one_string() -> None:
    """The content of a message is a list of blocks, or one text."""
    assert text_of(line("assistant", message={"role": "assistant", "content": "Hm"})) == "Hm"


def test_blocks_and_deltas_of_other_types_have_no_text() -> None:
    """A block that is neither text nor a call, and a delta that is not an object, are passed over."""
    block = {"type": "redacted_thinking", "data": "x"}
    assert text_of(assistant(block, {"type": "text", "text": "Yes"}), assistant(block)) == "Yes"
    odd = line("stream_event", event={"type": "content_block_delta", "index": 0, "delta": "Hm"})
    assert text_of(START, odd) == ""


@pytest.mark.parametrize("stamp", ["2026-11-20T14:03:07.250Z", "2026-11-20T15:03:07.250+01:00"])
def test_lines_have_the_agents_time(stamp: str) -> None:
    """The time of a line is that of its ISO timestamp with a time zone."""
    assert events(answer("x", timestamp=stamp))[-1].at_ms == 1_795_183_387_250


def test_other_times_are_unknown() -> None:
    """A timestamp in another form, or without a time zone, is no time."""
    cases: list[object] = [None, 5, "", "soon", "2026-11-20T14:03:07", "x" * 99, "0001-01-01T00:00:00+23:00"]
    for stamp in cases:
        with case(stamp):
            assert events(answer("x", timestamp=stamp))[-1].at_ms is None
