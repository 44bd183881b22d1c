"""The feed of a large recording's preview: its first and last lines."""

from __future__ import annotations

from agentwatch.feed.feed import Feed
from agentwatch.recording import HeadTailReader, LineReader
from agentwatch.wire import Decoder, LineRole


def preview_reader(reader: LineReader) -> HeadTailReader:
    """Return a reader of the first and last lines of a recording, chosen by the format of its agent."""
    decoder = Decoder()
    return HeadTailReader(
        reader,
        starts_run=lambda line: decoder.role(line) is LineRole.START,
        is_call=lambda line: decoder.role(line) is LineRole.CALL,
    )


def preview_feed(reader: LineReader) -> Feed:
    """Return a feed whose session holds the first and last lines of a recording.

    The results of its runs are dropped: most of the text that they repeat was not read.
    """
    feed = Feed(preview_reader(reader))
    feed.advance()
    for run in feed.session.runs:
        run.forget_result()
    return feed
