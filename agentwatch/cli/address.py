"""Finds what an ADDRESS names: a recording or a session, here or fetched, and a moment or a call in it.
Nothing of another machine is imported unless one is named.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.config import ENGINE, HERE, SSH, Machines
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.messages import ShownProgress, printable, say
from agentwatch.recording.lines import LineReader
from agentwatch.text.amounts import byte_size
from agentwatch.text.safe import cut, safe_line

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.analysis.moments import Asked, MomentSpec
    from agentwatch.catalog.row import Watched
    from agentwatch.remote.copying import Copying
    from agentwatch.remote.lists import Several
    from agentwatch.sources.file import FileSource
    from agentwatch.sources.stores.intake import StoreSource

STDIN = Path("-")
_MOST_SPLITS = 32
"""The number of `#` and `@`, from the end on, at which an address may be split."""
_SHOWN_COLUMNS = 60
_STEP_SECONDS = 0.1
_AWAY_SECONDS = 5.0
"""How long an engine or a host may be away before a command gives up."""
_MOST_BYTES = 8 << 20
"""Reading a larger recording would delay the screen by more than 70 ms. The screen reports its problem."""


class Address(NamedTuple):
    path: Path
    """The recording, or the path of a store; `-` for stdin."""
    moment: MomentSpec | None = None
    """The moment, or the end of a call; None for the whole session."""
    words: str = ""
    """The address as the user has typed it."""
    elsewhere: str = ""
    """The address of a session of another machine, of which the recording is a copy; empty for others."""

    @property
    def name(self) -> str:
        """The name of the recording; for a copy it is made from the session's id, which the user knows."""
        return f"{self.elsewhere.rpartition('/')[2]}.ndjson" if self.elsewhere else self.path.name

    @property
    def session(self) -> str:
        """The path of the whole session, or its address on another machine."""
        return self.elsewhere or str(self.path)


def parse_address(words: str) -> Address:
    """Return the address that the user has typed: `FILE`, `-`, `FILE#12`, `FILE@14:03:07`, `FILE@+95s`, or
    instead of FILE the id of a session of any agent, the stem of its recording, or at least the first 6
    characters of either. A file with the literal name wins, even if the name contains `#` or `@`; otherwise
    the words are split at the last of these signs that follows a file or an id. A path that does not exist is
    reported when it is opened. `nats://HOST/SESSION` is fetched in its present state."""
    if (named := named_file(words)) is not None:
        file, part = named
        return Address(Path(file), None if part is None else _moment(words, part), words)
    if is_elsewhere(words):
        session, at = session_and_moment(words)
        return Address(_fetched(session), at, words, session)
    splits = list(islice(_splits(words), _MOST_SPLITS))
    from agentwatch.catalog.session_ids import SessionIds

    ids = SessionIds()
    if (path := ids.path_of(words)) is not None:
        return Address(path, None, words)
    for name, rest in splits:
        if (path := ids.path_of(name)) is not None:
            return Address(path, _moment(words, rest), words)
    if not splits:
        return Address(_path_of_file(words), None, words)
    from agentwatch.analysis.moments import Named, Problem, parse  # 4 ms, which most addresses do not need

    for name, rest in splits:
        if name and not isinstance(moment := parse(rest), Named | Problem):
            return Address(_path_of_file(name), moment, words)
    return Address(_path_of_file(words), None, words)


def _path_of_file(name: str) -> Path:
    """Return the path; raise a `Fault` for a name without a folder and a suffix, which is an unknown id."""
    path = Path(name)
    if os.sep in name or path.suffix or os.path.lexists(name):
        return path
    import shlex

    from agentwatch.agents.session_entry import LEAST_CHARACTERS

    shown, short = shlex.quote(cut(safe_line(name), _SHOWN_COLUMNS)), ""
    if len(name) < LEAST_CHARACTERS:
        short = f"; at least {LEAST_CHARACTERS} characters of an id are needed"
    raise Fault(f"no session or file {shown} (agentwatch sessions lists them{short})", USAGE)


