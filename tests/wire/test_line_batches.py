"""Short lines are parsed at once, and the events are those of single lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentwatch.events import Channel, Text
from agentwatch.wire import Decoder
from agentwatch.wire.agents import agent_named
from agentwatch.wire.line_batches import LineBatches
from tests.builders.claude_lines import delta, events, init, line, result, say, written

COUNT = line("system", "thinking_tokens", estimated_tokens=5, estimated_tokens_delta=5)


def batched(*lines: Any, first: bytes = b"") -> tuple[list[Any], int] | None:
    """Return the events of the batch that lines begin with, after an init line."""
    decoder = Decoder(agent_named("claude-code"))
    decoder.decode(written(init()))
    data = [each if isinstance(each, bytes) else written(each) for each in lines]
    return decoder.burst([first, *data] if first else data, 0)


class Lines:
    """A decoder that reads every line that contains an `x`."""

    def may_batch(self, line: bytes) -> bool:
        """Return whether the line contains an `x`."""
        return b"x" in line

    def batch(self, lines: list[Any]) -> list[Any] | None:
        """Return no events."""
        return [] if lines else None


def test_deltas_are_joined() -> None:
    """Consecutive texts of a channel are one text; counts of tokens and arguments are skipped."""
    found = batched(
        delta("I ", "thinking"),
        COUNT,
        delta("see", "thinking"),
        delta("{", "partial_json"),
        delta("Done"),
        delta("."),
        delta("not mine", parent_tool_use_id="t-1"),
        result(),
    )
    assert found == ([Text(Channel.REASONING, "I see"), Text(Channel.ANSWER, "Done.")], 7)


@pytest.mark.parametrize(
    "lines",
    [
        [delta("a")],
        [delta("a"), result()],
        [say('"content_block_delta"'), say('"content_block_delta"')],
        [line("system", "x", note={"thinking_tokens": 1}), COUNT],
        [line("stream_event", event={"type": {"content_block_delta": 1}}), COUNT],
        [line("stream_event", event="x", note={"thinking_tokens": 1}), COUNT],
        [delta("a" * 5000), COUNT],
        [b'{"thinking_tokens" 5}\n', COUNT],
        [b'["thinking_tokens"]\n', COUNT],
        [b'{"thinking_tokens":5}', COUNT],
    ],
)
def test_other_lines_are_no_batch(lines: list[Any]) -> None:
    """A single line, a long one, a list, and a line of another type are decoded by themselves."""
    assert batched(*lines) is None


def test_an_invalid_line_ends_a_batch() -> None:
    """The lines before an invalid one are parsed at once, and later batches are as long as before."""
    batches = LineBatches(Lines())
    bad = b'{"x":"' + b"}\n"
    good = [b'{"x":1}\n'] * 600
    assert batches.batch_at([*good[:100], bad, *good], 0) == [{"x": 1}] * 87
    assert [len(batches.batch_at(good * 3, 0) or ()) for _ in range(4)] == [174, 348, 696, 1024]
    assert batches.batch_at([bad, *good], 0) is None


def test_lines_that_are_valid_only_together_are_not_parsed_together() -> None:
    """Each line of a batch is an object by itself."""
    batches = LineBatches(Lines())
    assert batches.batch_at([b'{"x":[{}\n', b'{"x":1}]}\n'], 0) is None
    assert batches.batch_at([b'{"x":1},{"x":2}\n', b'{"x":3}\n'], 0) is None


def test_a_stream_that_begins_with_deltas_is_read_line_by_line() -> None:
    """Before a turn has started, and while the agent is not decided, each line is decoded by itself."""
    for agent in ("claude-code", "claude-family"):
        decoder = Decoder(agent_named(agent))
        assert decoder.burst([written(delta("a")), written(delta("b"))], 0) is None
    assert [event.text for event in events(delta("a"), delta("b")) if isinstance(event, Text)] == ["a", "b"]


def test_a_file_of_deltas_has_the_text_of_its_lines(recording: Any, opened_session: Any) -> None:
    """A recording that is opened as a file has the text that its lines give one by one."""
    words = [f"{number} 🌊 " for number in range(3000)]
    path: Path = recording(written(init(), *map(delta, words), say("".join(words)), result(words[-1])))
    read = opened_session(path)
    assert read.text == "".join(words)
    assert (read.lines.total, read.lines.malformed, read.lines.unknown) == (3003, 0, 0)
