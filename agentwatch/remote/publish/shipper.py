"""Copies one recording to an engine as it grows.

The engine's newest piece says where to continue, at the beginning and after each fault. One piece is on its
way at a time, so nothing can overtake it; meanwhile, lines accumulate and are sent together.
"""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable

from agentwatch.agents.session_entry import OWN, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.base.clock import now_ms
from agentwatch.base.credentials import credentials
from agentwatch.base.faults import Fault
from agentwatch.catalog.digest.digest import Turn
from agentwatch.catalog.local_session import LocalSession, row_of
from agentwatch.catalog.places import recorded_metadata
from agentwatch.catalog.reports import said_of
from agentwatch.catalog.repository import Repositories
from agentwatch.catalog.row import Row
from agentwatch.remote.card import FROM_ROW, Card, encode
from agentwatch.remote.chunk import (
    CHUNK_BYTES,
    CHUNK_DAYS,
    FAR_CHUNK_BYTES,
    FAR_SECONDS,
    SESSION_BYTES,
    SIGN_OF_LIFE_SECONDS,
    Ended,
)
from agentwatch.remote.engine import RemoteError, Sink, Trouble
from agentwatch.remote.login import open_sink
from agentwatch.remote.publish.publication import Target
from agentwatch.remote.publish.recorded import Recorded, Unreadable
from agentwatch.remote.publish.sidecar import Shipped, ShipState
from agentwatch.session.agent_process import ending_of

_CHUNKS_A_SECOND = 4.0
"""The chunks of a long load. A session may have 200,000 messages: 14 hours of it."""
_MOST_CREDIT = 100.0
"""The chunks that are sent without waiting after 25 s of silence: at 20 lines a second, those of 6 s."""
_LOOK_SECONDS = (0.01, 0.25)
"""The polling interval for a growing file, and for one idle for 5 s."""
_SLOWER = 1.05
"""A line waits for a twentieth of the silence before it at most."""
_JOINING_SECONDS = (0.001, 0.05)
"""The polling interval while lines are held back to fill a chunk."""
_RETRY_SECONDS = (0.05, 5.0)
"""The pause after the first fault, and the longest one; each is twice as long as the one before."""
_AWAY_SECONDS = 3600.0
"""How long to wait for an engine after the recording has ended. Then `engine ship --all` can send it."""
_REFUSED_SECONDS = 60.0
"""The same for one that refuses: nothing but a person changes that."""


class Pace:
    """Decides when to poll a growing file, and when to send its lines. A line after a silence is sent at
    once, and so is a short burst. Under sustained load, lines are sent in batches every 250 ms."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin as after a silence. `clock` is in seconds, and never goes backwards."""
        self._clock = clock
        self._credit = _MOST_CREDIT
        self._credited_at = clock()
        self._pause = _LOOK_SECONDS[0]

    def joining(self) -> float:
        """Return how long lines that wait are to be joined before the next poll; 0 to send them now."""
        now = self._clock()
        self._credit = min(self._credit + (now - self._credited_at) * _CHUNKS_A_SECOND, _MOST_CREDIT)
        self._credited_at = now
        if self._credit >= 1:
            return 0.0
        least, most = _JOINING_SECONDS
        return max(min((1 - self._credit) / _CHUNKS_A_SECOND, most), least)

    def note_sent(self) -> None:
        self._credit = max(self._credit - 1, 0.0)
        self._pause = _LOOK_SECONDS[0]

    def silence(self) -> float:
        """Return the pause before the next poll of a file that has not grown."""
        pause = self._pause
        self._pause = min(pause * _SLOWER, _LOOK_SECONDS[1])
        return pause

    def hurry(self) -> None:
        """Send the next chunk at once: a fault has made its lines wait."""
        self._credit = max(self._credit, 1.0)


