"""What a command printed, as far as its end is needed."""

from __future__ import annotations

from agentwatch.feed.feed import Feed
from agentwatch.session import Place

_MOST_PARSED = 1 << 20
"""Longer lines are not parsed: that takes 4 ms per MiB."""
_TAIL = 160 << 10
_ESCAPES = (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\u001b", "\x1b"), ("\\u001B", "\x1b"))


def output_tail(feed: Feed, place: Place, call_id: str) -> list[str]:
    """Return what a command printed: its stdout and its stderr.

    Of a line over 1 MiB only the last 160 KiB are read, and returned as one text. It contains the end of the
    output, and the strings that follow it in the line, each on lines of its own.

    Args:
        feed: Reads the recording.
        place: The line that ended the call.
        call_id: The id of the call.
    """
    from agentwatch.blocks import ContentBlock, OutputBlock

    if place.length > _MOST_PARSED:
        tail = feed.reader.line_at(place.offset + place.length - _TAIL, _TAIL)
        return [_strings(tail.decode("utf-8", "replace"))]
    return [
        block.text for block in feed.blocks(place, call_id) if isinstance(block, OutputBlock | ContentBlock)
    ]


def _strings(json_text: str) -> str:
    """Return the strings in a piece of JSON, without their escapes; each quote is a line end."""
    text = json_text.replace("\\\\", "\0")
    for escape, char in _ESCAPES:
        text = text.replace(escape, char)
    return text.replace('\\"', "\1").replace('"', "\n").replace("\1", '"').replace("\0", "\\")
