"""Opens a session of another machine: finds or creates its local copy, and begins to fill it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from agentwatch.config import Machines
from agentwatch.engine.address import is_engine, parse_engine
from agentwatch.engine.engine import EngineError, named
from agentwatch.engine.names import SessionName, parse_session
from agentwatch.engine.opening import Login, check_extra, open_archive
from agentwatch.faults import USAGE, Fault, cannot_create
from agentwatch.recording import SavedGrowth
from agentwatch.remote.copies.folder import Copies
from agentwatch.remote.copying import Copying
from agentwatch.remote.engine_channel import EngineChannel, connected, find_session, session_named
from agentwatch.sources.file import FileSource
from agentwatch.wire.opening import saved_source

_SCHEMES = ("nats", "ssh")
_FIRST_SECONDS = 2.0
"""How long to wait for the first piece of a session that no card describes."""


def open_copy(words: str, machines: Machines, environ: Mapping[str, str]) -> Copying:
    """Return the local copy of a session elsewhere, which is filled from now on unless it is complete.

    Without a copy, the engine or the host must answer. With one, it may be away: the copy is opened, and is
    filled once it answers.

    Args:
        words: The address, without a moment: `nats://HOST/SESSION`, `ssh://HOST/SESSION`.
        machines: The settings about engines.
        environ: The environment, which may contain credentials, and names the folder of copies.

    Raises:
        Fault: The address is wrong, it names no session or several, or the session cannot be read.
    """
    if not is_session(words):
        raise Fault(f"{words}: not the address of a session, such as nats://HOST/SESSION", USAGE)
    try:
        if is_engine(words):
            return _of_engine(words, machines, environ)
        return _of_host(words, environ)
    except OSError as error:
        raise cannot_create(Path(error.filename or "the copy of the session"), error) from None


def known_copy(words: str, environ: Mapping[str, str]) -> Path | None:
    """Return the path of the local copy of a session, or None without a copy. Nothing is connected.

    Args:
        words: The address of the session, with its whole name.
        environ: The environment, which names the folder of copies.
    """
    try:
        if is_engine(words):
            engine, session = parse_engine(words)
            address = str(engine)
        else:
            from agentwatch.remote.ssh.address import parse_ssh

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
    """Open the copy as a recording, which is followed until it is not filled any more.

    Args:
        copying: The copy.
        log_fd: The descriptor of the action log; None for no log.
        waits: Whether to wait for bytes that are missing, and that are not expected any more.

    Raises:
        Fault: It cannot be opened.
    """
    source = saved_source(copying.keep_path(), copying.is_filling(), log_fd)
    assert isinstance(source, FileSource)
    growth = source.reader.growth
    if isinstance(growth, SavedGrowth) and growth.is_followed:
        growth.end_when_not(copying.is_filling if waits else copying.is_awaited)
    source.elsewhere = copying
    return source


def _of_engine(words: str, machines: Machines, environ: Mapping[str, str]) -> Copying:
    from agentwatch.engine.logins import login_of

    check_extra()
    login, name = login_of(words, machines.engines, environ)
    copies, engine = Copies(environ), str(login.address)
    session = parse_session(name)
    copy = None if session is None else copies.find(engine, str(session))
    channel: EngineChannel | None = None
    if copy is None:
        try:
            session, channel = _found(login, name)
        except EngineError as error:
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
    """Connect, and return the session that words name.

    Raises:
        Fault: No session has this name, or several have.
        EngineError: The engine cannot be used.
    """
    archive = open_archive(login)
    try:
        session = find_session(archive, name)
        channel = EngineChannel(archive, session)
        exists = channel.exists(_FIRST_SECONDS)
    except (Fault, EngineError):
        archive.close()
        raise
    if not exists:
        channel.close()
        raise Fault(f"{login.address} has no session {session}", USAGE)
    return session, channel


def _known(copies: Copies, engine: str, name: str, why: EngineError) -> SessionName:
    """Return the session that words name among those of which there is a copy.

    Raises:
        Fault: No copy has this name. The message says why the engine cannot be asked.
    """
    found = [
        parse_session(origin.session) for _, origin in copies.known() if origin.is_of(engine, origin.session)
    ]
    with suppress(Fault):
        return session_named(name, [each for each in found if each is not None])
    raise Fault(named(engine, str(why)), USAGE)


def _of_host(words: str, environ: Mapping[str, str]) -> Copying:
    from agentwatch.remote.ssh.address import parse_ssh
    from agentwatch.remote.ssh_channel import SshChannel, connected

    address, session = parse_ssh(words)
    host, copies = str(address), Copies(environ)
    copy = copies.find(host, session)
    channel: SshChannel | None = None
    if copy is None:
        channel = SshChannel(words)
        try:
            exists = channel.exists(_FIRST_SECONDS)
        except EngineError as error:
            channel.close()
            raise Fault(named(host, str(error)), USAGE) from None
        if not exists:
            channel.close()
            raise Fault(f"{host} has no session {session}", USAGE)
        copy = copies.create(host, session, address.host)
    return Copying(f"{host}/{session}", copy, copies, partial(connected, words), channel)
