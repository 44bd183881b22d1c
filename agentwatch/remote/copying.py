"""Opens a remote session: finds or creates its local copy, which a thread fills until the session ends."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path

from agentwatch.agents.opening import saved_source
from agentwatch.agents.session_entry import LEAST_CHARACTERS
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Machines
from agentwatch.base.faults import USAGE, Fault, cannot_create
from agentwatch.base.files import state_folder
from agentwatch.recording.saved import SavedGrowth
from agentwatch.recording.store import open_regular, private_folder, replace_file
from agentwatch.remote.address import EngineAddress, is_engine, parse_engine
from agentwatch.remote.card import decode
from agentwatch.remote.chunk import CARDS
from agentwatch.remote.copies import Copies, LocalCopy
from agentwatch.remote.engine import (
    Archive,
    Login,
    RemoteError,
    SessionName,
    StoredCard,
    Trouble,
    is_publisher,
    named,
    parse_session,
)
from agentwatch.remote.filling import (
    AGAIN_SECONDS,
    Channel,
    Connect,
    Filling,
    NotKeptError,
    ReplacedError,
    SeenCard,
    Status,
)
from agentwatch.remote.login import check_extra, open_archive
from agentwatch.sources.file import FileSource
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line

_CARDS_SECONDS = 10.0
_STEP_SECONDS = 0.5
_MOST_NAMED = 3
_MOST_SHOWN = 80


class EngineChannel:
    def __init__(self, archive: Archive, session: SessionName, sequence: int = 0) -> None:
        """Prepare to read a session from a piece on, or all of it. The archive is closed with the channel."""
        self._archive = archive
        self._session = session
        self.pieces = archive.pieces(session, sequence)
        self.host = ""
        """The name of the machine, by the last card that was read; foreign text."""

    def card(self) -> SeenCard | None:
        """Return the newest card of the session; None if it has none."""
        for stored in _stored_cards(self._archive, str(self._session)):
            if stored.session == self._session and (card := decode(stored.data)) is not None:
                self.host = card.host
                return SeenCard(card, stored.age)
        return None

    def exists(self, seconds: float) -> bool:
        """Return whether the engine has a card or, within some seconds, a piece of the session."""
        if self.card() is not None:
            return True
        found = self.pieces.next(seconds) is not None or not self.pieces.has_none
        self.pieces.restart()
        return found

    def close(self) -> None:
        self.pieces.close()
        self._archive.close()


def connected(login: Login, session: SessionName, copy: LocalCopy) -> EngineChannel:
    """Connect for the bytes that a copy lacks. The last piece is read again, because it may have changed."""
    return EngineChannel(open_archive(login), session, copy.origin.sequence)


def find_session(archive: Archive, words: str) -> SessionName:
    """Return the session that words name, among the cards that the engine has: `PUBLISHER.ID`, the id, or at
    least the first 6 characters of either. Raise `Fault` unless exactly one session matches."""
    whole = parse_session(words)
    publisher, dot, _ = words.partition(".")
    wanted = publisher if dot and is_publisher(publisher) else "*"
    wanted = str(whole or wanted)
    names: list[SessionName] = []
    for stored in _stored_cards(archive, wanted):
        if stored.session == whole:
            return stored.session
        if stored.data and (len(names) < CARDS or _begins(stored.session, words)):
            names.append(stored.session)  # of many others, some are named if none is found
    if whole is not None:
        return whole  # its card may be deleted, or not be written yet
    return _session_named(words, names)


def _session_named(words: str, names: Iterable[SessionName]) -> SessionName:
    """Return the one session whose name or id begins with words of 6 characters or more, or raise `Fault`."""
    if len(words) < LEAST_CHARACTERS:
        raise Fault(
            f"{_bounded(words)}: name at least the first {LEAST_CHARACTERS} characters of a session", USAGE
        )
    known = set(names)
    found = sorted(name for name in known if _begins(name, words))
    if len(found) == 1:
        return found[0]
    if found:
        raise Fault(f"several sessions begin with {_bounded(words)}: {_listed(found)}", USAGE)
    near = sorted(known, key=lambda name: -max(_alike(f"{name}", words), _alike(name.id, words)))
    nearest = f"; the nearest of {plural(len(known), 'session')}: {_listed(near)}" if near else ""
    raise Fault(f"no session begins with {_bounded(words)}{nearest}", USAGE)


def _stored_cards(archive: Archive, whose: str) -> Iterable[StoredCard]:
    """Yield the newest card of each session of a publisher, of all publishers, or of one session."""
    cards = archive.cards(whose)
    deadline = time.monotonic() + _CARDS_SECONDS
    try:
        while True:
            yield from cards.next(_STEP_SECONDS)
            if cards.is_complete:
                return
            if time.monotonic() > deadline:
                raise RemoteError("the engine does not send all cards")
    finally:
        cards.close()


def _begins(name: SessionName, words: str) -> bool:
    return str(name).startswith(words) or name.id.startswith(words)


def _alike(name: str, words: str) -> int:
    return len(os.path.commonprefix((name, words)))  # noqa: RUF071 - characters are meant


def _listed(names: list[SessionName]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(str, islice(names, _MOST_NAMED))) + more


def _bounded(words: str) -> str:
    return safe_line(words[:_MOST_SHOWN])


_FIRST_BREAK_SECONDS = 0.2
_LONGEST_BREAK_SECONDS = 5.0
_REFUSED_SECONDS = 60.0
_OTHER_SECONDS = 0.2
"""The interval of attempts to fill a copy that another process fills."""
_OTHER_SILENT_SECONDS = 15.0
"""A process that fills a copy notes each second that it has all; one that misses bytes, every 10 s."""
_CLOSE_SECONDS = 0.9


class Copying:
    """A local copy that is being filled, or that is complete."""

    def __init__(
        self, address: str, copy: LocalCopy, copies: Copies, connect: Connect, first: Channel | None = None
    ) -> None:
        """Fill a copy, which is closed with this object; `first` is a connection that is open already."""
        self.address = address
        self._copy = copy
        self._copies = copies
        self._connect = connect
        self._first = first
        self._began_ms = now_ms()
        self._status = Status()
        self._is_left = False
        self._is_over = copy.origin.is_complete
        self._is_resumed = copy.size > 0
        """Whether the copy was begun by an earlier connection: its bytes may have been altered since."""
        self._end_lock = threading.Lock()
        self._path_lock = threading.Lock()
        self._is_path_kept = False
        self._other = (-1, -1, 0.0)
        """The size and `seen_ms` of a copy that another process fills, and since when both are unchanged."""
        self._thread = threading.Thread(target=self._run, name="copying", daemon=True)
        if self._is_over:
            self._status.has_read.set()
        else:
            self._thread.start()

    @property
    def path(self) -> Path:
        return self._copy.path

    def keep_path(self) -> Path:
        with self._path_lock:
            self._is_path_kept = True
            return self._copy.path

    @property
    def problem(self) -> str:
        """The reason why the copy lacks bytes, in one line of foreign text; empty if it has all."""
        missing = self._copy.origin.missing
        return self._status.problem or (f"{missing:,} bytes missing" if missing else "")

    @property
    def lost_at(self) -> float | None:
        """Since when the engine or the host cannot be used, by `time.monotonic`; None while it can."""
        return self._status.lost_at

    @property
    def beginning(self) -> int:
        """The number of bytes at the beginning that are not kept any more."""
        return self._copy.origin.base or 0

    @property
    def host(self) -> str:
        return self._copy.origin.host

    @property
    def exit_code(self) -> int | None:
        """The exit code of the agent; None while it runs, or if it is unknown."""
        return self._copy.origin.exit_code

    @property
    def size(self) -> int:
        """The bytes in the copy; 0 if it no longer exists."""
        try:
            return self._copy.size
        except OSError:
            return 0

    @property
    def is_complete(self) -> bool:
        """Whether the session has ended, and the copy has all of its bytes that are kept."""
        return self._copy.origin.is_complete

    def is_filling(self) -> bool:
        """Return whether more bytes may get into the copy."""
        return not self._is_over

    def is_awaited(self) -> bool:
        """Return whether more bytes are expected; those that are missing may not be."""
        return not self._is_over and not self._copy.origin.missing

    @property
    def is_cut_short(self) -> bool:
        """Whether bytes are missing that are not expected now, or others are there."""
        origin = self._copy.origin
        return bool(origin.missing) or origin.is_left or origin.differs or self._status.is_short

    def wait_until_read(self, seconds: float) -> bool:
        """Wait until the copy has all bytes that exist now; `problem` names those that the engine lacks."""
        return self._status.has_read.wait(seconds)

    def close(self) -> None:
        self._status.closing.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)
        with self._end_lock:
            if not self._is_over:  # the thread connects; it will close the copy itself
                self._is_left = True
                return
        self._copy.close()

    def _run(self) -> None:
        try:
            self._fill()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the session on the screen names the error
            self._status.stop_short(f"the copy is not continued: {type(error).__name__}")
        finally:
            if self._first is not None:
                self._first.close()
            self._copy.release()
            with self._end_lock:
                self._is_over = True
            self._status.has_read.set()
            if self._is_left:
                self._copy.close()

    def _fill(self) -> None:
        """Fill the copy until it is complete; wait while another process fills it, and after errors."""
        pause, before = _FIRST_BREAK_SECONDS, 0
        while not self._status.closing.is_set():
            wait = _OTHER_SECONDS
            if self.size > before:  # the last connection was of use
                pause, before = _FIRST_BREAK_SECONDS, self.size
            try:
                if self._copy.origin.is_left or self._is_refuted():
                    if not self._go_on_in_another():
                        return
                elif not self._copy.hold():
                    self._follow_other()
                elif self._copy.origin.is_left:  # another process has noted it meanwhile
                    wait = 0.0
                elif self._copy.origin.is_complete or (self._read() and not self._is_refuted()):
                    return
            except NotKeptError as error:
                self._copy.note(self._copy.origin._replace(is_left=True))
                self._status.problem = str(error)
                wait = 0.0
            except ReplacedError as error:
                self._copy.note(self._copy.origin._replace(differs=True))
                if not self._is_resumed:
                    self._status.stop_short(str(error))
                    return
                self._status.problem = str(error)
                wait = 0.0
            except RemoteError as error:
                self._status.lose(_reason(error, self._copy.origin.address))
                spread = random.uniform(0.5, 1)  # noqa: S311 - no secret: many watchers lose an engine at once
                wait = _REFUSED_SECONDS if error.trouble is Trouble.REFUSED else pause * spread
                pause = min(2 * pause, _LONGEST_BREAK_SECONDS)
            except Fault as fault:
                self._status.lose(str(fault))
                wait = _REFUSED_SECONDS
            except OSError as error:
                self._status.stop_short(f"the copy cannot be written: {(error.strerror or '').lower()}")
                wait = AGAIN_SECONDS
            self._status.closing.wait(wait)

    def _go_on_in_another(self) -> bool:
        """Use the copy that begins with what is still kept; return False if this one is being read. The old
        one keeps what may be nowhere else, and is removed in its turn."""
        with self._path_lock:
            if self._is_path_kept:
                self._status.stop_short(
                    f"{self._status.problem or 'bytes are no longer kept'}; open it again"
                )
                return False
            old, known = self._copy, self._copy.origin
            other = self._copies.find(known.address, known.session)
            self._copy = other or self._copies.create(known.address, known.session, known.host)
        self._is_resumed = self._copy.size > 0
        self._status.problem = ""
        old.close()
        return True

    def _is_refuted(self) -> bool:
        """Return whether the digest has shown that what was here before is not the recording."""
        return self._copy.origin.differs and self._is_resumed

    def _follow_other(self) -> None:
        """Take what the process that fills the copy has noted about it."""
        origin, now = self._copy.refresh(), time.monotonic()
        if self._other[:2] != (self.size, origin.seen_ms):
            self._other = (self.size, origin.seen_ms, now)
            self._status.problem = ""
        elif now - self._other[2] > _OTHER_SILENT_SECONDS:
            self._status.stop_short("another process fills the copy, and receives nothing")
        if origin.seen_ms >= self._began_ms or origin.missing:
            self._status.has_read.set()

    def _read(self) -> bool:
        channel, self._first = self._first or self._connect(self._copy), None
        with closing(channel):
            return Filling(self._copy, self._copies, channel, self._status).run()


def _reason(error: RemoteError, address: str) -> str:
    """Return an error in words without the address of the engine or the host, which is shown beside it."""
    words = str(error).removeprefix("cannot connect to ").removeprefix(address).lstrip(": ")
    return words or "no connection"


_SCHEMES = ("nats", "ssh")
_FIRST_SECONDS = 2.0
"""How long to wait for the first piece of a session that no card describes."""


def open_copy(words: str, machines: Machines, environ: Mapping[str, str]) -> Copying:
    """Return the local copy of a session elsewhere; unless it is complete, it is filled from now on. If there
    is no copy yet, the engine or the host must answer now; otherwise the copy is filled once they answer.
    `environ` may contain credentials, and names the folder of copies. Raise `Fault` for a wrong address, or
    if no session can be read."""
    if not is_session(words):
        raise Fault(f"{words}: not the address of a session, such as nats://HOST/SESSION", USAGE)
    try:
        if is_engine(words):
            return _of_engine(words, machines, environ)
        return _of_host(words, environ)
    except OSError as error:
        raise cannot_create(Path(error.filename or "the copy of the session"), error) from None


def known_copy(words: str, environ: Mapping[str, str]) -> Path | None:
    """Return the path of the local copy of a session by its whole address, or None; nothing is connected."""
    try:
        if is_engine(words):
            engine, session = parse_engine(words)
            address = str(engine)
        else:
            from agentwatch.remote.ssh.shared_connection import parse_ssh

            host, session = parse_ssh(words)
            address = str(host)
    except Fault:
        return None
    found = [path for path, origin in Copies(environ).known() if origin.is_of(address, session)]
    return found[0] if found else None


def is_session(words: str) -> bool:
    """Return whether words are the address of one session of another machine, not of an engine or a host."""
    scheme, sign, rest = words.partition("://")
    return scheme in _SCHEMES and bool(sign and rest.partition("/")[2])


def source_of(copying: Copying, log_fd: int | None = None, *, waits: bool = True) -> FileSource:
    """Open the copy as a recording, which is followed until it is not filled any more. `log_fd` is None for
    no log. `waits` says whether to wait for bytes that are missing, and that are not expected any more. Raise
    `Fault` if it cannot be opened."""
    source = saved_source(copying.keep_path(), copying.is_filling(), log_fd)
    assert isinstance(source, FileSource)
    growth = source.reader.growth
    if isinstance(growth, SavedGrowth) and growth.is_followed:
        growth.end_when_not(copying.is_filling if waits else copying.is_awaited)
    source.elsewhere = copying
    return source


def _of_engine(words: str, machines: Machines, environ: Mapping[str, str]) -> Copying:
    from agentwatch.remote.login import login_of

    check_extra()
    login, name = login_of(words, machines.engines, environ)
    copies, engine = Copies(environ), str(login.address)
    session = parse_session(name)
    copy = None if session is None else copies.find(engine, str(session))
    channel: EngineChannel | None = None
    if copy is None:
        try:
            session, channel = _found(login, name)
        except RemoteError as error:
            session = _known(copies, engine, name, error)
            copy = copies.find(engine, str(session))
            if copy is None:  # it was altered
                raise Fault(named(engine, str(error)), USAGE) from None
        copy = copy or copies.find(engine, str(session))
    assert session is not None
    if copy is not None and channel is not None and copy.origin.is_complete:
        channel.close()
        channel = None
    if copy is None:
        assert channel is not None
        copy = copies.create(engine, str(session), channel.host)
    return Copying(f"{engine}/{session}", copy, copies, partial(connected, login, session), channel)


def _found(login: Login, name: str) -> tuple[SessionName, EngineChannel]:
    archive = open_archive(login)
    try:
        session = find_session(archive, name)
        channel = EngineChannel(archive, session)
        exists = channel.exists(_FIRST_SECONDS)
    except (Fault, RemoteError):
        archive.close()
        raise
    if not exists:
        channel.close()
        raise Fault(f"{login.address} has no session {session}", USAGE)
    return session, channel


def _known(copies: Copies, engine: str, name: str, why: RemoteError) -> SessionName:
    found = [
        parse_session(origin.session) for _, origin in copies.known() if origin.is_of(engine, origin.session)
    ]
    with suppress(Fault):
        return _session_named(name, [each for each in found if each is not None])
    raise Fault(named(engine, str(why)), USAGE)


def _of_host(words: str, environ: Mapping[str, str]) -> Copying:
    from agentwatch.remote.ssh.pieces import SshPieces, connected
    from agentwatch.remote.ssh.shared_connection import parse_ssh

    address, session = parse_ssh(words)
    host, copies = str(address), Copies(environ)
    copy = copies.find(host, session)
    channel: SshPieces | None = None
    if copy is None:
        channel = SshPieces(words)
        try:
            exists = channel.exists(_FIRST_SECONDS)
        except RemoteError as error:
            channel.close()
            raise Fault(named(host, str(error)), USAGE) from None
        if not exists:
            channel.close()
            raise Fault(f"{host} has no session {session}", USAGE)
        copy = copies.create(host, session, address.host)
    return Copying(f"{host}/{session}", copy, copies, partial(connected, words), channel)


# Each warning about an engine is shown once, and again when it changes. `AGENTWATCH_HOME/warned` has the last
# one for each engine.

_MOST_BYTES = 1000


def is_news(engine: EngineAddress, warning: str) -> bool:
    """Return whether a warning about an engine is new, and record it; without a writable home, all are."""
    if not warning:
        return False
    data = warning.encode("utf-8", "replace")[:_MOST_BYTES]
    path = state_folder() / "warned" / sha256(f"{engine.host}:{engine.port}".encode()).hexdigest()[:32]
    with suppress(OSError):
        fd = open_regular(path)
        before = os.pread(fd, _MOST_BYTES, 0)
        os.close(fd)
        if before == data:
            return False
    with suppress(OSError):
        private_folder(path.parent)
        replace_file(path, lambda: data)
    return True
