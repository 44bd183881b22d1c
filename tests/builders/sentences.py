"""Status sentences of sessions whose lines arrived at known times."""

from collections.abc import Iterable

from agentwatch.agents import Decoder
from agentwatch.analysis.status import status
from agentwatch.feed.feed import LineJoiner
from agentwatch.recording.lines import Line
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText
from tests.builders.lines import session, started

NOW = 1_000_000
BUSY = AgentFacts(4121, NOW, uses_cpu=True)
IDLE = AgentFacts(4121, NOW, uses_cpu=False)


def sentence(
    *lines: bytes,
    after_ms: int | None = 0,
    is_over: bool = False,
    agent: AgentFacts = NO_FACTS,
    width: int | None = None,
) -> SafeText:
    """Return the status `after_ms` milliseconds after all lines arrived at NOW; None: unknown time."""
    read = session(*lines, seen_ms=NOW, is_over=is_over)
    read.exit_code = agent.exit_code
    return status(read, None if after_ms is None else NOW + after_ms, agent, width)


def paced(pieces: Iterable[tuple[int, bytes]]) -> tuple[Session, int]:
    """Return a session whose lines arrived the given seconds apart, and the arrival time of the last."""
    decoder, read, now = Decoder(), Session(), NOW
    joiner = LineJoiner(decoder)
    for seconds, data in pieces:
        now += seconds * 1000
        for found in joiner.take(Line(0, data.removesuffix(b"\n"), now)):
            apply_line(read, *found)
    return read, now


def status_after(read: tuple[Session, int], after_s: int, agent: AgentFacts = NO_FACTS) -> str:
    """Return the status `after_s` seconds after the last line arrived."""
    return status(read[0], read[1] + after_s * 1000, agent)


def of_step(name: str, step: str = "m-1") -> bytes:
    """Return the start of a read that a model step asked for."""
    line = started("read", name, path=name)
    return line.replace(b'"call_id"', b'"model_call_id": "%s", "call_id"' % step.encode())
