"""Applies texts, retries, compactions and errors to a digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Retry,
    Text,
    TextEnded,
    TextRetracted,
)
from agentwatch.machine.digest.bounds import MOST_TEXT, line
from agentwatch.machine.digest.updates.runs import goes_on
from agentwatch.session.rules import retry_words

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.updates import Applier


def text(digest: Digest, event: Text, at_ms: int | None) -> None:
    """Keep the end of the main agent's answer."""
    digest.retry = ""
    if event.agent is not None:
        return
    goes_on(digest, at_ms)
    if event.channel is not Channel.ANSWER:
        digest.course.is_text_open = False
    else:
        before = digest.last_text if digest.course.is_text_open else ""
        digest.last_text = (before + event.text[-MOST_TEXT:])[-MOST_TEXT:]
        digest.course.is_text_open = True


def text_ended(digest: Digest, event: TextEnded, _at_ms: int | None) -> None:
    """Close the open text of the answer."""
    if event.agent is None and event.channel is Channel.ANSWER:
        digest.course.is_text_open = False


def text_retracted(digest: Digest, event: TextRetracted, _at_ms: int | None) -> None:
    """Remove the last text of the answer: what follows replaces it."""
    digest.course.is_text_open = False
    if event.characters > 0:
        digest.last_text = ""


def notice(digest: Digest, event: Notice, _at_ms: int | None) -> None:
    """Keep the last error: it may be why the turn ends."""
    if event.is_error:
        digest.course.last_error = line(event.message)


def retry(digest: Digest, event: Retry, _at_ms: int | None) -> None:
    """Note that the agent tries again. It does so until the next text, call or result."""
    digest.retry = retry_words(event, line(event.message))


def compaction(digest: Digest, event: Compaction, _at_ms: int | None) -> None:
    """Note that the conversation is being shortened, or was."""
    digest.is_compacting = not event.is_over


APPLIERS: dict[type[Event], Applier] = {
    Text: text,
    TextEnded: text_ended,
    TextRetracted: text_retracted,
    Notice: notice,
    Retry: retry,
    Compaction: compaction,
}
