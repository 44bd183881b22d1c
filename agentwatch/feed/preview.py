"""The feed of a large recording's preview: its first and last lines."""

from __future__ import annotations

from agentwatch.agents import Agent, Decoder, LineRole
from agentwatch.feed.feed import Feed
from agentwatch.recording.head_tail import HeadTailReader
from agentwatch.recording.lines import LineReader


def preview_reader(reader: LineReader, agent: Agent | None = None) -> HeadTailReader:
    """Return a reader of the first and last lines of a recording, chosen by the format of its agent."""
    decoder = Decoder(agent)
    return HeadTailReader(
        reader,
        starts_run=lambda line: decoder.role(line) is LineRole.START,
        is_call=lambda line: decoder.role(line) is LineRole.CALL,
    )


def preview_feed(reader: LineReader, agent: Agent | None = None) -> Feed:
    """Return a feed whose session holds the first and last lines of a recording.

    The results of its runs are dropped: most of the text that they repeat was not read.

    Args:
        reader: Reads the recording.
        agent: The agent that wrote the recording; None to detect it.
    """
    feed = Feed(preview_reader(reader, agent), agent=agent)
    feed.takes_agent_times = True  # as the feed of the whole recording, whose places must be the same
    feed.advance()
    for run in feed.session.runs:
        if run.turn_result is not None:
            run.turn_result.forget_text()
    return feed
