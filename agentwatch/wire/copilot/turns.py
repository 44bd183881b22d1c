"""Finds where a turn of Copilot's main agent ends.

`assistant.turn_start` and `assistant.turn_end` are one step of the model. On disk, a turn has ended well when
such a step ends whose message requested no call. The stream has passing events, which are not on disk, and a
result line, which ends its turn.
"""

from __future__ import annotations

from agentwatch.events import Event, Outcome, RunInfo, TurnEnded, TurnStarted
from agentwatch.wire.fields import Fields, items, mapping, number, text


class Turns:
    """The state of the present turn."""

    def __init__(self) -> None:
        self.is_open = False
        """Whether a turn has started and not ended."""
        self._has_answered = False
        """Whether the last message of this step requested no call."""
        self._has_begun = False
        """Whether a turn has ever started."""
        self._is_stream = False
        self._failed = False
        """Whether the turn has ended with an error or an interruption."""

    def begin(self) -> None:
        """Begin a turn, or the next step of one. A step after an error continues its turn."""
        self.is_open = self._has_begun = True
        self._has_answered = self._failed = False

    def step(self) -> list[Event]:
        """Begin a step; return the start of a turn, if no line before contains its prompt."""
        events: list[Event] = [] if self._has_begun else [TurnStarted()]
        self.begin()
        return events

    def see(self, fields: Fields) -> None:
        """Note whether the line is one that only the stream has."""
        self._is_stream = self._is_stream or fields.get("ephemeral") is True

    def message(self, data: Fields) -> None:
        """Note a message of the main agent."""
        self.is_open = True
        self._has_answered = not items(data.get("toolRequests"))

    def step_ended(self) -> list[Event]:
        """Return the end of the turn, if its last step has ended."""
        is_over = self.is_open and self._has_answered and not self._is_stream
        self._has_answered = False
        return self._end(TurnEnded(Outcome.SUCCEEDED)) if is_over else []

    def idle(self, data: Fields) -> list[Event]:
        """Return the end of the turn, as the agent waits for the next prompt."""
        outcome = Outcome.CANCELLED if data.get("aborted") is True else Outcome.SUCCEEDED
        return self._end(TurnEnded(outcome)) if self.is_open else []

    def failed(self, message: str) -> list[Event]:
        """Return the end of a turn that an error ended."""
        return self._end(TurnEnded(Outcome.FAILED, message)) if self.is_open else []

    def aborted(self, data: Fields) -> list[Event]:
        """Return the end of a turn that was interrupted."""
        reason = (text(data, "reason") or "").replace("_", " ")
        return self._end(TurnEnded(Outcome.CANCELLED, reason or None)) if self.is_open else []

    def result(self, fields: Fields, last_error: str) -> list[Event]:
        """Read the result line of the stream, which has the session's id."""
        session_id, code = text(fields, "sessionId"), number(fields, "exitCode")
        usage = mapping(fields.get("usage"))
        if code:
            message = last_error or f"exit code {code}"
            ended = TurnEnded(Outcome.FAILED, message)
        elif code is None or not self.is_open:
            return [RunInfo(session_id=session_id)]
        else:
            ended = TurnEnded(Outcome.SUCCEEDED)
        if not self.is_open and self._failed:
            return [RunInfo(session_id=session_id)]
        ended = ended._replace(
            session_id=session_id,
            duration_ms=number(usage, "sessionDurationMs"),
            duration_api_ms=number(usage, "totalApiDurationMs"),
        )
        return [RunInfo(session_id=session_id), *self._end(ended)]

    def _end(self, ended: TurnEnded) -> list[Event]:
        self.is_open = self._has_answered = False
        self._failed = ended.outcome is not Outcome.SUCCEEDED
        return [ended]
