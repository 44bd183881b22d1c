"""Short lines are parsed at once, and the events are those of single lines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.decoder import LineBatches
from agentwatch.agents.registry import agent_named
from agentwatch.session.events import Channel, Text
from tests.builders.claude_lines import delta, events, init, line, result, say, written
from tests.conftest import case
from tests.harness.costs import takes_more

COUNT = line("system", "thinking_tokens", estimated_tokens=5, estimated_tokens_delta=5)


def batched(*lines: Any, first: bytes = b"") -> tuple[list[Any], int] | None:
    """Return the events of the batch that lines begin with, after an init line."""
    decoder = Decoder(agent_named("claude-code"))
    decoder.decode(written(init()))
    data = [each if isinstance(each, bytes) else written(each) for each in lines]
    return decoder.burst([first, *data] if first else data, 0)


class Lines:
    """A decoder that reads every line that contains an `x`, up to the first whose `x` is 0."""

    def may_batch(self, line: bytes) -> bool:
        """Return whether the line contains an `x`."""
        return b"x" in line

    def batch(self, lines: list[Any]) -> tuple[list[Any], int]:
        """Return no events."""
        return [], next((number for number, line in enumerate(lines) if line["x"] == 0), len(lines))


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


def test_other_lines_are_no_batch() -> None:
    """A single line, a long one, a list, and a line of another type are decoded by themselves."""
    cases: list[list[Any]] = [
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
    ]
    for lines in cases:
        with case(lines):
            assert batched(*lines) is None


GOOD, BAD, ODD = b'{"x":1}\n', b'{"x":"' + b"}\n", b'{"x":0}\n'


def lengths(batches: LineBatches, *batch: bytes, times: int = 1) -> list[int]:
    """Return the numbers of lines that are read at once; 0 if the first must be decoded by itself."""
    return [found[1] if (found := batches.events_at([*batch], 0)) else 0 for _ in range(times)]


def test_an_invalid_line_ends_a_batch() -> None:
    """The lines before an invalid one are parsed at once, and later batches become as long as before."""
    batches = LineBatches(Lines())
    assert lengths(batches, *[GOOD] * 100, BAD, *[GOOD] * 600) == [87]
    assert lengths(batches, *[GOOD] * 3000, times=4) == [174, 348, 696, 1024]
    assert lengths(batches, BAD, *[GOOD] * 600) == [0]


def test_a_line_of_another_type_ends_a_batch() -> None:
    """The lines before it are read at once. Many such lines are not parsed again from each line."""
    batches = LineBatches(Lines())
    assert lengths(batches, *[GOOD] * 100, ODD, *[GOOD] * 600) == [100]
    assert lengths(batches, *[GOOD] * 3000, times=4) == [200, 400, 800, 1024]
    assert lengths(batches, ODD, *[GOOD] * 600) == [0]
    assert lengths(batches, *[GOOD] * 3000) == [2]
    assert lengths(batches, GOOD, ODD) == [1]


def test_lines_that_are_valid_only_together_are_not_parsed_together() -> None:
    """Each line of a batch is an object by itself."""
    batches = LineBatches(Lines())
    assert lengths(batches, b'{"x":[{}\n', b'{"x":1}]}\n') == [0]
    assert lengths(batches, b'{"x":1},{"x":2}\n', b'{"x":3}\n') == [0]


@pytest.mark.costs
def test_odd_lines_cost_no_more_than_others() -> None:
    """A stream in which every second line is of another type takes less than 20 times as long as deltas."""

    def read(*pair: bytes) -> None:
        decoder, lines, index = Decoder(agent_named("claude-code")), [*pair] * 3000, 0
        decoder.decode(written(init()))
        while index < len(lines):
            found = decoder.burst(lines, index)
            if found is None:
                decoder.decode(lines[index])
            index += 1 if found is None else found[1]

    count, odd = written(COUNT), written(line("system", "informational", note={"thinking_tokens": 1}))
    assert not takes_more(partial(read, count, odd), 20, partial(read, count, count), 0.1)


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
