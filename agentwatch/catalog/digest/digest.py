"""The digest of a session: what a list shows of it, and what its state is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentwatch.catalog.digest import reducers
from agentwatch.catalog.digest.parts import Course, LastTests, OpenCall, Turn
from agentwatch.session.counts import UsageCounts, Uses
from agentwatch.session.events import Event, LineTime, Outcome, Tokens, agent_ms
from agentwatch.session.limits import NO_LIMITS, KnownLimits
from agentwatch.session.rules import span_ms

_APPLIERS = {**reducers.RUN_APPLIERS, **reducers.CALL_APPLIERS, **reducers.TEXT_APPLIERS}
"""The other types of events say nothing that a list shows. `Digest.apply` reads the times itself."""
_COVERED = 0.9


@dataclass(slots=True)
class Digest:
    """What is known about a session. Texts are foreign and bounded; None and empty mean unknown."""

    format: str = ""
    agent: str = ""
    """The agent's short name: `claude`."""
    session_id: str = ""
    is_whole: bool = False
    """Whether every line of the session was applied; otherwise the counts cover only the last lines."""
    title: str = ""
    is_users_title: bool = False
    first_prompt: str = ""
    last_prompt: str = ""
    last_text: str = ""
    """The end of the last answer."""
    model: str = ""
    cwd: str = ""
    branch: str | None = None
    """The Git branch; empty if none is checked out, None if it is unknown."""
    permission_mode: str = ""
    began_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line, by its own timestamp or else its arrival."""
    turn: Turn = Turn.NONE
    turn_ms: int | None = None
    """When the turn began, or ended."""
    begun_ms: int | None = None
    """When the newest turn began, also after its end."""
    is_answered: bool = False
    """Whether the model has answered since the prompt or the last result."""
    ended_turns: int = 0
    """The number of turns that ended in the lines that were read."""
    took_ms: int | None = None
    """The duration of the last turn, as its result reports it; None while another one is open."""
    outcome: Outcome | None = None
    """The outcome of the last turn that ended."""
    reason: str = ""
    """Why it failed."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    """How many calls a person or a rule refused."""
    cancelled: int = 0
    turns: int = 0
    """The number of the user's prompts."""
    open_calls: dict[str, OpenCall] = field(default_factory=dict)
    """By call_id, the oldest first; at most 32."""
    asked: str = ""
    """The question that the agent has logged and nobody has answered: `shell npm ci`."""
    asked_ms: int | None = None
    asked_until_ms: int | None = None
    """When the agent answers that question by itself; None if it does not."""
    retry: str = ""
    """The retry that the agent waits for: `retry 4 of 10: overloaded`."""
    is_compacting: bool = False
    limits: KnownLimits = NO_LIMITS
    """The usage limits that the agent has reported."""
    context_used: int | None = None
    context_size: int | None = None
    lines_added: int = 0
    lines_removed: int = 0
    todo: tuple[int, int] | None = None
    """The number of to-do entries that are completed, and of all."""
    tests: LastTests | None = None
    """The newest verdict of tests; None if it is unknown."""
    doing: str = ""
    """The to-do entry that is in progress."""
    usual_pause_ms: int | None = None
    """90 % of the model's longest silences in the newest turns are not longer; None before there are ten.

    Each stay with the model counts once: from a prompt or the end of a call to the next call or the end of
    the turn."""
    is_one_liner: bool = False
    """Whether another program has started the session for one prompt, by its own lines."""
    usage: UsageCounts = field(default_factory=UsageCounts, repr=False)
    uses: Uses | None = field(default=None, repr=False)
    """What its cost is estimated by; None without a price list."""
    course: Course = field(default_factory=Course, repr=False, compare=False)
    """What later events depend on."""

    def apply(self, events: Sequence[Event], at_ms: int | None = None) -> None:
        """Apply the events of one line. `at_ms`, the arrival time of the line, counts if the lines have no
        times of their own."""
        if events and type(events[0]) is LineTime:
            at_ms = events[0].at_ms
            self.course.has_line_times = True
        elif self.course.has_line_times:
            at_ms = None
        elif at_ms is None:
            at_ms = agent_ms(events)
        was_with_model = self._is_with_model
        if at_ms is not None:
            if was_with_model and self.seen_ms is not None:
                self.course.pauses.add(at_ms - self.seen_ms)
            self.began_ms = at_ms if self.began_ms is None else self.began_ms
            self.seen_ms = at_ms
        for event in events:
            applier = _APPLIERS.get(type(event))
            if applier is not None:
                applier(self, event, at_ms)
        if was_with_model and not self._is_with_model:
            self.course.pauses.end()
            self.usual_pause_ms = self.course.pauses.usual_ms

    def duration_ms(
        self, arrived: tuple[int | None, int | None] = (None, None), below_ms: int = 0
    ) -> int | None:
        """Return how long the session took, as `Session.duration_ms`; None if unknown. If lines were left
        out, a result that covers nine tenths of the time between the first and the last line is taken as that
        of the only turn. `below_ms` is the time of the last line of its subagents."""
        last_ms = None if self.seen_ms is None else max(self.seen_ms, below_ms)
        span = span_ms(*arrived) or span_ms(self.began_ms, last_ms)
        if self.took_ms is None or self.ended_turns > 1:
            return span
        is_only = self.is_whole or self.took_ms >= _COVERED * (span or 0)
        return self.took_ms if is_only else span

    def skip(self) -> None:
        """Note that lines are left out here. What was open before may have ended, and the counts begin."""
        reducers.end_run(self)
        self.is_whole = False
        self.course = Course(has_line_times=self.course.has_line_times)
        self.turn, self.turn_ms, self.outcome, self.reason = Turn.NONE, None, None, ""
        self.took_ms = None
        self.begun_ms, self.is_answered = None, False
        self.calls = self.failed = self.rejected = self.cancelled = self.turns = 0
        self.lines_added = self.lines_removed = 0
        self.usage = UsageCounts()
        self.uses = None if self.uses is None else Uses(by_request=False)
        self.last_prompt = self.last_text = self.doing = ""
        self.todo = self.context_used = self.tests = None

    @property
    def tokens(self) -> Tokens:
        """The tokens and the cost of all runs."""
        return self.usage.total

    @property
    def _is_with_model(self) -> bool:
        """Whether the model is at work: it answers, or has not begun to."""
        return self.turn is Turn.OPEN and not self.open_calls and not self.asked
