"""The connection to a host by the program `ssh`, and the protocol of the commands that run there.

A master logs in once, and each command is a client of it. With `ControlPersist` the master ends when nobody
uses it, also after a kill -9 of ours. A client never connects by itself, so no second login happens unseen.

A command is a fixed script on the standard input of `sh -s`. Its words are checked against patterns, here and
again on the host. No path is sent: the script finds the file by its id. Where agentwatch is installed, the
script starts `agentwatch host-rows` or `agentwatch host-pieces`; a program that does not know them exits with
2. Otherwise `find`, `stat`, `sort` and `tail` do the work. Only files whose path below the agent's folder
consists of letters, digits, `.`, `_`, `-` and `/` are listed.

The output begins with a line of MARK and the way: `program` or `tail`. The output of a login shell before it
is ignored.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from agentwatch.agents.registry import programs
from agentwatch.base.config import SSH
from agentwatch.base.credentials import without_credentials
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.local_socket import short_folder
from agentwatch.remote.address import HostPlace, has_password, parse_place
from agentwatch.remote.chunk import CHUNK_BYTES, Chunk, Piece, headers_of
from agentwatch.remote.engine import RemoteError, Trouble
from agentwatch.text.safe import cut, safe_line

_READ_BYTES = 1 << 16
_KEPT_STDERR_BYTES = 1 << 12
_MOST_COLUMNS = 200
_END_SECONDS = 1.0
LOST = 255
"""The exit code of ssh itself: the connection was lost."""


class Ended(RemoteError):
    """The command on the host has ended."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Channel:
    """A client of the shared connection. One thread uses it."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        """Start the client. Raise `RemoteError` if it cannot be started."""
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise RemoteError(f"ssh cannot be started: {(error.strerror or '').lower()}") from None
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (each.fileno() for each in streams if each is not None)
        os.set_blocking(self._err, False)
        self._said = b""
        self._pending = b""
        self.has_more = True
        """Whether the last reading has filled its buffer: more is there already."""

    def write(self, data: bytes) -> None:
        """Send a few bytes to the command. That it has ended is known from its output."""
        with suppress(OSError):
            os.write(self._in, data)

    def read(self, seconds: float) -> bytes:
        """Return at most 64 KiB of the output; none if none arrive in time. Raise `Ended` after the last."""
        if self._pending:
            pending, self._pending = self._pending, b""
            return pending
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        poll.register(self._err, select.POLLIN)
        until = time.monotonic() + seconds
        while True:
            ready = dict(poll.poll(max(0.0, until - time.monotonic()) * 1000))
            if self._err in ready and not self._take_error():
                poll.unregister(self._err)
            if self._out in ready:
                data = os.read(self._out, _READ_BYTES)
                self.has_more = len(data) == _READ_BYTES
                if not data:
                    raise self._ended()
                return data
            if time.monotonic() >= until:
                return b""

    def put_back(self, data: bytes) -> None:
        """Let the next reading return bytes that were read already."""
        self._pending = data + self._pending

    def close(self) -> None:
        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _take_error(self) -> bool:
        """Keep the last bytes of stderr; return whether there may be more."""
        try:
            data = os.read(self._err, _READ_BYTES)
        except BlockingIOError:
            return True
        self._said = (self._said + data)[-_KEPT_STDERR_BYTES:]
        return bool(data)

    def _ended(self) -> Ended:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = LOST
        with suppress(OSError):
            self._take_error()
        message = _safe_message(self._said)
        if code in (LOST, -15, -9):
            return Ended("the connection was lost" + (f": {message}" if message else ""), LOST)
        return Ended(message or f"the host has ended it with {code}", code)


def _safe_message(said: bytes) -> str:
    """Return the last line that a program has written to stderr, as safe text of bounded length."""
    lines = said[-_KEPT_STDERR_BYTES:].decode("utf-8", "replace").split("\n")
    last = next((line for each in reversed(lines) if (line := each.strip())), "")
    return cut(safe_line(last), _MOST_COLUMNS)


MARK = "agentwatch-over-ssh-1"
END = "."
"""The line after each list of `tail`."""
LIST = b"list\n"
"""Asks for another list of `tail`."""
HEAD_BYTES = 1 << 15
"""The most bytes of the beginning of a file that `tail` is asked for, with `head AGENT ID`."""
REPLACED = 75
"""The exit code if the file was replaced or cut: EX_TEMPFAIL of sysexits.h."""
ABSENT = 66
"""The exit code if there is no such session: EX_NOINPUT."""

_SCRIPT = r"""
mark=agentwatch-over-ssh-1 mode=$1 id=$2 have=$3 digest=$4 inode=$5
umask 077; set -f; unset CDPATH; cd || exit 71
for each in "$have" "$inode"; do case $each in ''|*[!0-9]*) exit 64;; esac; done
case $id$digest in *[!A-Za-z0-9._-]*) exit 64;; esac

