"""Sessions and events of lines that are given as objects, by the format of one agent."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentwatch.agents import Agent, Decoder
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Outcome
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

Line = Mapping[str, Any]
WRONG: tuple[object, ...] = (None, True, -1, 2**80, 1.5, "", "x", [], [[]], [None, 1, "y", {}], {}, {"a": {}})
"""Values of every type, as no field has them."""


def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def events_of(agent: Agent, *lines: Line) -> list[Event]:
    """Return the events of lines and of the end of the stream, by a decoder of the agent."""
    decoder = agent.decoder()
    return [*(event for line in lines for event in decoder.decode(line)), *decoder.end()]


def session_of(agent: Agent | None, *lines: Line, is_closed: bool = True) -> Session:
    """Return the session of lines; without an agent it is detected."""
    decoder, session = Decoder(agent), Session()
    if agent is not None:
        session.format, session.traits = agent.name, agent.traits
    undetected: list[list[Event]] = []
    for line in lines:
        undetected.append(decoder.decode(json.dumps(line).encode()))
        if not decoder.is_detecting:
            redecoded = decoder.take_redecoded()
            _apply(session, [*redecoded, *undetected[len(redecoded) :]])
            undetected.clear()
    _apply(session, undetected)
    if is_closed:
        apply_line(session, decoder.end(), Place(len(lines), 0, None), physical_lines=0)
        close_session(session)
    return session


def _apply(session: Session, events: Iterable[list[Event]]) -> None:
    for of_line in events:
        apply_line(session, of_line, Place(session.lines.total, 1, None))


def ids_in(session: Session) -> list[str]:
    """Return the ids of all calls, in order."""
    return [call.call_id for call in session.calls]


def outcomes(session: Session) -> dict[str, Outcome]:
    return {call.call_id: call.outcome for call in session.calls}
