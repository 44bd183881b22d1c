"""The action log: the text format with a time before each line, and `#` lines for runs, questions, rules and
acts.

It depends only on the recording, its arrival times, its alarms and its acts. So a log of a finished recording
has the bytes that were written during the live run, and behind them the acts since its end. The log of a
stream of no known agent is one `#` line.
"""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agentwatch.agents import Agent
from agentwatch.base.files import write_all
from agentwatch.feed.feed import POLL_SECONDS, Feed
from agentwatch.recording.acts import Act, SessionActs, act_words, index_after
from agentwatch.recording.alarms import Alarm, alarm_words, alarms_of
from agentwatch.recording.lines import LineReader
from agentwatch.session.actions import action_pieces, count_words, ended_ms
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import forget_texts
from agentwatch.session.runs import Run
from agentwatch.session.session import Session
from agentwatch.text.durations import seconds
from agentwatch.text.safe import SafeText, cut, exact_line, safe_line, styled
from agentwatch.text.times import utc_time

_SAID_COLUMNS = 240


class ActionLog:
    """The lines of the log of one session, each returned once. `alarms` may be appended to. `acts` returns
    the acts so far, the oldest first. With `addresses`, each line of a call has the call's number: `#12`."""

    def __init__(
        self,
        session: Session,
        alarms: Sequence[Alarm] = (),
        acts: Callable[[], Sequence[Act]] = tuple,
        *,
        addresses: bool = False,
    ) -> None:
        self._session = session
        self._alarms = alarms
        self._alarms_said = 0
        self._read_acts, self._acts = acts, acts()
        self._acts_said = 0
        self._addresses = addresses
        self._runs_begun = 0
        self._runs_ended = 0
        self._logged = 0
        self._said = 0
        self._outcomes: Counter[Outcome] = Counter()
        """The calls by outcome, complete for the closing line: the end of a run ends its open calls."""
        self._is_closed = False

    def new_lines(self, is_over: bool) -> Iterator[SafeText]:
        """Yield the lines since the last call. The first line of a run is due when its first call or question
        comes: what is known of a run when it begins depends on the agent. Once the recording `is_over`, the
        closing line of the last run is due; that of any other run is due when the next run starts."""
        runs, ended = self._session.runs, self._session.ended_calls
        acts = self._read_acts()  # after the lines: an act is appended before what follows from it
        if acts is not self._acts:
            last = self._acts[self._acts_said - 1] if self._acts_said else None
            self._acts, self._acts_said = acts, index_after(acts, last)
        yield from self._new_said()
        while self._logged < len(ended):
            call = self._session.calls.as_ended(ended[self._logged])
            yield from self._begin_runs(call.run)
            yield from self._new_acts(_arrived_ms(call))
            self._logged += 1
            self._outcomes[call.outcome] += 1
            number = f"#{call.number} " if self._addresses else ""
            time_and_number = SafeText(f"{_time(ended_ms(call))} {number}")
            yield styled((time_and_number, "muted"), *action_pieces(call))
            yield from self._new_said()
        if runs and (is_over or runs[-1].named_as is not None):
            yield from self._begin_runs(len(runs))
        elif runs:
            yield from self._begin_runs(len(runs) - 1)
            yield from self._end_run(len(runs) - 1)
        if is_over:
            yield from self._end_run(len(runs))
            if self._session.outcome is None and not self._is_closed:
                from agentwatch.analysis.status import unknown_agent

                self._is_closed = True
                yield SafeText(f"# {unknown_agent(self._session)}")
            yield from self._new_acts(None)

    def _new_said(self) -> Iterator[SafeText]:
        """Yield the questions, the answers and the alarms before the next call that ends."""
        said = self._session.questions.history
        yield from self._new_alarms()
        while self._said < len(said) and said[self._said].ended_calls <= self._logged:
            one = said[self._said]
            self._said += 1
            yield from self._begin_runs(one.run)
            if one.at_ms is not None:
                yield from self._new_acts(one.at_ms)
            words = cut(exact_line(one.words), _SAID_COLUMNS)
            yield styled((SafeText(f"# {_time(one.at_ms)} "), "muted"), (words, "asks"))
            yield from self._new_alarms()

    def _new_alarms(self) -> Iterator[SafeText]:
        """Yield the alarms before the next call that ends and the next question or answer."""
        while self._alarms_said < len(self._alarms):
            one = self._alarms[self._alarms_said]
            if one.ended > self._logged or one.said > self._said:
                return
            self._alarms_said += 1
            yield from self._begin_runs(min(one.run, len(self._session.runs)))
            yield SafeText(f"# {_time(one.at_ms)} {alarm_words(one)}")

    def _new_acts(self, before_ms: float | None) -> Iterator[SafeText]:
        """Yield the acts before the time of the next call, question or answer; None for all that are left."""
        acts = self._acts
        while self._acts_said < len(acts):
            one = acts[self._acts_said]
            if before_ms is not None and one.at_ms >= before_ms:
                return
            self._acts_said += 1
            yield SafeText(f"# {_time(one.at_ms)} {act_words(one)}")

    def _begin_runs(self, number: int) -> Iterator[SafeText]:
        while self._runs_begun < number:
            yield from self._end_run(self._runs_begun)
            run = self._session.runs[self._runs_begun]
            self._runs_begun += 1
            session_id, model, cwd = run.named_as or (run.session_id, run.model, run.cwd)
            line = safe_line(f"# session {session_id or '–'} · {model or '–'} · {cwd or '–'}")
            yield styled((line, "strong"))

    def _end_run(self, number: int) -> Iterator[SafeText]:
        """Yield the closing line of a run, once. Number 0, the time before the first run, has none."""
        if self._runs_ended < number:
            self._runs_ended = number
            calls = self._session.calls
            for before in calls.corrected.values():
                if before.run == number:
                    self._outcomes[before.outcome] -= 1
                    self._outcomes[calls[before.number - 1].outcome] += 1
            counts = {outcome: self._outcomes[outcome] for outcome in Outcome if self._outcomes[outcome]}
            self._outcomes.clear()
            words = ", ".join(count_words(counts))
            run = self._session.runs[number - 1]
            outcome = (SafeText(_run_outcome(run)), str(run.outcome))
            yield styled((SafeText("# "), "muted"), outcome, (SafeText(f" · {words}"), "muted"))


