"""The client nats-py with the parts that it lacks: TLS before any byte is sent, and raw messages.

nats-py begins TLS if the server's first line asks for it. An impostor can leave that out, and would get the
login. The transport decides by the address instead. It also removes the addresses of other servers from the
first line.

A publisher can store a message whose headers or subject are not UTF-8, and nats-py stops reading a connection
on which it receives one. Messages therefore go to their receivers as bytes. Only this module uses private
names of nats-py.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import importlib.util
import ipaddress
import json
import os
import re
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import ParseResult

from nats.aio.client import Client
from nats.aio.transport import Transport

from agentwatch.base.faults import USAGE, Fault, cannot_open, raising
from agentwatch.remote.engine import Login, RemoteError, Trouble
from agentwatch.remote.nats.errors import plain

_MOST_BYTES = 1 << 16
_JWT = b"BEGIN NATS USER JWT"
_SEED = b"BEGIN USER NKEY SEED"


def login_options(login: Login) -> dict[str, Any]:
    """Return the options of `connect` for a login; raise `Fault` for a wrong file or a missing package."""
    given = login.credentials
    options: dict[str, Any] = {
        "user": login.address.user or given.user or None,
        "password": given.password or None,
        "token": given.token or None,
    }
    if given.creds is not None:
        options |= _signing(given.creds)
    if given.ca is not None or not (login.address.is_loopback or login.allows_plaintext):
        options["tls"] = _context(given.ca)
    return options


def _signing(path: Path) -> dict[str, Callable[..., bytes]]:
    """Return what sends the JWT in a `.creds` file, and signs the server's challenge with the seed in it.
    nats-py can read the file as well, and reads a damaged one without end."""
    if importlib.util.find_spec("nkeys") is None:
        from agentwatch.base.extras import NKEYS, install_command

        needed = f"a package that is not installed: {install_command(NKEYS)}"
        raise Fault(f"{path}: .creds files need {needed}", USAGE)
    nkeys = importlib.import_module("nkeys")
    jwt, seed = _creds(path)
    try:
        keys = nkeys.from_seed(bytearray(seed))
        keys.sign(b"")
    except (nkeys.NkeysError, ValueError, IndexError):
        raise Fault(f"{path}: the seed in the file is damaged", USAGE) from None
    return {
        "user_jwt_cb": lambda: jwt,
        "signature_cb": lambda nonce: base64.b64encode(keys.sign(nonce.encode())),
    }


def _creds(path: Path) -> tuple[bytes, bytes]:
    """Return the JWT and the seed in a `.creds` file: each is the line after its own `-----BEGIN …-----`."""
    with raising(cannot_open, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            lines = os.read(fd, _MOST_BYTES).splitlines()
        finally:
            os.close(fd)
    found: dict[bytes, bytes] = {}
    for line, after in pairwise(lines):
        for name in (_JWT, _SEED):
            if name in line and after.isascii():
                found.setdefault(name, after.strip())
    if not all(found.get(name) for name in (_JWT, _SEED)):
        raise Fault(f"{path}: a .creds file of NATS has a JWT and a seed", USAGE)
    return found[_JWT], found[_SEED]


def _context(authority: Path | None) -> ssl.SSLContext:
    """Return the context that checks the server's certificate and name; there is no way to skip it."""
    try:
        context = ssl.create_default_context(cafile=authority)
    except ssl.SSLError:
        raise Fault(f"{authority}: no certificates in PEM", USAGE) from None
    except OSError as error:
        raise cannot_open(authority or Path(), error) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


# Headers: `NATS/1.0[ STATUS[ DESCRIPTION]]`, then lines `Name: Value`; each line ends with CR LF. The reply
# subject of a delivered message has its position in the stream (ADR-15 of NATS):
#
#     $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.CONSUMER_SEQUENCE.NANOSECONDS.PENDING
#     $JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER.DELIVERED.SEQUENCE.CONSUMER_SEQUENCE.NANOSECONDS.PENDING[.TOKEN]

STATUS = "Status"
DESCRIPTION = "Description"
_BEGINNING = b"NATS/1.0"
_ACK = b"$JS.ACK."

_MOST_DIGITS = 20


class Message(NamedTuple):
    subject: bytes
    reply: bytes
    data: bytes
    block: bytes
    """The headers, as on the wire; empty if there are none."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers; of the first line, `Status` and `Description`."""
        return headers_in(self.block)