class Patience:
    """Decides how often to try an engine that does not accept a recording, and for how long."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.faults = 0
        """The faults since the engine has stored something."""
        self._clock = clock
        self._ended_at: float | None = None
        self._refused_at: float | None = None

    def note_fault(self, trouble: Trouble) -> None:
        self.faults += 1
        if trouble is not Trouble.REFUSED:
            self._refused_at = None
        elif self._refused_at is None:
            self._refused_at = self._clock()

    def note_progress(self) -> None:
        self.faults, self._refused_at = 0, None

    def pause(self) -> float:
        least, most = _RETRY_SECONDS
        pause: float = min(least * 2 ** min(self.faults - 1, 10), most)
        return pause * random.uniform(0.5, 1)  # noqa: S311 - publishers must not return all at once

    @property
    def is_refused(self) -> bool:
        return self._refused_at is not None

    def is_over(self) -> bool:
        """Return whether to give up a recording that has ended; the first call notes that it has. An agent
        that runs is worth each attempt: a login that was revoked can be renewed."""
        now = self._clock()
        if self._ended_at is None:
            self._ended_at = now
        if self._refused_at is None:
            return now - self._ended_at > _AWAY_SECONDS
        return now - max(self._ended_at, self._refused_at) > _REFUSED_SECONDS


_LEAST_SECONDS = 1.0
"""The time between two cards."""
_MS_NS = 1_000_000
_TIMED_SECONDS = 5.0
"""A state may change because time passes: it is judged again after this time."""


class CardWriter:
    """Makes the cards of one session. No recording makes it raise."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._host = os.uname().nodename
        self._repositories = Repositories()
        self._session = LocalSession(self._found())
        self._judged_at = float("-inf")
        self._judged_for: tuple[object, ...] = ()
        self._written = b""
        self._written_at = float("-inf")
        self._not_before = float("-inf")
        self.is_written = False

    def due(self, now: float, problem: str, ended: Ended | None = None) -> bytes | None:
        """Return the card that is due; None while the last one is valid. `now` is by a clock that never goes
        backwards, `problem` is why the engine has no more, and `ended` is the end once the engine has it."""
        recorded = self._recorded
        for_what = (recorded.size, recorded.offset, recorded.has_ended, problem, ended)
        is_silent = now - self._written_at >= SIGN_OF_LIFE_SECONDS
        if now < self._not_before or not (
            is_silent or for_what != self._judged_for or now - self._judged_at >= _TIMED_SECONDS
        ):
            return None
        self._judged_at, self._judged_for = now, for_what
        self._not_before = now + _LEAST_SECONDS
        card = encode(self._card(problem, ended))
        self.is_written = not is_silent and card == self._written
        return None if self.is_written else card

    def note_written(self, card: bytes, now: float) -> None:
        self._written, self._written_at, self.is_written = card, now, True

    def put_off(self, until: float) -> None:
        """Make no card before a time, unless `hurry` is called."""
        self._not_before = until

    def hurry(self) -> None:
        self._not_before = self._judged_at = float("-inf")

    def _card(self, problem: str, ended: Ended | None) -> Card:
        recorded, session = self._recorded, self._session
        process = recorded.process()
        is_live = not recorded.has_ended
        session.found = self._found()
        session.reported = None
        if is_live:
            stem = recorded.path.stem
            session.reported = (
                StateReport(OWN, stem, Life.LIVE) if process is None else said_of(stem, process)
            )
        session.join(Life.LIVE if is_live else Life.DEAD, None)
        session.read()
        session.status = session.judged(now_ms())
        row = row_of(session, self._repositories.of(session.cwd))
        digest = session.digest
        return Card(
            **{name: getattr(row, name) for name in FROM_ROW},
            host=self._host,
            prompt=(digest.last_prompt or digest.first_prompt) if digest else "",
            state=row.status.state,
            ground=row.status.ground,
            since_ms=row.status.since_ms,
            until_ms=row.status.until_ms,
            outcome="running" if is_live else self._outcome(session.found.metadata.exit_code),
            running=row.open_calls,
            bytes=recorded.size,
            shipped=recorded.offset,
            started_ms=row.began_ms,
            # the clock of the agent may be wrong, and old sessions are hidden
            seen_ms=recorded.changed_ns // _MS_NS,
            last=_last(row),
            exit=None if process is None else process.exit_code,
            sha256="" if ended is None else ended.sha256,
            problem=problem,
        )

    def _outcome(self, exit_code: int | None) -> str:
        digest = self._session.digest
        if digest is None or digest.turn is not Turn.ENDED or digest.outcome is None:
            return "unfinished"
        return ending_of(digest.outcome, exit_code).outcome

    def _found(self) -> SessionEntry:
        recorded = self._recorded
        return SessionEntry(
            OWN,
            recorded.path.stem,
            recorded.path,
            recorded.size,
            recorded.changed_ns,
            metadata=recorded_metadata(str(recorded.files.process)),
        )


def _last(row: Row) -> str:
    """Return what a session does now; while it waits for the user, the end of its answer."""
    is_quoted = row.status.state in (State.YOUR_TURN, State.SHELL)
    return row.status.now or (row.last_text[-200:] if is_quoted else "")


_CARD_SECONDS = 30.0
"""The time without cards after one was refused: a refused card must not delay the bytes."""
_CARD_TRIES = 3
"""The interval of attempts to send the last card. Without it, lists show the session as lost for ever."""
_EXIT_CODE_SECONDS = 0.05
"""The polling interval for the exit code of the agent."""
_REPORTED_FAULTS = 3
_REPORTED_SECONDS = 1.0
"""An absence that ends with the second attempt, and within a second, is not reported."""
_DAY_MS = 86_400_000
_OVER_LIMIT = f"a session may have {SESSION_BYTES >> 20} MiB; the rest stays on its machine"


