"""Events about the model's texts."""

from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.events.vocabulary import Channel


class Text(NamedTuple):
    """New text, to be appended to its channel.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> texts = [event for event in events if isinstance(event, agentwatch.Text)]
        >>> texts[0].channel, texts[0].text
        (<Channel.ANSWER: 'answer'>, 'I look it up in the timetable. ')
    """

    channel: Channel
    text: str
    at_ms: int | None = None
    until_ms: int | None = None
    """The time of the last piece; None for a text that was written at once."""
    agent: str | None = None
    """The call_id of the call whose subagent wrote the text; None for the main agent."""
    times_ms: Sequence[int] = ()
    """The time of each line, if several lines were decoded at once."""


class TextEnded(NamedTuple):
    """The current block of text of a channel is complete.

    Example:
        >>> import agentwatch
        >>> events = (event for event, _ in agentwatch.read("recordings/connection.ndjson"))
        >>> next(event for event in events if isinstance(event, agentwatch.TextEnded)).channel
        <Channel.REASONING: 'reasoning'>
    """

    channel: Channel
    at_ms: int | None = None
    agent: str | None = None
    """The call_id of the call whose subagent wrote the text; None for the main agent."""


class TextRetracted(NamedTuple):
    """The last texts of the main agent's answer are no part of it: what follows replaces them.

    Example:
        >>> from agentwatch import TextRetracted
        >>> TextRetracted(characters=120).characters
        120
    """

    characters: int
    """The length of these texts together."""
