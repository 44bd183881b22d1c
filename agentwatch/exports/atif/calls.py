"""Writes the calls of a step and their results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from agentwatch.analysis.block_text import block_text
from agentwatch.blocks import BinaryBlock, Block, ContentBlock, FieldsBlock, TextBlock
from agentwatch.exports.atif.values import foreign_json, json_of, known, members, text_json
from agentwatch.feed import Feed
from agentwatch.recording import MOST_LINE_BYTES
from agentwatch.session import Call, Place
from agentwatch.wire.json_line import parse_joined
from agentwatch.wire.payloads import Payloads

_MOST_TEXTS = 10_000
_MOST_DECODED = 64 << 20
"""Bytes that are decoded of one line for the blocks of its calls, as it is decoded for each of them."""


class CallWriter:
    """Writes the calls of a session, whose lines it reads from the recording."""

    def __init__(self, feed: Feed, trajectories: Collection[int]) -> None:
        """Create a writer.

        Args:
            feed: The feed of the session.
            trajectories: The numbers of the calls whose subagents have trajectories of their own.
        """
        self._feed = feed
        self._trajectories = trajectories
        self._last: tuple[Place | None, Payloads | None] = None, None
        """The line that was read last: parallel calls may share one."""
        self._decoded = 0
        """The number of its bytes that were decoded for blocks."""

    def members(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the members of a step with these calls: its tool_calls, and its observation."""
        calls = self._feed.session.calls
        if not numbers:
            return
        names = _names(calls[number - 1].call_id for number in numbers)
        for at, number in enumerate(numbers):
            yield b',"tool_calls":[' if at == 0 else b","
            yield from self._call(calls[number - 1], next(names))
        yield b"]"
        names, lead = _names(calls[number - 1].call_id for number in numbers), b',"observation":{"results":['
        for number in numbers:
            call, name = calls[number - 1], next(names)
            if call.ended is not None:
                yield lead
                yield from self._result(call, name)
                lead = b","
        if lead == b",":
            yield b"]}"

    def _call(self, call: Call, name: str) -> Iterator[bytes]:
        extra = known(
            number=call.number,
            kind=call.kind,
            path=call.path,
            started_ms=call.started_ms,
            outcome=call.outcome if call.ended is None else None,
            subagent=trajectory_id(call.number) if self._has_subagent(call) and not call.ended else None,
        )
        yield b"{" + members({"tool_call_id": name, "function_name": call.tool or "unknown"})
        yield b',"arguments":' + self._arguments(call)
        yield b',"extra":' + json_of(extra) + b"}"

    def _result(self, call: Call, name: str) -> Iterator[bytes]:
        yield b"{" + members({"source_call_id": name})
        place = call.result_place
        if place is not None and (content := self._content(call, place)) is not None:
            yield b',"content":'
            yield from text_json((content,))
        if self._has_subagent(call):
            yield b"," + members({"subagent_trajectory_ref": [{"trajectory_id": trajectory_id(call.number)}]})
        extra = known(
            outcome=call.outcome,
            error=call.error,
            exit_code=call.exit_code,
            ended_ms=call.ended_ms,
            duration_ms=call.duration_ms,
            lines_added=call.lines_added,
            lines_removed=call.lines_removed,
        )
        yield b',"extra":' + json_of(extra) + b"}"

    def _has_subagent(self, call: Call) -> bool:
        return call.number in self._trajectories

    def _arguments(self, call: Call) -> bytes:
        """Return the arguments of a call as the stream sent them, as a JSON object."""
        place = call.arguments_place or call.result_place
        payloads = None if place is None else self._payloads(place)
        if place is None or payloads is None:
            return b"{}"
        if not payloads.names(call.call_id):
            return foreign_json(_shown(self._blocks(place, call)))
        value, is_named = payloads.arguments(call.call_id)
        if not is_named:
            value = payloads.request(call.call_id)
        elif isinstance(value, str):
            value = _object(value)
        return foreign_json(value if isinstance(value, dict) else {"input": value})

    def _content(self, call: Call, place: Place) -> str | None:
        """Return the text of a result: as the stream sent it, or else as the screen shows it.

        Returns:
            None if the line that ended the call has no result, such as that of an agent which does not write
            what its tools return.
        """
        payloads = self._payloads(place)
        if payloads is not None and payloads.names(call.call_id):
            value, is_named = payloads.result(call.call_id)
            if is_named and isinstance(value, str):
                return value
            if is_named and not any(isinstance(block, BinaryBlock) for block in self._blocks(place, call)):
                text = _text(value)
                return foreign_json(value).decode() if text is None else text
        return "\n".join(map(block_text, self._blocks(place, call))) or None

    def _blocks(self, place: Place, call: Call) -> list[Block]:
        """Return the blocks of a line for a call; none if too much of the line was decoded before."""
        self._payloads(place)
        self._decoded += place.length
        return [] if self._decoded > _MOST_DECODED else self._feed.blocks(place, call.call_id)

    def _payloads(self, place: Place) -> Payloads | None:
        """Return the payloads of a line; None of one that is over 16 MiB, or no JSON object."""
        last, payloads = self._last
        if last != place:
            payloads = None
            if place.length <= MOST_LINE_BYTES:
                try:
                    line = parse_joined(self._feed.line_at(place).split(b"\n"))
                except ValueError:
                    line = None
                payloads = Payloads(line) if isinstance(line, dict) else None
            self._last, self._decoded = (place, payloads), 0
        return payloads


def trajectory_id(number: int) -> str:
    """Return the id of the trajectory of the subagent of a call; 0 of a call that is not in the recording."""
    return f"subagent-of-call-{number}" if number else "subagents-of-unknown-calls"


def _names(call_ids: Iterator[str]) -> Iterator[str]:
    """Yield the ids of the calls of a step, each made unique within the step."""
    seen: set[str] = set()
    for at, call_id in enumerate(call_ids, 1):
        name = call_id or "call"
        if name in seen:
            name = f"{name}#{at}"
        seen.add(name)
        yield name


def _shown(blocks: Iterable[Block]) -> dict[str, object]:
    """Return the arguments that blocks show."""
    shown: dict[str, object] = {}
    for block in blocks:
        match block:
            case FieldsBlock():
                shown |= block.fields
            case TextBlock():
                shown[block.name] = block.text
            case ContentBlock():
                shown["content"] = block.text
    return shown


def _object(arguments: str) -> object:
    """Return arguments that were sent as a text of JSON; any other text unchanged."""
    try:
        value = parse_joined([arguments.encode("utf-8", "replace")])
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments


def _text(value: Any) -> str | None:
    """Return the text of a value that is nothing but text: a string, or the parts of a message."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and [name for name, inner in value.items() if inner] == ["content"]:
        value = value["content"]
    if not isinstance(value, list) or len(value) > _MOST_TEXTS:
        return None
    parts = [part for part in value if isinstance(part, dict) and part.get("type") == "text"]
    texts = [text for part in parts if isinstance(text := part.get("text"), str)]
    return "\n".join(texts) if texts and len(texts) == len(value) else None