program=`command -v agentwatch`
for each in "$HOME/.local/bin" "$HOME/bin" /usr/local/bin /opt/homebrew/bin; do
  test -n "$program" && break
  test -x "$each/agentwatch" && program=$each/agentwatch
done

if stat -c %Y . >/dev/null 2>&1
then flag=-c form='%Y %s %n' identity='%i %s'
else flag=-f form='%m %z %N' identity='%i %z'
fi

below() { # AGENT FOLDER NAME: print agent, time, size and path of the files with a name below a folder
  case $2 in /*) ;; *) return;; esac
  ( cd "$2" 2>/dev/null && LC_ALL=C find . -type f -name "$3" ! -path '*[!A-Za-z0-9._/-]*' ! -name 'agent-*' \
    -exec stat "$flag" "$1 $form" '{}' + 2>/dev/null )
}
each_folder() { # ACTION ID: call ACTION with agent, folder and the pattern of the names
  "$1" agentwatch "${AGENTWATCH_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/agentwatch}/sessions" "$2.ndjson"
  "$1" agentwatch "$HOME/Library/Application Support/agentwatch/sessions" "$2.ndjson"
FOLDERS_OF_AGENTS}
newest() { LC_ALL=C sort -k2,2nr | head -n "$1"; }

choose() { # the newest file with the id, its folder and its size
  test "${agent:-$1}" = "$1" || return
  set -- "$2" `below "$@" | newest 1`
  test -n "$3" && test "$3" -gt "$time" && folder=$1 time=$3 size=$4 file=$5
}
beginning() { # AGENT ID: print the length of the beginning of a file, and exactly that number of bytes
  size=0; agent=$1 time=-1
  case $2 in ''|*[!A-Za-z0-9._-]*) ;; *) each_folder choose "*$2";; esac
  test "$size" -gt 32768 && size=32768
  echo "head $size"
  test "$size" = 0 || { ( cd "$folder" && cat "$file" ) 2>/dev/null | head -c "$size"; } |
    cat - /dev/zero 2>/dev/null | head -c "$size"
}
follow() { # print the identity of the file, and then its bytes, until the standard input ends
  time=-1; each_folder choose "*$id"
  test -n "$file" && cd "$folder" || exit 66
  set -- `stat "$flag" "$identity" "$file"`
  was=$1 size=$2
  test "$inode" = 0 || test "$inode" = "$was" || exit 75
  test "$size" -ge "$have" || exit 75
  echo "$mark tail"; echo "$was $size"
  exec 3<&0 </dev/null
  tail -c "+$((have + 1))" -f "$file" 3<&- & tail=$!
  ( cat >/dev/null; kill "$tail" ) <&3 3<&- >/dev/null 2>&1 &
  exec 3<&-
  while sleep 1; kill -0 "$tail" 2>/dev/null; do
    set -- `stat "$flag" "$identity" "$file" 2>/dev/null` "$was" "$size"
    test "$1" = "$was" && test "$2" -ge "$size" || { kill "$tail"; exit 75; }
    size=$2
  done
}

rows() {
  if test -n "$program"; then
    echo "$mark program"; "$program" host-rows; code=$?
    test "$code" = 2 || exit "$code"
  fi
  echo "$mark tail"
  while read -r line; do
    set -- $line
    case $1 in head) beginning "$2" "$3";; *) each_folder below '*' | newest 200; echo .;; esac
  done
}
pieces() {
  if test -n "$program"; then
    echo "$mark program"; "$program" host-pieces "$id" "$have" "$digest"; code=$?
    test "$code" = 2 || exit "$code"
  fi
  follow
}
case $mode in rows) rows;; pieces) pieces;; *) exit 64;; esac; exit
"""
"""The last line is read whole before it runs: what follows it on the standard input is not the shell's."""


@cache
def script() -> bytes:
    """Return the program, with the folders of all agents that keep files of lines."""
    folders = (
        f'  "$1" {program.name} "{each.over_ssh}/{each.part}" "$2.jsonl"\n'
        for program in programs()
        for each in program.sessions
        if each.over_ssh
    )
    return _SCRIPT.replace("FOLDERS_OF_AGENTS", "".join(folders)).encode()


def command(mode: str, session: str = "-", have: int = 0, digest: str = "-", inode: int = 0) -> str:
    """Return the command for the login shell of the host, of words that no shell changes. `session` has been
    checked against the pattern of an address. `have` bytes are here already; `digest` is their SHA-256 in
    hexadecimal digits, `-` if it is not known. `inode` is the file that was read before, if there was only
    `tail`; 0 for any."""
    return f"exec sh -s -- {mode} {session} {have:d} {digest} {inode:d}"


# Every part of an address is a word on a command line, of `ssh` here or of the shell there. So each has a
# pattern that no option, no second word and no expansion of a shell matches.

_SESSION = re.compile(r"(?:[a-z][a-z0-9]{0,30}:)?[A-Za-z0-9._][A-Za-z0-9._-]{0,199}")
"""The id of a session, also behind the short name of its agent."""
_MOST_CHARACTERS = 600


class SshAddress(NamedTuple):
    """A host, as the user has named it: an alias of the configuration of ssh is one too."""

    host: str
    """A name, or an address; one of IPv6 without brackets."""
    user: str = ""
    """The user; empty for the one that ssh chooses."""
    port: int | None = None
    """The port; None for the one that ssh chooses."""

    def __str__(self) -> str:
        return f"{SSH}{HostPlace(*self)}"


def is_session(text: str) -> bool:
    """Return whether a text can be the id of a session in an address."""
    return _SESSION.fullmatch(text) is not None and ".." not in text


def parse_ssh(words: str) -> tuple[SshAddress, str]:
    """Return a host, and the session behind it or empty. Raise `Fault` for another form or a password."""
    place, _, session = words[:_MOST_CHARACTERS].removeprefix(SSH).partition("/")
    if has_password(place):
        raise Fault("an address must not contain a password: other users of this machine can read it", USAGE)
    found = parse_place(place) if words.startswith(SSH) and len(words) <= _MOST_CHARACTERS else None
    if found is None:
        raise Fault("the address of a host is ssh://HOST or ssh://USER@HOST:PORT", USAGE)
    if session and not is_session(session):
        raise Fault(f"{SSH}{place}/…: this is not an id of a session", USAGE)
    return SshAddress(*found), session


_PERSIST_SECONDS = 15
_CONNECT_SECONDS = 10
_LOGIN_SECONDS = 60.0
"""A name may have several addresses, and a jump host takes its time too."""
_FIRST_SECONDS = 3.0
"""How long the screen waits for hosts that may have a question; connecting to an absent host takes 10 s."""
_ANSWER_SECONDS = 5.0
_MOST_STDERR = 1 << 16
_COMMON = (
    *("-a", "-x", "-T", "-e", "none"),
    *("-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
    *("-o", f"ConnectTimeout={_CONNECT_SECONDS}"),
)
_SILENT = ("-o", "BatchMode=yes", "-o", "LogLevel=ERROR")
_REFUSED = re.compile(r"(?i)permission denied|host key verification failed|too many authentication")


class Connection:
    """A host, and the folder of the socket through which its connection is shared."""

    def __init__(self, address: SshAddress) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._login: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._environ = without_credentials(os.environ)

    def log_in(self, *, asks: bool) -> None:
        """Connect, unless the connection exists. `asks` says whether ssh may ask on the terminal, for a
        password or about a host key. Raise `RemoteError` with the reason."""
        with self._lock:
            if self._is_closed:
                raise RemoteError("the connection is closed")
            if self._folder is not None and self._control("check") == 0:
                return
            self._connect(asks=asks)

    def open(self, command: str) -> Channel:
        """Run the script `command` on the host, and return the channel to it."""
        self.log_in(asks=False)
        # A client without a master would connect by itself; this command in place of a connection fails.
        alone = ("-o", "ControlMaster=no", "-o", "ProxyCommand=false")
        channel = Channel(self._argv(*_SILENT, *alone, command=command), self._environ)
        channel.write(script())
        return channel

    def close(self) -> None:
        self._is_closed = True
        if (login := self._login) is not None:
            login.terminate()
        with self._lock:
            if self._folder is not None:
                self._control("exit")
                with suppress(OSError):
                    (self._folder / "s").unlink(missing_ok=True)
                with suppress(OSError):
                    self._folder.rmdir()
                self._folder = None

    def _connect(self, *, asks: bool) -> None:
        try:
            self._folder = self._folder or Path(short_folder())  # ssh appends 17 bytes while it connects
        except OSError as error:
            raise RemoteError(f"ssh cannot be started: {error.strerror}", Trouble.REFUSED) from None
        with suppress(OSError):
            (self._folder / "s").unlink(missing_ok=True)  # of a master that was killed
        argv = self._argv(
            *(() if asks else _SILENT),
            *("-M", "-N", "-f", "-o", "ControlMaster=yes", "-o", f"ControlPersist={_PERSIST_SECONDS}"),
        )
        # A file: older versions keep their stderr open in the background, and a pipe would never end.
        with tempfile.TemporaryFile() as errors:
            code = self._run(argv, None if asks else errors)
            if code == 0:
                return
            errors.seek(0)
            message = _safe_message(errors.read(_MOST_STDERR))
        trouble = Trouble.REFUSED if _REFUSED.search(message) else Trouble.AWAY
        raise RemoteError("cannot connect" + (f": {message}" if message else ""), trouble)

    def _run(self, argv: list[str], errors: IO[bytes] | None) -> int:
        """Run ssh until it has logged in, and return its exit code."""
        try:
            login = self._login = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=self._environ,
                start_new_session=errors is not None,
            )
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise RemoteError(f"ssh cannot be started: {reason}", Trouble.REFUSED) from None
        if self._is_closed:  # meanwhile: `close` did not see the login yet
            login.terminate()
        try:
            return login.wait(None if errors is None else _LOGIN_SECONDS)
        except subprocess.TimeoutExpired:
            raise RemoteError(f"{self.address} does not answer") from None
        finally:
            self._login = None
            if login.poll() is None:
                login.kill()
                login.wait()

    def _control(self, word: str) -> int:
        try:
            return subprocess.run(
                self._argv("-O", word),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self._environ,
                start_new_session=True,
                timeout=_ANSWER_SECONDS,
                check=False,
            ).returncode
        except (OSError, subprocess.TimeoutExpired):
            return -1

    def _argv(self, *options: str, command: str | None = None) -> list[str]:
        address = self.address
        user = ("-l", address.user) if address.user else ()
        port = () if address.port is None else ("-p", str(address.port))
        path = ("-S", f"{self._folder}/s")
        rest = () if command is None else (command,)
        return ["ssh", *_COMMON, *path, *options, *user, *port, "--", address.host, *rest]


_shared: dict[SshAddress, Connection] = {}
_sharing = threading.Lock()


def connection_to(address: SshAddress) -> Connection:
    with _sharing:
        if not _shared:
            atexit.register(close_all)
        return _shared.setdefault(address, Connection(address))


def connect(addresses: Iterable[str]) -> None:
    """Connect to hosts before there is a screen, on which ssh could not ask. First all hosts are tried at the
    same time for some seconds, without questions. Those that refuse are tried again one after the other, and
    ssh may ask for a password or whether a host key is right. That a host cannot be reached is reported by
    whoever uses the connection then. Raise `Fault` if one of them is not an address."""
    hosts = [connection_to(host) for host in dict.fromkeys(parse_ssh(words)[0] for words in addresses)]
    refusing: list[Connection] = []

    def log_in(host: Connection) -> None:
        try:
            host.log_in(asks=False)
        except RemoteError as error:
            if error.trouble is Trouble.REFUSED:
                refusing.append(host)

    threads = [threading.Thread(target=log_in, args=(host,), daemon=True) for host in hosts]
    for thread in threads:
        thread.start()
    until = time.monotonic() + _FIRST_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    for host in hosts:
        if host in refusing:
            with suppress(RemoteError):
                host.log_in(asks=True)


def close_all() -> None:
    with _sharing:
        connections = list(_shared.values())
        _shared.clear()
    for each in connections:
        each.close()


LIFE = b"{}\n"


class Frame(NamedTuple):
    """A line of JSON, and behind it the number of bytes that it names. Its keys are the headers of a piece on
    an engine (`agentwatch.remote.chunk`), and those of the other fields without `is_`. A line with none of
    them is a sign of life."""

    headers: dict[str, str]
    length: int = 0
    """The number of bytes behind the line, at most 64 KiB."""
    is_newest: bool = False
    """Whether the host has no more bytes now."""
    is_absent: bool = False
    """Whether there is no such session."""
    is_replaced: bool = False
    """Whether the file was replaced or cut, so that the bytes sent before are not its beginning."""
    problem: str = ""
    """The reason why the session cannot be read."""


def frame_of(piece: Piece, *, is_newest: bool = False) -> bytes:
    payload = piece.payload if isinstance(piece, Chunk) else b""
    values: dict[str, Any] = {**headers_of(piece), "length": len(payload)}
    if is_newest:
        values["newest"] = True
    return orjson.dumps(values) + b"\n" + payload


def word_frame(word: str, value: str | bool = True) -> bytes:
    """Return a frame without bytes: `absent`, `replaced` or `problem`."""
    text = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    return orjson.dumps({word: text}) + b"\n"


def parse(line: bytes) -> Frame:
    """Return the frame that a line begins; raise `RemoteError` if it is none, or announces too many bytes."""
    try:
        given = orjson.loads(line)
    except ValueError:
        given = None
    length = given.get("length", 0) if isinstance(given, dict) else None
    if type(length) is not int or not 0 <= length <= CHUNK_BYTES:
        raise RemoteError("unexpected reply from the host: expected a piece of the session")
    problem = given.get("problem")
    return Frame(
        {name: value for name, value in given.items() if isinstance(value, str)},
        length,
        given.get("newest") is True,
        given.get("absent") is True,
        given.get("replaced") is True,
        problem if isinstance(problem, str) else "",
    )


_MOST_BYTES = 1 << 16
"""The most bytes of a line."""
_MOST_BEFORE = 1 << 18
"""The most bytes that a login shell may print before the script begins."""
_MOST_FOREIGN = 1 << 22
"""The most bytes of a line that is passed over because it is too long."""


class ChannelLines:
    """The lines of a command's output, and the bytes between them."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._held = bytearray()
        self._searched = 0
        self._dropped = 0

    def next(self, seconds: float) -> bytes | None:
        """Return the next line without its end; None if none is complete within the time. A line that is too
        long is passed over. Raise `RemoteError` if the command has ended, or its line does not end."""
        until = time.monotonic() + seconds
        while True:
            end = self._held.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._held[:end])
                del self._held[: end + 1]
                self._searched = 0
                was_dropped, self._dropped = self._dropped, 0
                if not was_dropped and len(line) <= _MOST_BYTES:
                    return line
                continue
            self._searched = len(self._held)
            if self._searched > _MOST_BYTES:
                self._dropped += self._searched
                self._held.clear()
                self._searched = 0
                if self._dropped > _MOST_FOREIGN:
                    raise RemoteError("the host sends a line that does not end")
            data = self.channel.read(max(0.0, until - time.monotonic()))
            if not data:
                return None
            self._held += data

    def take(self, count: int, seconds: float) -> bytes:
        """Return exactly so many bytes; raise `RemoteError` if they do not arrive within the time."""
        until = time.monotonic() + seconds
        while len(self._held) < count:
            data = self.channel.read(max(0.0, until - time.monotonic()))
            if not data and time.monotonic() >= until:
                raise RemoteError("the host does not answer")
            self._held += data
        taken = bytes(self._held[:count])
        del self._held[:count]
        self._searched = 0
        return taken

    def rest(self) -> bytes:
        """Return the bytes that were read behind the last line; later ones are read from the channel."""
        held = bytes(self._held)
        self._held.clear()
        self._searched = 0
        return held


def begun(lines: ChannelLines, seconds: float) -> str:
    """Return how the script works: `program` or `tail`; raise `RemoteError` if it does not begin in time."""
    until = time.monotonic() + seconds
    passed = 0
    while passed < _MOST_BEFORE:
        line = lines.next(max(0.0, until - time.monotonic()))
        if line is None:
            if time.monotonic() >= until:
                break
            continue
        if (way := way_of(line)) is not None:
            return way
        passed += len(line) + 1
    raise RemoteError("the host does not answer")


def way_of(line: bytes) -> str | None:
    """Return the way that a line of the script names; None for another line."""
    mark, _, way = line.decode("ascii", "replace").partition(" ")
    return way if mark == MARK and way in ("program", "tail") else None
