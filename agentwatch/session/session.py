"""The state of a session, which `reducers` update one line at a time; and which of its calls have changed."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from enum import StrEnum

from agentwatch.session.agent_process import Ending, ending_of
from agentwatch.session.call import Call, CallKey, Calls, EndedCalls, Pieces, Place, bounded
from agentwatch.session.counts import LineCounts, Uses, added
from agentwatch.session.events import Compaction, Outcome, PlanEntry, Retry, Tokens, Traits
from agentwatch.session.limits import NO_LIMITS
from agentwatch.session.rules import OpenQuestions, span_ms
from agentwatch.session.runs import Run
from agentwatch.session.transcript import Entry, Kind, Transcript, TurnResult
from agentwatch.text.amounts import plural

_MOST_ONCE = 1000
_MOST_MALFORMED = 10_000


class Notices:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._once: dict[str, int] = {}
        """The number of different notices of unknown events that came before a notice, by its text."""
        self._count = 0
        self._malformed = 0

    def unknown(self, message: str) -> None:
        """Append a notice unless it was appended before. At most 1,000 different notices are appended."""
        message = bounded(message) or ""
        if self._once.setdefault(message, self._count) == self._count and self._count < _MOST_ONCE:
            self._count += 1
            self._transcript.note(message)

    def malformed(self, message: str) -> None:
        """Append a notice of a malformed line. After 10,000 of them, a last notice says that no more follow.
        A notice takes hundreds of bytes, and a malformed line may have only two."""
        if self._malformed <= _MOST_MALFORMED:
            is_last = self._malformed == _MOST_MALFORMED
            self._transcript.note("more lines that are not events are only counted" if is_last else message)
            self._malformed += 1

    def counts(self) -> tuple[int, int]:
        return self._count, self._malformed

    def at(self, transcript: Transcript, counts: tuple[int, int]) -> Notices:
        """Return the notices at an earlier line, where these were the counts."""
        earlier = Notices(transcript)
        earlier._once = self._once
        earlier._count, earlier._malformed = counts
        return earlier


# Only the session's own history shows whether a silence is long: one model thinks for 3 s, another for 90 s.
# Each stay in a phase counts once, with its longest silence. If every silence counted, a hundred deltas at
# intervals of 50 ms would make the usual silence so short that the seconds in which the model writes a call
# would count as a stall.

_KEPT = 64


class Phase(StrEnum):
    """What the session is doing between two lines."""

    WAITING = "waiting"
    THINKING = "thinking"
    WRITING = "writing"
    CALLING = "calling"
    NOTHING = "nothing"
    """The run is over."""


class Rhythm:
    """The durations of the newest 64 stays in each phase, in milliseconds between arrival times."""

    def __init__(self) -> None:
        self.phase = Phase.NOTHING
        self.began_ms: int | None = None
        """When the present phase began, by arrival time; None before the first line."""
        self.thoughts: deque[int] = deque(maxlen=_KEPT)
        self.silences = {
            phase: deque[int](maxlen=_KEPT) for phase in (Phase.WAITING, Phase.THINKING, Phase.WRITING)
        }
        """The longest silence of each stay in a phase. Lines that arrived together have none between them."""
        self._last_ms = 0
        self._longest_ms = 0

    def update(self, phase: Phase, seen_ms: int) -> None:
        if self.began_ms is None:
            self.began_ms = self._last_ms = seen_ms
        self._longest_ms = max(self._longest_ms, seen_ms - self._last_ms)
        self._last_ms = seen_ms
        if phase is self.phase:
            return
        if self._longest_ms and self.phase in self.silences:
            self.silences[self.phase].append(self._longest_ms)
        if self.phase is Phase.THINKING and seen_ms > self.began_ms:
            self.thoughts.append(seen_ms - self.began_ms)
        self.phase, self.began_ms, self._longest_ms = phase, seen_ms, 0

    def update_by_pieces(self, phase: Phase, pieces: Pieces, last_ms: int) -> None:
        self.update(phase, pieces.first_ms)
        self._longest_ms = max(self._longest_ms, pieces.longest_gap_ms)
        self._last_ms = last_ms


_MOST_UNTIMED = 16
"""The entries at either end of a transcript among which one with a time is searched."""
_PHASES = {Kind.REASONING: Phase.THINKING, Kind.ANSWER: Phase.WRITING}


class Session:
    """The runs, calls and transcript of a recording, as of the last line that was applied.

    Example:
        >>> import agentwatch
        >>> session = agentwatch.load("recordings/plain.ndjson")
        >>> session
        <Session of cursor: succeeded, 2 calls>
        >>> session.format, session.outcome, len(session.calls), session.lines.total
        ('cursor', <Outcome.SUCCEEDED: 'succeeded'>, 2, 14)
        >>> session.run.prompt
        'Raise the request timeout in settings.py to 45 seconds.'
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.calls = Calls()
        """The calls in the order in which they first appeared."""
        self.ended_calls = EndedCalls(self.calls)
        """The calls in the order in which they ended; others are added when their run is closed."""
        self.open_calls: dict[CallKey, Call] = {}
        """The open calls by the number of the run, the session_id and the call_id."""
        self.transcript = Transcript(self.calls)
        self.notices = Notices(self.transcript)
        self.rhythm = Rhythm()
        self.format: str | None = None
        """The name of the agent's format; None until the agent is known."""
        self.agent_name: str | None = None
        """The agent's short name: `claude`; None until it is known."""
        self.traits = Traits()
        """What the agent's format can express. Until the agent is known, everything."""
        self.plan: tuple[PlanEntry, ...] = ()
        """The agent's to-do list."""
        self.questions = OpenQuestions()
        """The permissions that the agent waits for."""
        self.retry: tuple[Retry, Place] | None = None
        """The retry that the agent waits for or makes; None after the next text, call or result."""
        self.compacting: tuple[Compaction, Place] | None = None
        """The compaction that is under way."""
        self.limits = NO_LIMITS  # as the agent has reported them
        self.last_error = ""
        """The last error that the agent reported in this turn. It may be why the run ends."""
        self.lines = LineCounts()
        self.completed_without_started = 0
        """The number of calls whose end is in the recording, but not their start."""
        self.continued_turns = 0
        """The number of turns that ended and were followed by another one in the same run."""
        self.never_completed = 0
        """The number of calls that had not ended when the next run started or the stream ended."""
        self.ended_by_outcome: Counter[Outcome] = Counter()
        """The number of ended calls with each outcome."""
        self.has_commands = False  # whether a call ran a command
        self.is_closed = False
        """Whether the stream has ended."""
        self.exit_code: int | None = None
        """The agent's exit code, 128 + n for signal n; None while it runs, and if it is not known."""
        self.first_seen_ms: int | None = None
        self.last_seen_ms: int | None = None
        """When the first and the newest line arrived, in milliseconds since the epoch; None if unknown."""
        self.forgotten_runs = 0
        """The number of runs whose text was dropped; it cannot grow again."""
        self.unended: dict[CallKey, Call] = {}
        """The calls without an end line. A result line closes open calls, but their end may still follow."""
        self.uses: Uses | None = None
        """The tokens by model and time; None unless a reader of the session asks for them."""
        self.only_counts = False
        """Whether the agent's texts and the rhythm of the lines are left out: a reader does not need them."""
        self.repeats_history = False
        """Whether the present lines are a copy of another session's history."""
        self.copied_calls = 0
        """The number of calls before the copy ended."""
        self.copied_outcomes: Counter[Outcome] = Counter()
        """The outcomes of those that had ended then."""

    @property
    def run(self) -> Run:
        """The last run. Before the first, a run without any facts."""
        return self.runs[-1] if self.runs else Run()

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the last run, as in `Outcome`; None if no known agent wrote the stream. A run whose
        process ended with another exit code than 0 has failed, whatever its result says."""
        said = self.result_outcome
        return said if said is None or not self.exit_code else ending_of(said, self.exit_code).outcome

    @property
    def outcome_words(self) -> str:
        """`failed`, or `exit 3 · result says ✓` if the exit code contradicts the result."""
        return "" if (said := self.result_outcome) is None else ending_of(said, self.exit_code).words

    @property
    def result_outcome(self) -> Outcome | None:
        """The outcome of the last run without regard to the exit code of its process."""
        if not (self.runs or self.format) and (self.lines.unknown or (self.is_closed and self.lines.total)):
            return None
        return Outcome.UNFINISHED if self.is_closed and not self.runs else self.run.outcome

    @property
    def duration_ms(self) -> int | None:
        """How long the session took or has taken so far, in milliseconds; None if unknown.

        The duration that the result of its only turn reports, or else the time from its first line to its
        last: by arrival, or by the agent's times if no arrival is known.

        Example:
            >>> import agentwatch
            >>> agentwatch.load("recordings/plain.ndjson").duration_ms
            8667
        """
        run = self.run
        if len(self.runs) == run.ended_turns == 1 and run.duration_ms is not None:
            return run.duration_ms
        first_ms, last_ms = self.first_seen_ms, self.last_seen_ms
        if (first_ms is None or last_ms is None) and self.traits.has_times:
            entries = self.transcript
            first_ms = next(_times(entries[:_MOST_UNTIMED]), None)
            last_ms = max(_times(entries[-_MOST_UNTIMED:]), default=None)
        return span_ms(first_ms, last_ms)

    @property
    def turns(self) -> int:
        """The number of the user's prompts in all runs, without those of a copied history."""
        return 0 if self.repeats_history else sum(run.turns - run.copied_turns for run in self.runs)

    @property
    def tokens(self) -> Tokens:
        """The tokens and the cost of all runs, and the context of the last."""
        if len(self.runs) <= 1:
            return self.run.tokens
        last = self.run.tokens
        return added(run.tokens for run in self.runs)._replace(
            context_used=last.context_used, context_size=last.context_size
        )

    @property
    def phase(self) -> Phase:
        """What the session is doing now, judged by its last lines."""
        outcome = self.runs[-1].outcome if self.runs else self.outcome  # asked after each line with a time
        if outcome is not Outcome.RUNNING:
            return Phase.NOTHING
        if self.open_calls:
            return Phase.CALLING
        kind = self.transcript.open_kind
        return Phase.WAITING if kind is None else _PHASES.get(kind, Phase.WAITING)

    @property
    def text(self) -> str:
        """The assistant's text of all runs."""
        return "".join(run.text for run in self.runs)

    def __repr__(self) -> str:
        words = [f"{self.outcome or 'unknown'}", plural(len(self.calls), "call")]
        if failed := self.ended_by_outcome[Outcome.FAILED]:
            words.append(f"{failed:,} failed")
        return f"<Session of {self.agent_name or 'an unknown agent'}: {', '.join(words)}>"