class Shipper:
    def __init__(
        self,
        recorded: Recorded,
        shipped: Shipped,
        open_sink: Callable[[], Sink],
        wait: Callable[[float], bool],
        note: Callable[[Shipped], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to ship. `shipped` is the last record of what the engine had. `wait` waits for seconds, and
        returns whether to end. `clock` never goes backwards."""
        self.shipped = shipped
        self._recorded = recorded
        self._open_sink = open_sink
        self._wait = wait
        self._note_state = note
        self._clock = clock
        self._cards = CardWriter(recorded)
        self._end_piece: Ended | None = None
        """The end of the recording, once the engine has it."""
        self._pace = Pace(clock)
        self._patience = Patience(clock)
        self._trouble: RemoteError | None = None
        """The last fault, until the engine has answered, or if it has refused something, has stored more."""
        self._is_asked_to_end = False
        self._well_at = float("-inf")
        """The time of the engine's last answer, or of the connection."""
        self._sequence = 0

    def run(self) -> Shipped:
        """Ship until the engine has everything, nothing more can be sent, or `wait` says to end."""
        while not self._is_over:
            try:
                self._connect_and_ship()
            except RemoteError as error:
                self._note_fault(error)
            except Fault as fault:  # the file with the credentials was changed
                self._note_fault(RemoteError(str(fault), Trouble.REFUSED))
            except OSError as error:
                self._note_fault(RemoteError(f"the engine cannot be used: {error.strerror or 'no reason'}"))
            except Unreadable as error:
                self._note(ShipState.STOPPED, str(error))
            if self._is_over or self._wait(self._patience.pause()):
                break
            if self._gives_up():
                return self.shipped
        self._write_last_card()
        return self.shipped

    def _gives_up(self) -> bool:
        recorded = self._recorded
        try:
            problem = recorded.check()
        except Unreadable as error:
            problem = str(error)
        if problem and recorded.is_deleted:
            self._note(ShipState.STOPPED, problem)
            return True
        if not (problem or recorded.has_ended) or not self._patience.is_over():
            return False
        if self._patience.is_refused:
            self._note(ShipState.STOPPED, self.shipped.problem)
        return True

    def _connect_and_ship(self) -> None:
        sink = self._open_sink()
        self.shipped = self.shipped._replace(warning=sink.warning)
        try:
            self._begin(sink)
            self._ship(sink)
        finally:
            sink.close()

    def _begin(self, sink: Sink) -> None:
        self._cards.hurry()
        try:
            tail = sink.tail(self.shipped.session)
        except RemoteError as error:
            if error.trouble is not Trouble.AWAY:
                self._trouble = error
                self._put_card(sink)
            raise
        offset, self._sequence = (self._advised(), 0) if tail is None else (tail.end, tail.sequence)
        recorded = self._recorded
        if problem := recorded.start_at(offset) or recorded.check():
            self._stop(problem, sink)
            return
        if self._trouble is None or self._trouble.trouble is Trouble.AWAY:
            self._trouble = None
            self._note(ShipState.SHIPPING)
        if tail is not None and tail.has_ended and recorded.is_complete():
            self._finish(sink, recorded.end())
        else:
            self._put_card(sink)

    def _advised(self) -> int:
        """Return where to begin if the engine has nothing. If recently stored bytes are missing, the server
        was restored to an earlier state: everything is sent again."""
        is_old = now_ms() - self.shipped.at_ms > CHUNK_DAYS * _DAY_MS
        return self.shipped.shipped if is_old else 0

    def _ship(self, sink: Sink) -> None:
        recorded = self._recorded
        while not self._is_over:
            if problem := recorded.check():
                self._stop(problem, sink)
                return
            most = FAR_CHUNK_BYTES if sink.round_trip > FAR_SECONDS else CHUNK_BYTES
            if pending := recorded.pending:
                joining = self._pace.joining()
                if not joining or pending >= most or recorded.has_ended:
                    self._send(sink, most)
                else:
                    self._rest(sink, joining)
            elif recorded.has_ended:
                self._end(sink)
            else:
                self._note_silence()
                self._rest(sink, self._pace.silence())
            if not self._is_over:
                self._put_card(sink)

    def _send(self, sink: Sink, most: int) -> None:
        chunk = self._recorded.next_chunk(most)
        self._well_at = self._clock()
        self._sequence = sink.append(self.shipped.session, chunk, self._sequence)
        self._recorded.note_stored(chunk)
        self._pace.note_sent()
        self._patience.note_progress()
        self._trouble = None
        self.shipped = self.shipped._replace(at_ms=now_ms())
        self._note(ShipState.SHIPPING)

    def _note_silence(self) -> None:
        """Note that nothing waits: the connection works, or a limit keeps the rest back."""
        if self._trouble is None:
            self._patience.note_progress()
        if self._recorded.is_over_limit and not self.shipped.problem:
            self._note(ShipState.SHIPPING, _OVER_LIMIT)

    def _end(self, sink: Sink) -> None:
        recorded = self._recorded
        if recorded.is_over_limit:
            self._stop(_OVER_LIMIT, sink)
        elif recorded.awaits_exit_code():
            self._rest(sink, _EXIT_CODE_SECONDS)
        else:
            end = recorded.end()
            self._sequence = sink.append(self.shipped.session, end, self._sequence)
            self._finish(sink, end)

    def _finish(self, sink: Sink, end: Ended) -> None:
        self._end_piece, self._trouble = end, None
        self._cards.hurry()
        self._put_card(sink)
        self._note(ShipState.DONE)  # after the card: a job that waits for it may end this process with it

    def _stop(self, problem: str, sink: Sink) -> None:
        self._note(ShipState.STOPPED, problem)
        self._cards.hurry()
        self._put_card(sink)

    def _rest(self, sink: Sink, seconds: float) -> None:
        sink.wait(seconds)
        self._well_at = self._clock()
        self._is_asked_to_end = self._wait(0)

    def _put_card(self, sink: Sink) -> None:
        """Write the card if due. A failure does not stop the upload."""
        now = self._clock()
        card = self._cards.due(now, self._card_problem(), self._end_piece)
        if card is None:
            return
        try:
            sink.put_card(self.shipped.session, card)
        except RemoteError:
            self._cards.put_off(now + _CARD_SECONDS)
        else:
            self._cards.note_written(card, now)

    def _write_last_card(self) -> None:
        tries = _CARD_TRIES
        while self._is_over and not self._is_asked_to_end and not self._cards.is_written and tries:
            tries -= 1
            if self._wait(1.0):
                return
            self._cards.hurry()
            try:
                sink = self._open_sink()
            except (RemoteError, Fault):
                continue
            try:
                self._put_card(sink)
            finally:
                sink.close()

    def _card_problem(self) -> str:
        """Return why the engine has no more. Its absence, which is over now, is not a reason."""
        if self.shipped.state is ShipState.STOPPED:
            return self.shipped.problem
        if self._recorded.is_over_limit:
            return _OVER_LIMIT
        trouble = self._trouble
        return "" if trouble is None or trouble.trouble is Trouble.AWAY else str(trouble)

    def _note_fault(self, error: RemoteError) -> None:
        self._patience.note_fault(error.trouble)
        self._pace.hurry()
        self._trouble = error
        is_long = self._clock() - self._well_at > _REPORTED_SECONDS
        if is_long or self._patience.faults >= _REPORTED_FAULTS or error.trouble is not Trouble.AWAY:
            self._note(ShipState.WAITING, str(error))

    def _note(self, state: ShipState, problem: str = "") -> None:
        """Note the state. Until the engine has answered, the number of its bytes is the last known one."""
        recorded = self._recorded
        shipped = recorded.offset if recorded.has_begun else self.shipped.shipped
        self.shipped = self.shipped._replace(
            shipped=shipped, bytes=recorded.size, state=state, problem=problem
        )
        self._note_state(self.shipped)

    @property
    def _is_over(self) -> bool:
        return self._is_asked_to_end or self.shipped.state in (ShipState.DONE, ShipState.STOPPED)


_SECONDS = 5.0


class Reaching:
    """Connects as a publisher, with retries. After a failure it first tries a bare connection: where nothing
    listens, that costs 0.2 ms of CPU instead of 1.5 ms, 160 times in 10 minutes."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._failure = ""
        """The message of the client if no server could be reached; otherwise empty."""

    def open(self) -> Sink:
        """Connect with the present credentials: short-lived ones are renewed in their file. Raise
        `RemoteError` if the connection or the login fails, and `Fault` for the file."""
        if self._failure:
            self._check()
        try:
            login = self._target.login._replace(credentials=credentials(self._target.environ))
            sink = open_sink(login, self._target.publisher)
        except RemoteError as error:
            self._failure = str(error) if error.trouble is Trouble.AWAY else ""
            raise
        self._failure = ""
        return sink

    def _check(self) -> None:
        address = self._target.login.address
        try:
            socket.create_connection((address.host, address.port), _SECONDS).close()
        except OSError:
            raise RemoteError(self._failure) from None
        except UnicodeError:  # a name with a label over 63 characters: the client says so
            return
