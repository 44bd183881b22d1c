"""A run: one invocation of the agent, from its init to its result, and the turns in it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from agentwatch.session.call import Place, bounded, bounded_members
from agentwatch.session.counts import UsageCounts
from agentwatch.session.events import Outcome, RunInfo, RunStarted, Tokens, TurnEnded
from agentwatch.session.rules import replaces_title
from agentwatch.session.storage import Content, Spill
from agentwatch.session.transcript import Answer, TurnResult
from agentwatch.text.amounts import plural


class Run:
    """The facts about one run; None means unknown.

    Example:
        >>> import agentwatch
        >>> runs = agentwatch.load("recordings/two-runs.ndjson").runs
        >>> [(run.outcome.value, run.turns, run.duration_ms) for run in runs]
        [('succeeded', 1, 4160), ('succeeded', 1, 4140)]
    """

    def __init__(
        self, *, cwd: str | None = None, began_seen_ms: int | None = None, answer: Answer | None = None
    ) -> None:
        self.format: str | None = None
        self.session_id: str | None = None
        self.model: str | None = None
        self.cwd = cwd
        self.permission_mode: str | None = None
        self.api_key_source: str | None = None
        self.agent_version: str | None = None
        self.branch: str | None = None
        """The Git branch that is checked out in the cwd."""
        self.title: str | None = None
        """The title of the session: the user's, or else the agent's."""
        self.is_users_title = False
        self.named_as: tuple[str | None, str | None, str | None] | None = None
        """The session_id, the model and the cwd that were known when the first call or question came.

        The log has them: what is known when its line is written depends on how much was read at once.
        """
        self.awaits_prompt = False
        """Whether a turn has started whose prompt has not arrived."""
        self.outcome: Outcome = Outcome.RUNNING
        self.usage: Mapping[str, object] | None = None
        self.usage_counts = UsageCounts()
        self.turn_result: TurnResult | None = None
        """The end of the last turn; None before it."""
        self.ended_turns = 0
        """The number of turns whose end is in the recording."""
        self.is_bare = False
        """Whether the recording contains only its result, as the agent's `json` format does."""
        self.began_seen_ms = began_seen_ms
        """When its first line arrived, in milliseconds since the epoch."""
        self.turn_seen_ms: int | None = None
        """When the first line of its last turn arrived, in milliseconds since the epoch."""
        self.pauses: list[tuple[int, int]] = []
        """Between its turns: from the end of a turn to the next line, as arrival times in milliseconds."""
        self.answer = Answer(()) if answer is None else answer
        """The assistant's text, one piece per transcript entry."""
        self.turn_starts: array[int] = array("I")
        """The number of the first entry in the transcript of each turn."""
        self.copied_turns = 0
        """How many of the first turns are a copy of another session's."""
        self._prompt: Content | None = None
        self._earlier_ms: int | None = 0

    def __repr__(self) -> str:
        return f"<Run of {self.format or 'an unknown format'}: {self.outcome}, {plural(self.turns, 'turn')}>"

    @classmethod
    def of(cls, event: RunStarted, answer: Answer) -> Run:
        run = cls(answer=answer)
        run.describe(event)
        return run

    def name(self) -> None:
        """Note by what the log names the run, unless it is noted."""
        self.named_as = self.named_as or (self.session_id, self.model, self.cwd)

    def describe(self, event: RunStarted | RunInfo) -> None:
        """Apply a line with facts about the run. Facts that it does not contain keep their values."""
        self.format = event.format if isinstance(event, RunStarted) else self.format
        self.session_id = bounded(event.session_id) or self.session_id
        self.model = bounded(event.model) or self.model
        self.cwd = bounded(event.cwd) or self.cwd
        self.permission_mode = bounded(event.permission_mode) or self.permission_mode
        self.api_key_source = bounded(event.api_key_source) or self.api_key_source
        self.agent_version = bounded(event.agent_version) or self.agent_version
        if isinstance(event, RunInfo):
            self.branch = self.branch if event.branch is None else bounded(event.branch) or None
            if replaces_title(event, is_users_title=self.is_users_title):
                self.title, self.is_users_title = bounded(event.title), event.is_users_title

    @property
    def turns(self) -> int:
        """The number of the user's prompts."""
        return len(self.turn_starts)

    @property
    def tokens(self) -> Tokens:
        """The tokens of the run so far."""
        return self.usage_counts.tokens

    @property
    def prompt(self) -> str | None:
        """The first prompt; None if the run has none."""
        return None if self._prompt is None else str(self._prompt)

    @property
    def text(self) -> str:
        """The assistant's text: all segments joined without a separator, as the result joins them."""
        return "".join(map(str, self.answer))

    @property
    def ended(self) -> Place | None:
        """Return where the result line of the last turn is in the recording; None if it has not arrived."""
        return None if self.turn_result is None else self.turn_result.place

    @property
    def duration_ms(self) -> int | None:
        """The duration of the last turn, as its result line reports it."""
        return None if self.turn_result is None else self.turn_result.duration_ms

    @property
    def duration_of_turns_ms(self) -> int | None:
        """The duration of all turns together; None unless each of them has ended and reported one."""
        last_ms, earlier_ms = self.duration_ms, self._earlier_ms
        return None if last_ms is None or earlier_ms is None else earlier_ms + last_ms

    @property
    def duration_api_ms(self) -> int | None:
        """The part of that duration in which the agent waited for the model."""
        return None if self.turn_result is None else self.turn_result.duration_api_ms

    @property
    def request_id(self) -> str | None:
        """The id in the result line of the last turn."""
        return None if self.turn_result is None else self.turn_result.request_id

    @property
    def result(self) -> str | None:
        """The text of the result line; None without a result line or without a text in it."""
        return None if self.turn_result is None else self.turn_result.text

    @property
    def result_length(self) -> int:
        """The number of characters in the text of the result line."""
        return 0 if self.turn_result is None else self.turn_result.length

    def result_part(self, start: int, end: int) -> str:
        return "" if self.turn_result is None else self.turn_result.part(start, end)

    @property
    def text_matches_result(self) -> bool | None:
        """Whether the streamed text equals the result; None as for `TurnResult.matches_text`."""
        return None if self.turn_result is None else self.turn_result.matches_text

    @property
    def is_over(self) -> bool:
        """Whether the outcome is known."""
        return self.outcome is not Outcome.RUNNING

    def begin_turn(self, number: int, seen_ms: int | None, *, is_prompted: bool = True) -> None:
        """Begin a turn, which continues the last one unless it has a prompt. A run that was over
        continues."""
        if is_prompted:
            self.turn_starts.append(number)
        self.awaits_prompt = is_prompted
        self.usage_counts.begin_turn()
        self.outcome = Outcome.RUNNING
        self.turn_seen_ms = seen_ms
        if (last := self.turn_result) is not None:
            self._earlier_ms, self.turn_result = self.duration_of_turns_ms, None
            last.settle()
            self.ended_turns -= not is_prompted and last.outcome is Outcome.FAILED  # it is retried
            if last.place.seen_ms is not None and seen_ms is not None:
                self.pauses.append((last.place.seen_ms, seen_ms))

    def rewind(self, turns: int) -> None:
        self.answer.rewind(self.turn_starts[-turns])
        del self.turn_starts[-turns:]
        self.copied_turns = min(self.copied_turns, self.turns)
        self.awaits_prompt = False

    def add_prompt(self, content: Content) -> None:
        """Add a prompt, whose text is complete; only the first of a run is kept."""
        self._prompt = self._prompt or content
        self.awaits_prompt = False

    def end(self, event: TurnEnded, place: Place, spill: Spill, *, is_last_text: bool) -> TurnResult:
        """Apply the result line. `is_last_text`: the result repeats only the last text of its turn."""
        if self.turn_result is not None:
            self.turn_result.settle()
        else:
            self.ended_turns += 1
        self.outcome, self.awaits_prompt = event.outcome, False
        self.session_id = self.session_id or bounded(event.session_id)
        self.usage = bounded_members(event.usage)
        self.turn_result = TurnResult(
            event, place, self.answer, spill, is_last_text=is_last_text, is_bare=self.is_bare
        )
        return self.turn_result