def named_file(words: str) -> tuple[str, str | None] | None:
    """Return the file that an address names, which may be `-`, and the words for a moment of it; None if
    the file does not exist. The file is not opened."""
    if words == str(STDIN) or os.path.exists(words):
        return words, None
    if is_elsewhere(words):
        return None
    for name, rest in islice(_splits(words), _MOST_SPLITS):
        if name == str(STDIN) or os.path.exists(name) or os.path.isfile(os.path.dirname(name)):
            return name, rest
    return None


def is_elsewhere(words: str) -> bool:
    """Whether words are an address on another machine: an engine, a host, or a session there."""
    return words.startswith((ENGINE, SSH))


def session_and_moment(words: str) -> tuple[str, MomentSpec | None]:
    """Split the address of a session of another machine from the moment behind it. The session's name
    contains neither `#` nor `@`; a user's name before the host may be followed by `@`."""
    scheme, _, rest = words.partition("://")
    place, slash, session = rest.partition("/")
    at = min((at for sign in "#@" if (at := session.find(sign)) >= 0), default=None)
    if at is None:
        return words, None
    rest = session[at:].removeprefix("@")
    return f"{scheme}://{place}{slash}{session[:at]}", _moment(words, rest)


def _fetched(words: str) -> Path:
    """Return the local copy of a session with all bytes that exist now. If some are missing, a line on stderr
    says so, and the exit code is not 0. `words` name no moment."""
    from agentwatch.cli.config_file import read_machines
    from agentwatch.cli.default_command import note_incomplete
    from agentwatch.remote.copying import open_copy

    log_in([words])
    copying = open_copy(words, read_machines(), os.environ)
    try:
        wait_until_read(copying)
        if copying.size == 0 and not copying.is_complete:  # an empty copy is removed when it is closed
            raise Fault(f"{words}: {copying.problem or 'there are no bytes of it yet'}", USAGE)
        report_missing(copying)
        if copying.is_cut_short:
            note_incomplete()
    finally:
        copying.close()
    return copying.path


def wait_until_read(copying: Copying) -> None:
    """Wait until a copy has all bytes that exist now; a terminal shows the progress."""
    from agentwatch.remote.engine import named

    progress = ShownProgress().step(f"reading {printable(copying.address)},")
    try:
        while not copying.wait_until_read(_STEP_SECONDS):
            lost_at = copying.lost_at
            if lost_at is not None and time.monotonic() - lost_at > _AWAY_SECONDS:
                raise Fault(named(copying.address, copying.problem), USAGE)
            progress.show(byte_size(copying.size))
    finally:
        progress.clear()


def report_missing(copying: Copying) -> None:
    """Report which bytes a copy does not have, and why."""
    from agentwatch.remote.engine import named

    if copying.beginning:
        say(f"{copying.address}: the beginning is no longer kept: {byte_size(copying.beginning)}")
    if copying.problem:
        say(named(copying.address, copying.problem))


def whole_address(words: str, rule: str) -> Address:
    """Return an address of a command that takes no moment; the message begins with `rule`."""
    address = parse_address(words)
    if address.moment is not None:
        raise Fault(f"{rule}: {address.session}", USAGE)
    return address


def open_reader(path: Path, follow: bool | None = False) -> LineReader:
    """Open an address for a command that prints what is there. A recording that is still written ends here if
    `follow` is False, has not ended if None. Raise `Fault` if it cannot be opened, or stdin is a terminal."""
    return source_at(path, follow).reader


def source_at(path: Path, follow: bool | None = False, log_fd: int | None = None) -> FileSource | StoreSource:
    """Return the source of the path of an address; `follow` as in `open_reader`."""
    from agentwatch.agents.opening import saved_source, stdin_growth, stream_source

    if path != STDIN:
        return saved_source(path, follow, log_fd)
    return stream_source(stdin_growth(), path, log_fd)


def is_once(path: Path) -> bool:
    """Whether the path is stdin or a pipe: it can be read only once, has no name, and no files beside it."""
    return path == STDIN or path.is_fifo()


