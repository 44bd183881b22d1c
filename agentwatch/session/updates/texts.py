"""Applies the events of the model's texts to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Channel, Event, Text, TextEnded, TextRetracted
from agentwatch.session.call import Place
from agentwatch.session.updates.runs import current_run, parent_of

if TYPE_CHECKING:
    from agentwatch.session.session import Session
    from agentwatch.session.updates import Applier


def text(session: Session, event: Text, place: Place) -> None:
    """Append a text to the transcript, and to the answer of the run if the main agent wrote it."""
    run = current_run(session, place)
    parent = None if event.agent is None else parent_of(session, event.agent)
    entry = session.transcript.add_text(event.channel, event.text, event.at_ms, parent)
    session.retry = None
    if entry is None:
        return
    if event.until_ms is not None:
        entry.ended_ms = event.until_ms
    if event.channel is Channel.ANSWER and event.agent is None:
        run.answer.add(entry)


def text_ended(session: Session, event: TextEnded, _place: Place) -> None:
    """Close the open text of a channel."""
    parent = None if event.agent is None else parent_of(session, event.agent)
    session.transcript.end_text(event.channel, event.at_ms, parent)


def text_retracted(session: Session, event: TextRetracted, place: Place) -> None:
    """Remove the last texts from the answer of the run."""
    session.transcript.end_text(Channel.ANSWER, None)
    current_run(session, place).answer.retract(event.characters)
    session.transcript.note("the agent replaced the text above")


APPLIERS: dict[type[Event], Applier] = {Text: text, TextEnded: text_ended, TextRetracted: text_retracted}
