"""One shared connection to a host: the program `ssh` as a master, and a client of it for each command.

The master logs in once. With `ControlPersist` it ends when nobody uses it, also after a kill -9 of ours. A
client never connects by itself, so no second login happens unseen.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from agentwatch.engine.credentials import without_credentials
from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.remote.ssh.address import SshAddress, parse_ssh
from agentwatch.remote.ssh.channel import Channel, safe_message
from agentwatch.remote.ssh.script import script

_PERSIST_SECONDS = 15
_CONNECT_SECONDS = 10
_LOGIN_SECONDS = 60.0
"""A name may have several addresses, and a jump host takes its time too."""
_FIRST_SECONDS = 3.0
"""How long the screen waits for hosts that may have a question; one that is away takes 10 s."""
_ANSWER_SECONDS = 5.0
_MOST_STDERR = 1 << 16
_LONGEST_FOLDER = 60
"""The path of a socket has at most 104 bytes on macOS, with the 17 that ssh appends while it connects."""
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
        """Create it; nothing is connected yet.

        Args:
            address: The host.
        """
        self.address = address
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._login: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._environ = without_credentials(os.environ)

    def log_in(self, *, asks: bool) -> None:
        """Connect, unless that was done and the connection is still there.

        Args:
            asks: Whether ssh may ask on the terminal: for a password, or whether a host key is right.

        Raises:
            EngineError: ssh cannot connect; the message has its reason.
        """
        with self._lock:
            if self._is_closed:
                raise EngineError("the connection is closed")
            if self._folder is not None and self._control("check") == 0:
                return
            self._connect(asks=asks)

    def open(self, command: str) -> Channel:
        """Run the script on the host, and return the channel to it.

        Args:
            command: The command for the login shell of the host, from `script.command`.

        Raises:
            EngineError: ssh cannot connect.
        """
        self.log_in(asks=False)
        # A client without a master would connect by itself; this command in place of a connection fails.
        alone = ("-o", "ControlMaster=no", "-o", "ProxyCommand=false")
        channel = Channel(self._argv(*_SILENT, *alone, command=command), self._environ)
        channel.write(script())
        return channel

    def close(self) -> None:
        """Close the connection for ever; a login that is going on is ended."""
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
        if self._folder is None:
            self._folder = _private_folder()
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
            said = errors.read(_MOST_STDERR)
        raise _cannot_connect(said)

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
            raise EngineError(f"ssh cannot be started: {reason}", Trouble.REFUSED) from None
        if self._is_closed:  # meanwhile: `close` did not see the login yet
            login.terminate()
        try:
            return login.wait(None if errors is None else _LOGIN_SECONDS)
        except subprocess.TimeoutExpired:
            raise EngineError(f"{self.address} does not answer") from None
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


def connection(address: SshAddress) -> Connection:
    """Return the connection to a host that this process shares. It is closed when the process ends."""
    with _sharing:
        if not _shared:
            atexit.register(close_all)
        return _shared.setdefault(address, Connection(address))


def connect(addresses: Iterable[str], *, asks: bool) -> None:
    """Connect to hosts before there is a screen, on which ssh could not ask.

    First all hosts are tried at the same time for some seconds, without questions. Those that refuse are
    tried again one after the other, and ssh may ask for a password or whether a host key is right. That a
    host cannot be reached is reported by whoever uses the connection then.

    Args:
        addresses: The addresses of hosts, or of sessions on them.
        asks: Whether ssh may ask on the terminal.

    Raises:
        Fault: One of them is no address.
    """
    hosts = [connection(host) for host in dict.fromkeys(parse_ssh(words)[0] for words in addresses)]
    refusing: list[Connection] = []

    def log_in(host: Connection) -> None:
        try:
            host.log_in(asks=False)
        except EngineError as error:
            if error.trouble is Trouble.REFUSED:
                refusing.append(host)

    threads = [threading.Thread(target=log_in, args=(host,), daemon=True) for host in hosts]
    for thread in threads:
        thread.start()
    until = time.monotonic() + _FIRST_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    for host in hosts:
        if asks and host in refusing:
            with suppress(EngineError):
                host.log_in(asks=True)


def close_all() -> None:
    """Close the connections to all hosts."""
    with _sharing:
        connections = list(_shared.values())
        _shared.clear()
    for each in connections:
        each.close()


def _private_folder() -> Path:
    """Create a folder with a short path that only the user may use."""
    folder = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="aw-", dir="/tmp" if len(folder) > _LONGEST_FOLDER else folder))  # noqa: S108 - the path of a socket must be short


def _cannot_connect(said: bytes) -> EngineError:
    message = safe_message(said)
    trouble = Trouble.REFUSED if _REFUSED.search(message) else Trouble.AWAY
    return EngineError("cannot connect" + (f": {message}" if message else ""), trouble)
