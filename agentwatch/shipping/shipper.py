"""Copies one recording to an engine as it grows.

The engine's newest piece says where to go on, at the beginning and after each fault. One piece is on its way
at a time, so nothing can overtake it; while it is, lines pile up and travel together.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agentwatch.engine.chunk import Ended
from agentwatch.engine.engine import EngineError, Sink, Trouble
from agentwatch.engine.limits import CHUNK_BYTES, CHUNK_DAYS, FAR_CHUNK_BYTES, FAR_SECONDS, SESSION_BYTES
from agentwatch.faults import Fault
from agentwatch.recording import now_ms
from agentwatch.shipping.cards import CardWriter
from agentwatch.shipping.pace import Pace, Patience
from agentwatch.shipping.recorded import Recorded, Unreadable
from agentwatch.shipping.sidecar import Shipped, ShipState

_CARD_SECONDS = 30.0
"""The time without cards after one was refused: a refused card must not delay the bytes."""
_CARD_TRIES = 3
"""How often the last card is tried. Without it, a list shows for ever that the session has lost touch."""
_EXIT_CODE_SECONDS = 0.05
"""The pause between two looks for the exit code of the agent."""
_REPORTED_FAULTS = 3
_REPORTED_SECONDS = 1.0
"""An absence that ends with the second attempt, and within a second, is not reported."""
_DAY_MS = 86_400_000
_OVER_LIMIT = f"a session may have {SESSION_BYTES >> 20} MiB; the rest stays on its machine"


class Shipper:
    """Ships one recording."""

    def __init__(
        self,
        recorded: Recorded,
        shipped: Shipped,
        open_sink: Callable[[], Sink],
        wait: Callable[[float], bool],
        note: Callable[[Shipped], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to ship a recording.

        Args:
            recorded: The recording.
            shipped: The session on the engine, and what the engine had of it when that was noted last.
            open_sink: Connects to the engine; an EngineError says that it cannot.
            wait: Waits for a number of seconds, and returns whether to end.
            note: Called with each new state.
            clock: A clock that never goes backwards, in seconds.
        """
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
        self._trouble: EngineError | None = None
        """The last fault, until the engine has answered, or if it has refused something, has stored more."""
        self._is_asked_to_end = False
        self._well_at = float("-inf")
        """When the engine has answered last, or the connection was there."""
        self._sequence = 0

    def run(self) -> Shipped:
        """Ship until the engine has everything, nothing more can be sent, or `wait` says to end."""
        while not self._is_over:
            try:
                self._connect_and_ship()
            except EngineError as error:
                self._note_fault(error)
            except Fault as fault:  # the file with the credentials was changed
                self._note_fault(EngineError(str(fault), Trouble.REFUSED))
            except OSError as error:
                self._note_fault(EngineError(f"the engine cannot be used: {error.strerror or 'no reason'}"))
            except Unreadable as error:
                self._note(ShipState.STOPPED, str(error))
            if self._is_over or self._wait(self._patience.pause()):
                break
            if self._gives_up():
                return self.shipped
        self._write_last_card()
        return self.shipped

    def _gives_up(self) -> bool:
        """Return whether an engine that does not take the recording is not to be tried again."""
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
        """Continue behind the newest piece of the engine, and write the card."""
        self._cards.hurry()
        try:
            tail = sink.tail(self.shipped.session)
        except EngineError as error:
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
        """Return where to begin if the engine has nothing.

        If it has stored bytes so recently that their age is no reason, it was set back, and gets all again.
        """
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
        """Send the end of the recording, unless a limit has kept bytes back."""
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
        self._note(ShipState.DONE)
        self._cards.hurry()
        self._put_card(sink)

    def _stop(self, problem: str, sink: Sink) -> None:
        self._note(ShipState.STOPPED, problem)
        self._cards.hurry()
        self._put_card(sink)

    def _rest(self, sink: Sink, seconds: float) -> None:
        """Wait while the connection is kept alive."""
        sink.wait(seconds)
        self._well_at = self._clock()
        self._is_asked_to_end = self._wait(0)

    def _put_card(self, sink: Sink) -> None:
        """Write the card if it is due. The bytes go on without it."""
        now = self._clock()
        card = self._cards.due(now, self._card_problem(), self._end_piece)
        if card is None:
            return
        try:
            sink.put_card(self.shipped.session, card)
        except EngineError:
            self._cards.put_off(now + _CARD_SECONDS)
        else:
            self._cards.note_written(card, now)

    def _write_last_card(self) -> None:
        """Write the card of a recording that is over, unless the engine has it."""
        tries = _CARD_TRIES
        while self._is_over and not self._is_asked_to_end and not self._cards.is_written and tries:
            tries -= 1
            if self._wait(1.0):
                return
            self._cards.hurry()
            try:
                sink = self._open_sink()
            except (EngineError, Fault):
                continue
            try:
                self._put_card(sink)
            finally:
                sink.close()

    def _card_problem(self) -> str:
        """Return why the engine has no more. Its absence, which is over now, is no reason."""
        if self.shipped.state is ShipState.STOPPED:
            return self.shipped.problem
        if self._recorded.is_over_limit:
            return _OVER_LIMIT
        trouble = self._trouble
        return "" if trouble is None or trouble.trouble is Trouble.AWAY else str(trouble)

    def _note_fault(self, error: EngineError) -> None:
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
