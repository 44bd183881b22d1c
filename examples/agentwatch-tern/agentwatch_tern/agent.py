"""The stream of the agent Tern: one JSON object per line, with an event in `ev`."""

from collections.abc import Mapping
from typing import Any

from agentwatch.agents import Agent, LineRole
from agentwatch.session.blocks import FieldsBlock
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Traits,
    TurnEnded,
    Unknown,
)

Fields = Mapping[str, Any]


class TernDecoder:
    """Decodes the lines of one recording, in order."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line; every field may be absent or of any type."""
        match fields.get("ev"):
            case "hello":
                return [RunStarted("tern", model=text(fields, "model"), cwd=text(fields, "cwd"))]
            case "ask":
                return [Prompt(text(fields, "text") or "")]
            case "say":
                return [Text(Channel.ANSWER, text(fields, "text") or "")]
            case "run":
                return [self.started(fields)]
            case "ran":
                return [self.ended(fields)]
            case "bye":
                return [TurnEnded(Outcome.SUCCEEDED if fields.get("ok") is True else Outcome.FAILED)]
        return [Unknown(f"event {text(fields, 'ev')}")]

    def started(self, fields: Fields) -> ToolStarted:
        """Return the start of a command."""
        call_id, command = text(fields, "id") or "", text(fields, "cmd")
        return ToolStarted(call_id, None, "run", ToolKind.EXECUTE, "Ran terminal command", command)

    def ended(self, fields: Fields) -> ToolEnded:
        """Return the end of a command."""
        code = fields.get("code") if type(fields.get("code")) is int else None
        outcome = Outcome.FAILED if code else Outcome.SUCCEEDED if code == 0 else Outcome.RETURNED
        call_id = text(fields, "id") or ""
        error = f"exit {code}" if code else None
        return ToolEnded(
            call_id,
            None,
            "run",
            ToolKind.EXECUTE,
            outcome,
            "Ran terminal command",
            error=error,
            exit_code=code,
        )

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream."""
        return []


def text(fields: Fields, key: str) -> str | None:
    """Return a field that is a text; None if it is not."""
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def recognises(fields: Fields) -> bool:
    """Return whether only Tern can have written a line."""
    return fields.get("tern") == 1 and isinstance(fields.get("ev"), str)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    roles = {"hello": LineRole.START, "ask": LineRole.START, "run": LineRole.CALL, "ran": LineRole.CALL}
    return roles.get(text(fields, "ev") or "", LineRole.OTHER)


AGENT = Agent(
    name="tern",
    recognises=recognises,
    role=role,
    decoder=TernDecoder,
    blocks=lambda fields, _call_id: [
        FieldsBlock("result" if "code" in fields else "arguments", dict(fields))
    ],
    traits=Traits(has_times=False),
)
