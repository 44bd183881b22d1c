"""The status of sessions whose lines came at known times."""

from __future__ import annotations

from collections.abc import Iterable

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.analysis.status import status
from agentwatch.feed.line_joiner import LineJoiner
from agentwatch.recording import Line
from agentwatch.safe_text import SafeText
from agentwatch.session import Session
from agentwatch.wire import Decoder
from tests.builders.lines import session, started

NOW = 1_000_000
BUSY = AgentFacts(4121, NOW, uses_cpu=True)
IDLE = AgentFacts(4121, NOW, uses_cpu=False)


def sentence(
    *lines: bytes,
    after_ms: int | None = 0,
    is_over: bool = False,
    agent: AgentFacts = NO_FACTS,
    room: int | None = None,
) -> SafeText:
    """Return the status when all lines came at NOW and so many milliseconds have passed since."""
    read = session(*lines, seen_ms=NOW, is_over=is_over)
    return status(read, None if after_ms is None else NOW + after_ms, agent, room)


def paced(pieces: Iterable[tuple[int, bytes]]) -> tuple[Session, int]:
    """Return a session whose lines came so many seconds after the one before, and when the last came."""
    decoder, read, now = Decoder(), Session(), NOW
    joiner = LineJoiner(decoder)
    for seconds, data in pieces:
        now += seconds * 1000
        for found in joiner.take(Line(0, data.removesuffix(b"\n"), now)):
            read.apply(*found)
    return read, now


def told(read: tuple[Session, int], after_s: int, agent: AgentFacts = NO_FACTS) -> str:
    """Return the status so many seconds after the last line came."""
    return status(read[0], read[1] + after_s * 1000, agent)


def of_step(name: str, step: str = "m-1") -> bytes:
    """Return the start of a read that a model step asked for."""
    line = started("read", name, path=name)
    return line.replace(b'"call_id"', b'"model_call_id": "%s", "call_id"' % step.encode())
