"""The sessions of this machine, of engines and of hosts in one list."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.base.faults import Fault
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.row import Elsewhere, Row, Rows, Watched
from agentwatch.remote.card_rows import CardRows, beyond_shares
from agentwatch.remote.chunk import CARDS
from agentwatch.remote.copying import is_news
from agentwatch.remote.engine import (
    Archive,
    Login,
    RemoteError,
    SessionName,
    StoredCard,
    Trouble,
    unnamed,
)
from agentwatch.remote.login import open_archive
from agentwatch.remote.publish.sidecar import read_shipped
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.text.times import day_or_time

if TYPE_CHECKING:
    from agentwatch.catalog.evidence import Facts

_AGAIN_MS = 2_000
_ENDING = ".ship"
_RECORDING = ".ndjson"
_MOST_AT_ONCE = 200
"""The number of files that are read at a time: 2,000 take 60 ms."""
_MOST_FILES = 20_000


class Published:
    """The names of the sessions that this machine publishes or has published. Creating it reads nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}
        """The name of the session of each stem: a recording has one for ever."""
        self._sessions = frozenset[str]()
        self._due_ms: int | None = None

    def sessions(self, now_ms: int) -> frozenset[str]:
        """Return the published names `PUBLISHER.ID` of the recordings here, as the same object if
        unchanged."""
        if self._due_ms is None or not 0 <= self._due_ms - now_ms <= _AGAIN_MS:
            self._due_ms = now_ms + _AGAIN_MS
            self._read()
        return self._sessions

    def _read(self) -> None:
        try:
            names = set(os.listdir(self._folder))
        except OSError:
            names = set()
        stems = {
            name.removesuffix(_ENDING)
            for name in names
            if name.endswith(_ENDING) and name.removesuffix(_ENDING) + _RECORDING in names
        }
        known = {stem: self._names[stem] for stem in stems & self._names.keys()}
        room = min(_MOST_AT_ONCE, _MOST_FILES - len(known))
        for stem in sorted(stems - known.keys(), reverse=True)[:room]:  # the newest ones may still run
            if (shipped := read_shipped(self._folder / f"{stem}{_ENDING}")) is not None:
                known[stem] = str(shipped.session)
        self._names = known
        if (sessions := frozenset(known.values())) != self._sessions:
            self._sessions = sessions


_PAUSE_SECONDS = 0.002
_NOTHING = frozenset[str]()


class Several:
    """Several lists as one, which satisfies `catalog.watched.Watched`. Each source has its own thread. A
    session of this machine that is published appears once. `here` is None to leave out the sessions of this
    machine."""

    def __init__(self, here: Machine | None, elsewhere: Mapping[str, Watched], sessions: Path) -> None:
        self.rows: Rows = {}
        """The row of each session. It is replaced by a new mapping when a row has changed."""
        self.here = here
        self.elsewhere = elsewhere
        self._published = None if here is None else Published(sessions)
        self._merged: list[object] = []
        """The mappings that were merged last, and what was left out of them."""

    @property
    def is_found(self) -> bool:
        """Whether every source was listed once or has reported why it cannot be."""
        is_here = self.here is None or self.here.is_found
        return is_here and all(each.is_found or each.notes for each in self.elsewhere.values())

    @property
    def problem(self) -> SafeText:
        """The fault of the first machine that does not answer; empty if all do."""
        return next((each.problem for each in self._sources() if each.problem), SafeText(""))

    @property
    def wants_all(self) -> bool:
        """Whether old sessions are wanted too."""
        return any(each.wants_all for each in self._sources())

    @wants_all.setter
    def wants_all(self, wants_all: bool) -> None:
        for each in self._sources():
            each.wants_all = wants_all

    @property
    def in_view(self) -> AbstractSet[Key] | None:
        """The sessions in view, of which this machine reads its own more often; None for all that run."""
        return next((each.in_view for each in self._sources()), None)

    @in_view.setter
    def in_view(self, keys: AbstractSet[Key] | None) -> None:
        for each in self._sources():
            each.in_view = keys

    @property
    def is_still(self) -> bool:
        return all(each.is_still for each in self._sources())

    @property
    def notes(self) -> tuple[SafeText, ...]:
        """Notes besides the rows, one per line; problems come first."""
        problems: list[SafeText] = []
        others: list[SafeText] = []
        for each in self._sources():
            problem, notes = each.problem, each.notes
            problems += notes[:1] if problem else ()
            others += notes[1:] if problem else notes
        return (*problems, *others)

    def step(self, at_ms: int) -> bool:
        """Do the work of each source that is due. Return whether more work is due at once."""
        has_more = [each.step(at_ms) for each in self._sources()]
        published = _NOTHING if self._published is None else self._published.sessions(at_ms)
        merged: list[object] = [published, *(each.rows for each in self._sources())]
        if len(merged) != len(self._merged) or any(
            one is not other for one, other in zip(merged, self._merged, strict=True)
        ):
            self._merged = merged
            self.rows = self._merge(published)
        return any(has_more)

    def settle(self, seconds: float) -> None:
        """Work until every source was searched. Other machines may take `seconds`, this one has no limit."""
        until = time.monotonic() + seconds
        for each in self.elsewhere.values():
            each.step(now_ms())
        if self.here is not None:
            self.here.settle_surely(now_ms)
        while self.step(now_ms()) or not all(each.is_found for each in self.elsewhere.values()):
            if time.monotonic() >= until:
                break
            time.sleep(_PAUSE_SECONDS)

    def facts(self, key: Key) -> Facts | None:
        return None if self.here is None else self.here.facts(key)

    def close(self) -> None:
        for each in self._sources():
            each.close()

    def _sources(self) -> Iterator[Watched]:
        if self.here is not None:
            yield self.here
        yield from self.elsewhere.values()

    def _merge(self, published: frozenset[str]) -> Rows:
        rows: dict[Key, Row] = {}
        for each in self.elsewhere.values():
            rows.update(each.rows)
        if published:
            rows = {key: row for key, row in rows.items() if key[1] not in published}
        if self.here is not None:
            rows.update(self.here.rows)
        return rows