def follow_log(
    feed: Feed,
    wait: Callable[[int], object] = lambda applied: None,
    alarms: Sequence[Alarm] = (),
    *,
    addresses: bool = False,
) -> Iterator[SafeText]:
    """Yield the lines of the log as the recording grows, until it has ended. The texts of the session are
    dropped: the screen may have a second copy. `wait` is called with the number of lines just read, while the
    recording may still grow. With `addresses`, each line of a call has its number: `#12`."""
    log = ActionLog(feed.session, alarms, lambda: feed.acts, addresses=addresses)
    while not feed.is_over:
        applied = feed.advance(POLL_SECONDS)
        yield from log.new_lines(feed.is_over)
        forget_texts(feed.session)
        if not feed.is_over:
            wait(applied)


def _arrived_ms(call: Call) -> float:
    """Return when the end of a call arrived, by our clock if it is known; before everything if it is not."""
    seen_ms = None if call.ended is None else call.ended.seen_ms
    at_ms = ended_ms(call) if seen_ms is None else seen_ms
    return -math.inf if at_ms is None else at_ms


def _time(at_ms: int | None) -> str:
    """Return the second of a time; `-` if unknown or outside the years 1970 to 9999."""
    return utc_time(at_ms) or "-"


def _run_outcome(run: Run) -> str:
    """Return the outcome of a run, the duration of its turns, and their number if there are several."""
    duration_ms = run.duration_of_turns_ms
    duration = "" if duration_ms is None else f" in {seconds(duration_ms)}"
    turns = f" · {run.ended_turns} turns" if run.ended_turns > 1 else ""
    return f"{run.outcome}{duration}{turns}"


_REST_SECONDS = 2 * POLL_SECONDS
"""The log decodes for a third of the time while lines are left, so that the screen is read first."""
_IDLE_SECONDS = (0.1, 0.2, 0.5, 1.0)
"""The pauses while nothing arrives; the last one is repeated."""


class LogWriter:
    """Writes an action log in a thread, from the recording, whatever a screen or a reader of stdout does."""

    def __init__(
        self, reader: LineReader, log_fd: int, agent: Agent | None = None, path: Path | None = None
    ) -> None:
        """Start the thread, which closes `log_fd`. The alarms and acts are those of the file at `path`."""
        self.fault: OSError | None = None
        """Why the log is incomplete; None while no write has failed."""
        self._log_fd = log_fd
        self._finishing = threading.Event()
        self._idle = 0
        feed = Feed(LineReader(reader.fd, reader.growth, reader.times), agent=agent)
        feed.acts_of = SessionActs.of_file(path)
        self._thread = threading.Thread(target=self._run, args=(feed, path), name="log", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._finishing.set()
        self._thread.join()

    def _run(self, feed: Feed, path: Path | None) -> None:
        try:
            for line in follow_log(feed, self._wait, alarms_of(path)):
                write_all(self._log_fd, f"{line}\n".encode())
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._log_fd)

    def _wait(self, applied: int) -> None:
        if applied:
            self._idle = 0
            self._finishing.wait(_REST_SECONDS)
        else:
            self._finishing.wait(_IDLE_SECONDS[min(self._idle, len(_IDLE_SECONDS) - 1)])
            self._idle += 1