def _times(entries: Iterable[Entry]) -> Iterator[int]:
    for entry in entries:
        call = entry.call
        known = (entry.started_ms, entry.ended_ms) if call is None else (call.started_ms, call.ended_ms)
        yield from (at_ms for at_ms in known if at_ms is not None)


def repeated_calls(session: Session) -> int:
    return len(session.calls) if session.repeats_history else session.copied_calls


def own_calls(session: Session) -> int:
    return len(session.calls) - repeated_calls(session)


def ending_of_turn(session: Session, result: TurnResult) -> Ending:
    """How a turn ended: by its result; for the last one, by the exit code of the process too."""
    return ending_of(result.outcome, session.exit_code if result is session.run.turn_result else None)


def calls_by_outcome(session: Session) -> dict[Outcome, int]:
    """Return the number of the session's own calls with each outcome, in the order of `Outcome`, without
    zeros: not those of a copied history."""
    if session.repeats_history:
        return {}
    ended, copied = session.ended_by_outcome - session.copied_outcomes, session.copied_calls
    running = sum(call.number > copied for call in session.open_calls.values())
    counts = ended + Counter(
        {Outcome.RUNNING: running, Outcome.UNFINISHED: len(session.calls) - copied - ended.total() - running}
    )
    return {outcome: counts[outcome] for outcome in Outcome if outcome in counts}