_STEP_SECONDS = 0.01
_PUBLISH_SECONDS = 0.5
"""The shortest time between two mappings of rows while cards keep coming."""
_READ_SECONDS = 0.2
_GATHER_SECONDS = 0.2
"""The interval of reading cards after the first list, so that the cards of a busy fleet are joined."""
_MOST_WAITING = 5_000
"""Cards that wait for `step` after the first list; the engine keeps the others."""
_MOST_NAMED = 3
_FIRST_ROWS_SECONDS = 0.1
"""The interval of making rows while the first list is read: more often, the whole list would come later."""
_LEAST_PAUSE, _MOST_PAUSE = 1.0, 30.0
_REFUSED_PAUSE = 60.0
_SILENT_SECONDS = 2.0
"""The time without an answer after which the list reports it."""
_CLOSE_SECONDS = 1.0
_MOST_AGE_SECONDS = 10**9
_MOST_WORDS = 200


class EngineFleet(Elsewhere):
    """The sessions of an engine, which satisfies `catalog.watched.Watched`. Slow work happens in a thread,
    which the first step starts. While the engine is away, running sessions count as lost after 90 s."""

    def __init__(self, name: str, login: Login, connect: Callable[[Login], Archive] = open_archive) -> None:
        super().__init__()
        self.address = login.address
        self._name = safe_line(name[:_MOST_WORDS])
        self._login = login
        self._connect = connect
        self._cards = CardRows(str(login.address))
        self._lock = threading.Lock()
        self._waiting = OrderedDict[SessionName, tuple[bytes, int]]()
        """The newest card of each session that has arrived and is not a row yet, and when it was written."""
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
        """The time of the engine's last answer; 0 if it has never answered."""
        self._fault: Exception | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"cards of {self._name}", daemon=True)

    @property
    def notes(self) -> tuple[SafeText, ...]:
        words = (self.problem, self._warning, self._left_out_words())
        return tuple(SafeText(f"{self._name}: {each}") for each in words if each)

    def step(self, now_ms: int) -> bool:
        """Make rows of cards that have arrived, for about 10 ms."""
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
        archive = cards = None
        pause = _LEAST_PAUSE
        while not self._closed.is_set():
            try:
                if archive is None:
                    archive = self._connect(self._login)
                cards = cards or archive.cards()
                found, at_ms = cards.next(_READ_SECONDS), clock_ms()
            except (RemoteError, Fault) as error:
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

    def _note(self, error: RemoteError | Fault, pause: float) -> float:
        """Keep in words why the engine does not answer, and return after how many seconds to try again."""
        reason = unnamed(str(self._login.address), str(error))[:_MOST_WORDS]
        if isinstance(error, Fault):
            pause = _REFUSED_PAUSE
        elif error.trouble is Trouble.REFUSED:
            reason, pause = f"refused: {reason}", _REFUSED_PAUSE
        else:
            self._answered_ms = self._answered_ms or clock_ms()
            reason = f"no answer since {day_or_time(self._answered_ms, clock_ms())}: {reason}"
        self.problem = safe_line(reason)
        self._has_failed = True  # after the reason: `step` runs in another thread
        return pause
