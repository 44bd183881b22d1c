"""The formats of Mistral Vibe."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, items, mapping, number
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

FORMAT, JOURNAL_FORMAT = "vibe", "vibe-journal"
RECORD = "recovery_journal_record_version"
"""A member of each line of a journal."""


def role(fields: Fields) -> LineRole:
    if fields.get("type") == "effect":
        return LineRole.CALL
    return LineRole.START if fields.get("role") == "user" else LineRole.OTHER


def changes(fields: Fields) -> list[Fields]:
    """Return the changes in a line of a journal: of an entry, of the session's state, or of its facts."""
    return [mapping(each) for each in items(mapping(fields.get("payload")).get("delta"))]


def role_of_record(fields: Fields) -> LineRole:
    roles = [role(mapping(each.get("entry"))) for each in changes(fields)]
    return next((each for each in (LineRole.CALL, LineRole.START) if each in roles), LineRole.OTHER)


def time_of(fields: Fields) -> int | None:
    """Return the time of a line of a journal: that of its last change."""
    found = ((each.get("entry"), mapping(each.get("state")).get("session")) for each in changes(fields))
    times = (number(mapping(each), "updatedAt") for pair in found for each in pair)
    return next((at_ms for at_ms in times if at_ms is not None), None)


AGENT = Agent(
    name=FORMAT,
    recognises=lambda fields: "generationStatus" in fields and isinstance(fields.get("type"), str),
    role=role,
    decoder=on_first_use("agentwatch.agents.vibe.entries:VibeDecoder"),
    blocks=on_first_use("agentwatch.agents.vibe.entries:entry_blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_exit_codes=False),
)
JOURNAL = Agent(
    name=JOURNAL_FORMAT,
    agent="vibe",
    recognises=lambda fields: RECORD in fields,
    role=role_of_record,
    decoder=on_first_use("agentwatch.agents.vibe.entries:JournalDecoder"),
    blocks=on_first_use("agentwatch.agents.vibe.entries:record_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""The journals in `~/.vibe/logs/session/unified`."""
FORMATS = (AGENT, JOURNAL)