class Delivery(NamedTuple):
    """The position of a delivered message in its stream."""

    sequence: int
    stored_ns: int
    """The time at which it was stored, by the server's clock, in nanoseconds since the epoch."""
    pending: int
    """The number of messages of the consumer that were not delivered yet."""


def headers_in(block: bytes) -> dict[str, str]:
    """Return the headers in a block; malformed lines are left out, the last of equal names counts."""
    if not block.startswith(_BEGINNING):
        return {}
    first, _, rest = block[len(_BEGINNING) : _MOST_BYTES].partition(b"\r\n")
    found = {}
    for line in rest.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:
            found[name.strip().decode("utf-8", "replace")] = value.strip().decode("utf-8", "replace")
    found.pop(STATUS, None)
    found.pop(DESCRIPTION, None)
    status, _, description = first.strip().decode("utf-8", "replace").partition(" ")
    if status:
        found |= {STATUS: status, DESCRIPTION: description}
    return found


def delivery_in(reply: bytes) -> Delivery | None:
    """Return the position of a message by its reply subject; None if no consumer has delivered it."""
    if not reply.startswith(_ACK):
        return None
    tokens = reply[:_MOST_BYTES].split(b".")
    if len(tokens) == 9:
        numbers = tokens[5], tokens[7], tokens[8]
    elif len(tokens) >= 11:
        numbers = tokens[7], tokens[9], tokens[10]
    else:
        return None
    if not all(each.isdigit() and len(each) <= _MOST_DIGITS for each in numbers):
        return None
    return Delivery(*map(int, numbers))


_BUFFER = 1 << 20
_INFO = b"INFO "


