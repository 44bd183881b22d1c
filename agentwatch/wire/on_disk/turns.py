"""The turns of a session: when they begin and end, as far as the lines of an agent's own file say it."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import Event, Notice, Outcome, TurnEnded


class Turns:
    """The state of the present turn.

    No line starts a turn. A turn that no prompt started follows a command, a shell command of the user or the
    end of a background task: the agent writes again after its turn had ended.
    """

    def __init__(self) -> None:
        self._outcome: Outcome | None = None
        """The outcome of the last turn; None while it is open, and before the first."""
        self._message_id: str | None = None
        """The last message of the agent."""
        self._is_answering = False
        """Whether the agent has written since the prompt."""
        self._prompt_id: str | None = None
        self.awaits_prompt = False
        """Whether the present turn has begun without a prompt."""

    def prompted(self, prompt_id: str | None) -> None:
        """Apply a prompt of the user."""
        self._outcome, self._prompt_id = None, prompt_id
        self._is_answering = self.awaits_prompt = False

    def is_present(self, prompt_id: str | None) -> bool:
        """Return whether a line belongs to the last prompt."""
        return prompt_id is not None and prompt_id == self._prompt_id

    def resumes(self, message_id: str | None) -> bool:
        """Return whether a message of the agent begins a turn without a prompt."""
        if self._outcome is None or (message_id is not None and message_id == self._message_id):
            return False
        self._outcome, self.awaits_prompt = None, True
        return True

    def wrote(self, message_id: str | None) -> None:
        """Note a message of the agent."""
        self._message_id, self._is_answering = message_id, True

    def end(
        self, outcome: Outcome, result: str | None = None, *, duration_ms: int | None = None
    ) -> Iterator[Event]:
        """Yield the end of the present turn. One that has ended well may still get its duration."""
        if self._outcome is None or (duration_ms is not None and self._outcome is outcome):
            self._outcome, self.awaits_prompt = outcome, False
            yield TurnEnded(outcome, result, duration_ms=duration_ms)

    def answered(self) -> Iterator[Event]:
        """Yield the end of the turn, if the agent has answered: its hooks run after its answer."""
        if self._is_answering:
            yield from self.end(Outcome.SUCCEEDED)

    def interrupted(self, message_id: str | None, at_ms: int | None) -> Iterator[Event]:
        """Yield the end of the turn that the user has interrupted.

        A prompt that the user wrote before may already have begun the next turn.

        Args:
            message_id: The message that was interrupted, if the line says it.
            at_ms: The time of the line.
        """
        if message_id is not None and message_id == self._message_id and not self._is_answering:
            yield Notice("interrupted by the user", at_ms)
            return
        yield from self.end(Outcome.CANCELLED)
