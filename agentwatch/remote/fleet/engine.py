"""The sessions of an engine: a thread reads their cards, `step` makes rows of them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from agentwatch.engine.engine import Archive, EngineError, StoredCard, Trouble, unnamed
from agentwatch.engine.limits import CARDS
from agentwatch.engine.names import SessionName
from agentwatch.engine.opening import Login, open_archive
from agentwatch.faults import Fault
from agentwatch.machine.row import Row
from agentwatch.recording import now_ms as clock_ms
from agentwatch.remote.fleet.card_rows import CardRows, beyond_shares
from agentwatch.remote.warned import is_news
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.text.times import day_or_time
from agentwatch.wire.found import Key

_STEP_SECONDS = 0.01
_PUBLISH_SECONDS = 0.5
"""The shortest time between two mappings of rows while cards keep coming."""
_READ_SECONDS = 0.2
_GATHER_SECONDS = 0.2
"""After the first list, cards are read this often, so that those of a busy fleet come together."""
_MOST_WAITING = 5_000
"""Cards that wait for `step` after the first list; the engine keeps the others."""
_MOST_NAMED = 3
_FIRST_ROWS_SECONDS = 0.1
"""While the first list is read, rows are made this often: all of them come sooner if reading has the time."""
_LEAST_PAUSE, _MOST_PAUSE = 1.0, 30.0
_REFUSED_PAUSE = 60.0
_SILENT_SECONDS = 2.0
"""After this time without any answer, the list says so."""
_CLOSE_SECONDS = 1.0
_MOST_AGE_SECONDS = 10**9
_MOST_WORDS = 200


class EngineFleet:
    """The sessions of an engine. It satisfies `machine.watched.Watched`.

    Nothing that may take long happens in `step`: connecting, waiting and retrying belong to the thread. While
    the engine is away, the rows stay as they were, and those that ran are lost after 90 s.
    """

    def __init__(self, name: str, login: Login, connect: Callable[[Login], Archive] = open_archive) -> None:
        """Create the list; the first step connects.

        Args:
            name: How the user has named the engine.
            login: The engine, and how to log in to it.
            connect: Opens the engine.
        """
        self.address = login.address
        self.rows: Mapping[Key, Row] = {}
        """The row of each session. It is replaced by a new mapping when a row has changed."""
        self.is_found = False
        """Whether all cards were read once, or an attempt has failed."""
        self.wants_all = False
        """It has no effect: a card has all that is known of its session."""
        self.in_view: AbstractSet[Key] | None = None
        """It has no effect: the machine decides what it reads."""
        self.problem = SafeText("")
        """Why there are no rows, or why they are old; empty if all is well."""
        self._name = safe_line(name[:_MOST_WORDS])
        self._login = login
        self._connect = connect
        self._cards = CardRows(str(login.address))
        self._lock = threading.Lock()
        self._waiting = OrderedDict[SessionName, tuple[bytes, int]]()
        """The newest card of each session that has arrived and is no row yet, and when it was written."""
        self._passed_over: list[SessionName] = []
        """The sessions of the first list that are beyond the limit."""
        self._is_listed = False
        """Whether the thread has read all cards once."""
        self._has_failed = False
        self._warned = ""
        self._warning = SafeText("")
        """A warning that was not given before; empty without one."""
        self._began = self._published = self._taken = 0.0
        self._answered_ms = 0
        """When the engine has answered last; 0 if it never has."""
        self._fault: Exception | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"cards of {self._name}", daemon=True)

    @property
    def notes(self) -> tuple[SafeText, ...]:
        """What the list says about this engine besides its rows, a line each."""
        words = (self.problem, self._warning, self._left_out_words())
        return tuple(SafeText(f"{self._name}: {each}") for each in words if each)

    def step(self, now_ms: int) -> bool:
        """Make rows of cards that have arrived, for about 10 ms.

        Args:
            now_ms: The time, in milliseconds since the epoch.

        Returns:
            Whether more cards wait.
        """
        if self._fault is not None:
            raise self._fault
        now = time.monotonic()
        if not self._began:
            self._began = now
            self._thread.start()
        was_listed = self._is_listed
        if was_listed or now - self._taken >= _FIRST_ROWS_SECONDS:
            self._take(now + _STEP_SECONDS)
        has_more = bool(self._waiting)
        self._cards.lose(now_ms)
        if self._cards.is_changed and (not has_more or now - self._published >= _PUBLISH_SECONDS):
            self._published, self.rows = now, self._cards.rows()
        if not was_listed and not self.problem and now - self._began >= _SILENT_SECONDS:
            self.problem = SafeText("no answer yet")
        self.is_found = self.is_found or (was_listed and not has_more) or self._has_failed
        return has_more

    def close(self) -> None:
        """End the thread; an engine that hangs is not waited for."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _take(self, until: float) -> None:
        """Make rows of cards until a time. Those of the first list come with the newest first."""
        with self._lock:
            passed_over, self._passed_over = self._passed_over, []
        self._cards.leave_out(passed_over)
        while self._waiting:
            with self._lock:
                session, (data, heard_ms) = self._waiting.popitem(last=not self._is_listed)
            self._cards.take(session, data, heard_ms)
            self._taken = time.monotonic()
            if self._taken >= until:
                break

    def _run(self) -> None:
        try:
            self._read()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the next step raises it
            self._fault = error

    def _read(self) -> None:
        """Read cards until the list is closed."""
        archive = cards = None
        pause = _LEAST_PAUSE
        while not self._closed.is_set():
            try:
                if archive is None:
                    archive = self._connect(self._login)
                cards = cards or archive.cards()
                found, at_ms = cards.next(_READ_SECONDS), clock_ms()
            except (EngineError, Fault) as error:
                self._closed.wait(self._note(error, pause) * random.uniform(0.8, 1.2))  # noqa: S311 - no secret
                pause = min(pause * 2, _MOST_PAUSE)
                continue
            pause, self._answered_ms, self.problem = _LEAST_PAUSE, at_ms, SafeText("")
            self._warn(archive.warning[:_MOST_WORDS])
            self._put(found, at_ms)
            if not self._is_listed:
                self._is_listed = cards.is_complete
            elif found:
                self._closed.wait(_GATHER_SECONDS)
        if archive is not None:
            archive.close()

    def _put(self, found: list[StoredCard], at_ms: int) -> None:
        """Leave cards to `step`, and wait while it has too many."""
        with self._lock:
            for each in found:
                age = min(max(each.age, 0.0), _MOST_AGE_SECONDS)
                self._waiting[each.session] = (each.data, at_ms - int(age * 1000))
            if not self._is_listed and len(self._waiting) > CARDS + CARDS // 4:  # the oldest come first
                counts = Counter(session.publisher for session in self._waiting)
                passed_over = beyond_shares(self._waiting, counts, CARDS)
                for session in passed_over:
                    del self._waiting[session]
                self._passed_over += passed_over
        if not self._is_listed:
            return
        while len(self._waiting) > _MOST_WAITING and not self._closed.wait(0.005):
            pass

    def _left_out_words(self) -> str:
        """Return how many sessions are not listed, and whose; empty if all are."""
        left_out, crowds = self._cards.left_out, self._cards.crowds()
        if not left_out:
            return ""
        named = ", ".join(f"{publisher} has {number:,}" for publisher, number in crowds[:_MOST_NAMED])
        more = f" and {len(crowds) - _MOST_NAMED} more" if len(crowds) > _MOST_NAMED else ""
        return f"{left_out:,} older sessions are not listed: {named}{more}"

    def _warn(self, warning: str) -> None:
        """Keep a warning of the engine for as long as this list is open, unless it was given before."""
        if warning != self._warned:
            self._warning = safe_line(warning) if is_news(self.address, warning) else SafeText("")
            self._warned = warning

    def _note(self, error: EngineError | Fault, pause: float) -> float:
        """Keep in words why the engine does not answer, and return after how many seconds to try again."""
        self._has_failed = True
        reason = unnamed(str(self._login.address), str(error))[:_MOST_WORDS]
        if isinstance(error, Fault):
            self.problem = safe_line(reason)
            return _REFUSED_PAUSE
        if error.trouble is Trouble.REFUSED:
            self.problem = safe_line(f"refused: {reason}")
            return _REFUSED_PAUSE
        self._answered_ms = self._answered_ms or clock_ms()
        since = day_or_time(self._answered_ms, clock_ms())
        self.problem = safe_line(f"no answer since {since}: {reason}")
        return pause