class CallChanges:
    """Reports which calls are new or have changed, at a cost that does not depend on the session's size."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = 0
        self._ended = 0
        self._open: set[int] = set()
        self._late = 0
        self._run: tuple[object, ...] = ()

    @property
    def count(self) -> int:
        return self._calls

    def skip(self, calls: int) -> None:
        """Take the first calls as reported, and everything that has ended."""
        self._calls, self._ended = calls, len(self._session.ended_calls)
        self._late = len(self._session.calls.late)
        self._open = {call.number - 1 for call in self._session.open_calls.values()}
        self._run = (len(self._session.runs), self._session.run.ended, self._session.is_closed)

    def take(self, most: int) -> list[int]:
        """Return the indices of the calls that are new or changed since the last call of this method,
        each once. `most` limits new calls, and separately ended ones; the rest follows next time."""
        session = self._session
        run = (len(session.runs), session.run.ended, session.is_closed)
        ended = session.ended_calls.indices(self._ended, self._ended + most)
        late = session.calls.late
        changed = [*ended, *(each.call.number - 1 for each in late[self._late :])]
        self._late = len(late)
        if run != self._run:
            # When a run ends, its open calls become unfinished, although no event ends them.
            changed += [index for index in self._open if not self._is_open(index)]
        new = range(self._calls, min(len(session.calls), self._calls + most))
        self._run, self._ended, self._calls = run, self._ended + len(ended), new.stop
        self._open.difference_update(changed)
        self._open.update(filter(self._is_open, new))
        return [*dict.fromkeys((*changed, *new))]

    def _is_open(self, index: int) -> bool:
        return self._session.calls[index].outcome is Outcome.RUNNING