class GuardedTransport(Transport):
    """A TCP connection to the server of a login."""

    def __init__(self, login: Login) -> None:
        self.info: dict[str, Any] = {}
        """The server's first line, in which it describes itself."""
        self._login = login
        self._needs_tls = not login.allows_plaintext
        self._has_tls = False
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._plain: asyncio.StreamWriter | None = None
        """The writer before TLS. It closes the connection when it is collected."""

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: float) -> None:
        """Connect to the address of the login; the client's own idea of the address is ignored."""
        address = self._login.address
        connection = await asyncio.wait_for(
            _connected(address.host, address.port, connect_timeout), connect_timeout
        )
        if address.is_loopback and _is_loopback(connection):
            self._needs_tls = False
        self._reader, self._writer = await asyncio.open_connection(sock=connection, limit=_BUFFER)

    async def connect_tls(
        self,
        uri: str | ParseResult,
        ssl_context: ssl.SSLContext,
        buffer_size: int,
        connect_timeout: float,
    ) -> None:
        """Begin TLS on the connection, for the host of the login."""
        assert self._writer is not None
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_BUFFER)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport = await asyncio.wait_for(
            loop.start_tls(
                self._writer.transport, protocol, ssl_context, server_hostname=self._login.address.host
            ),
            connect_timeout,
        )
        assert transport is not None
        protocol.connection_made(transport)  # asyncio leaves it out; without, reading never pauses
        self._plain = self._writer
        self._reader, self._writer = reader, asyncio.StreamWriter(transport, protocol, reader, loop)
        self._has_tls = True

    def write(self, payload: bytes) -> None:
        """Write, but only over TLS if it is needed."""
        self._sending().write(payload)

    def writelines(self, payload: list[bytes]) -> None:
        self._sending().writelines(payload)

    async def read(self, buffer_size: int) -> bytes:
        """Read what has arrived, up to 1 MiB: with the client's own 32 KiB, history takes longer."""
        assert self._reader is not None
        return await self._reader.read(_BUFFER)

    async def readline(self) -> bytes:
        """Read a line. The first one is what the server says about itself, and is changed as said above."""
        assert self._reader is not None
        try:
            line = await self._reader.readline()
        except ValueError:  # longer than the buffer
            raise RemoteError(
                "the server's first line is too long for a NATS server", Trouble.REFUSED
            ) from None
        return line if self.info else self._changed(line)

    async def drain(self) -> None:
        assert self._writer is not None
        await self._writer.drain()

    async def wait_closed(self) -> None:
        """Do nothing: the end of a connection of TLS may take 30 s, and everything sent was acknowledged."""

    def close(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        if self._has_tls:
            self._writer.transport.abort()

    def at_eof(self) -> bool:
        return self._reader is None or self._reader.at_eof()

    def __bool__(self) -> bool:
        """Return True: the client would replace a transport that is not connected by one of its own."""
        return True

    def _sending(self) -> asyncio.StreamWriter:
        assert self._writer is not None
        if self._needs_tls and not self._has_tls:
            raise RemoteError("nothing is sent without TLS", Trouble.REFUSED)
        return self._writer

    def _changed(self, line: bytes) -> bytes:
        """Return the first line, with TLS as the login needs it and without other servers."""
        try:
            info = json.loads(line.removeprefix(_INFO)) if line.startswith(_INFO) else None
        except (ValueError, RecursionError):
            info = None
        if not isinstance(info, dict):
            raise RemoteError("the engine does not answer like a NATS server", Trouble.REFUSED)
        if self._needs_tls and not (info.get("tls_required") or info.get("tls_available")):
            raise RemoteError(
                "the engine does not offer TLS, without which no login is sent to another host; "
                "plain text must be allowed: --publish-plaintext, or `plaintext = true` in the settings",
                Trouble.REFUSED,
            )
        info["tls_required"] = bool(info.get("tls_required") or self._needs_tls)
        info.pop("connect_urls", None)
        if not isinstance(info.get("max_payload"), int):
            info.pop("max_payload", None)
        if not isinstance(info.get("nonce"), str):
            info.pop("nonce", None)
        info["version"] = plain(info.get("version"))
        self.info = info
        return _INFO + json.dumps(info).encode() + b"\r\n"


async def _connected(host: str, port: int, seconds: float) -> socket.socket:
    """Return a connected socket. The name is looked up in a thread that does not delay the program's end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[socket.socket] = loop.create_future()

    def finish(connection: socket.socket | None, error: OSError | None) -> None:
        if not done.done():
            if connection is not None:
                done.set_result(connection)
            elif error is not None:
                done.set_exception(error)
        elif connection is not None:
            connection.close()

    def connect() -> None:
        connection = error = None
        try:
            connection = socket.create_connection((host, port), seconds)
            connection.setblocking(False)
        except OSError as caught:
            error = caught
        except UnicodeError:  # a name with a label over 63 characters
            error = socket.gaierror("no such name")
        try:
            loop.call_soon_threadsafe(finish, connection, error)
        except RuntimeError:  # the loop has ended
            if connection is not None:
                connection.close()

    threading.Thread(target=connect, name="nats-connect", daemon=True).start()
    return await done


def _is_loopback(connection: socket.socket) -> bool:
    with suppress(OSError, ValueError, IndexError):
        return ipaddress.ip_address(connection.getpeername()[0]).is_loopback
    return False


Receiver = Callable[[Message], None]


class RawClient(Client):
    """A client whose subscriptions each have a receiver of raw messages."""

    def __init__(self, login: Login) -> None:
        super().__init__()
        self.transport = GuardedTransport(login)
        self._transport = self.transport
        self._receivers: dict[int, Receiver] = {}

    async def receive(self, subject: str, receiver: Receiver) -> int:
        self._receivers[self._sid + 1] = receiver  # messages may arrive before `subscribe` returns
        subscription = await self.subscribe(subject)
        return int(subscription._id)  # noqa: SLF001

    async def leave(self, number: int) -> None:
        self._receivers.pop(number, None)
        if (subscription := self._subs.get(number)) is not None and not self.is_closed:
            await subscription.unsubscribe()

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes | None
    ) -> None:
        if (receiver := self._receivers.get(sid)) is not None:
            receiver(Message(subject, reply, data, headers or b""))


_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")
_SAFE = "2.11.16 or 2.12.7"


def warning_about(version: str) -> str:
    """Return a line about the version of a server; empty if the version can be shared by several teams."""
    if (found := _VERSION.match(version)) is None:
        return f"the engine does not say its version; shared servers need {_SAFE}"
    numbers = tuple(map(int, found.groups()))
    if numbers < (2, 11, 16) or (2, 12) <= numbers < (2, 12, 7):
        return f"the engine runs nats-server {found.group()}; shared servers need {_SAFE}"
    return ""