def check_part(path: Path, asked: Asked, agent: Agent | None, name: str = "") -> None:
    """Check that a recording has the part that is to be shown. A large recording, a store and a pipe are not
    read for this check. `agent` is None to detect the agent. `name` is what the user calls the recording."""
    if asked.begin is None and asked.until is None:
        return
    from agentwatch.agents.opening import store_for

    try:
        if is_once(path) or os.path.getsize(path) > _MOST_BYTES or store_for(path) is not None:
            return
    except OSError:
        return  # opening it gives the reason
    from agentwatch.agents.opening import saved_source
    from agentwatch.analysis.moments import Problem, part_of
    from agentwatch.feed.feed import Feed
    from agentwatch.feed.history import History
    from agentwatch.recording.bookmarks import Bookmarks, ends_a_line

    source = saved_source(path)
    feed = Feed(source.reader, agent)
    history = History(feed, source.reader)
    feed.advance()
    bookmarks = Bookmarks(source.bookmarks_path, partial(ends_a_line, source.reader.line_at))
    part = part_of(asked, feed.session, history.timeline, bookmarks.by_name())
    os.close(source.reader.fd)
    if isinstance(part, Problem):
        raise Fault(f"{name or path}: {part.words}", USAGE)


def _splits(words: str) -> Iterator[tuple[str, str]]:
    """Yield the words before each `#` or `@` and those for the moment after it, the last sign first."""
    for at in range(len(words) - 1, -1, -1):
        if words[at] == "#":
            yield words[:at], words[at:]
        elif words[at] == "@":
            yield words[:at], words[at + 1 :]


def _moment(words: str, rest: str) -> MomentSpec:
    from agentwatch.analysis.moments import HINT, Named, Problem, parse

    moment = parse(rest)
    if isinstance(moment, Problem):
        raise Fault(f"{words}: {moment.words}", USAGE)
    if isinstance(moment, Named) and rest.startswith("#"):
        raise Fault(f"{words}: {rest} is not a call; {HINT}", USAGE)
    return moment


def is_source(words: str) -> bool:
    """Whether words name a machine or an engine: `.`, `nats://HOST`, `ssh://HOST`. A file with the literal
    name wins. An address with words behind the host's `/` is a session."""
    if words == HERE:
        return True
    scheme = next((scheme for scheme in (ENGINE, SSH) if words.startswith(scheme)), None)
    if scheme is None or os.path.exists(words):
        return False
    return not words.removeprefix(scheme).partition("/")[2]


def check_sources(words: Sequence[str]) -> None:
    wrong = next((each for each in words if not is_source(each)), None)
    if wrong is not None:
        shown = cut(safe_line(wrong), _SHOWN_COLUMNS)
        raise Fault(f"{shown}: a list has machines only: ., nats://HOST or ssh://HOST", USAGE)


def machine_list(words: Sequence[str], machines: Machines, environ: Mapping[str, str], home: Path) -> Several:
    """Return the sessions of machines as one list; nothing is connected yet. `words` may also be names of
    engines in the settings; a machine that is named twice is listed once. Without the extra for engines, a
    line says so."""
    from agentwatch.catalog.catalog import Machine
    from agentwatch.recording.store import sessions_folder
    from agentwatch.remote.lists import Several

    elsewhere: dict[str, Watched] = {}
    for each in words:
        if each.startswith(SSH):
            from agentwatch.remote.ssh.host_list import SshHost
            from agentwatch.remote.ssh.shared_connection import parse_ssh

            if (address := str(parse_ssh(each.rstrip("/"))[0])) not in elsewhere:
                elsewhere[address] = SshHost(address)
        elif each != HERE:
            from agentwatch.remote.lists import EngineFleet
            from agentwatch.remote.login import check_extra, login_of

            if HERE not in words:
                check_extra()
            login, _ = login_of(each, machines.engines, environ)
            if (address := str(login.address)) not in elsewhere:
                elsewhere[address] = EngineFleet(each.rstrip("/"), login)
    here = Machine(environ, home) if HERE in words else None
    return Several(here, elsewhere, sessions_folder())


def log_in(words: Iterable[str]) -> None:
    """Let ssh ask on the terminal, before the screen is drawn. Without a terminal nothing is connected."""
    hosts = [each.rstrip("/") for each in words if each.startswith(SSH)]
    if hosts and os.isatty(0) and os.isatty(2):
        from agentwatch.remote.ssh.shared_connection import connect

        connect(hosts)
