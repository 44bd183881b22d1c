"""Applies lines to a digest."""

from __future__ import annotations

from agentwatch.events import Event, Prompt, TurnEnded, TurnStarted
from agentwatch.machine.digest.course import Course
from agentwatch.machine.digest.digest import Digest
from agentwatch.machine.digest.last_tests import LastTestsReader
from agentwatch.wire import Decoder
from agentwatch.wire.agent import Agent
from agentwatch.wire.agents import agent_named, agent_on_disk
from agentwatch.wire.found import OWN, Found

"""The agent of our own recordings, whose format is detected."""
MOST_LINES = 20_000
"""The most lines that one reading applies. A line takes 10 µs, and 1 MiB of real ones has up to 7,000."""
_BOUNDARIES = (TurnStarted, TurnEnded)


def format_of(found: Found) -> Agent | None:
    """Return the format of a session's lines; None if it is not decoded, or detected from the lines."""
    return None if found.agent == OWN else agent_on_disk(found.agent)


def digest_of(found: Found, agent: Agent | None) -> Digest:
    """Return the digest of a session of which no line was read: what its metadata say.

    Args:
        found: The session.
        agent: The format of its lines; None if it is unknown.
    """
    about = found.metadata
    return Digest(
        format="" if agent is None else agent.name,
        agent="" if found.agent == OWN else found.agent,
        session_id="" if found.agent == OWN else found.id,
        title=about.title,
        is_users_title=about.is_users_title,
        first_prompt=about.prompt,
        model=about.model or "",
        cwd=about.cwd or "",
        branch=about.branch or "",
        began_ms=about.began_ms,
        seen_ms=about.changed_ms,
        course=Course(has_line_times=agent is not None and agent.time_of is not None),
    )


def decoder_for(digest: Digest) -> Decoder:
    """Return a decoder of the format that a digest names, which detects the format if it names none."""
    return Decoder(agent_named(digest.format) if digest.format else None)


def is_boundary(event: Event) -> bool:
    """Return whether a turn of the main agent begins or ends with an event."""
    return isinstance(event, _BOUNDARIES) or (isinstance(event, Prompt) and event.agent is None)


def apply_lines(digest: Digest, decoder: Decoder, lines: list[bytes], at_ms: int | None = None) -> bool:
    """Apply lines to a digest, and return whether a turn begins or ends in them.

    Of more than 20,000 lines only the last are applied. If the format is not found in the first lines, the
    others are not searched for it.

    Args:
        digest: The digest.
        decoder: The decoder of the lines before.
        lines: The lines, with or without their line ends. Blank ones are skipped.
        at_ms: When they arrived; None if unknown.
    """
    has_boundary = False
    if len(lines) > MOST_LINES:
        digest.skip()
    tests = LastTestsReader(digest, decoder)
    for line in lines[-MOST_LINES:]:
        if not (digest.format or decoder.is_detecting):
            break
        if line.isspace() or not line:
            continue
        for events in decoder.decode_all(line):
            tests.collect(line, events)
            digest.apply(events, at_ms)
            has_boundary = has_boundary or any(map(is_boundary, events))
    tests.finish()
    return has_boundary
