"""The bytes of a connection: TLS is up before anything is sent, unless the address allows plain text.

nats-py begins TLS if the server's first line asks for it. Whoever answers in the server's place can leave
that out, and would get the login. This transport decides by the address, and sends nothing before TLS is up.
It also removes the addresses of other servers from the first line.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import ParseResult

from nats.aio.transport import Transport

from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.engine.nats.errors import plain
from agentwatch.engine.opening import Login

_BUFFER = 1 << 20
_INFO = b"INFO "
_MOST_INFO = 1 << 20


class GuardedTransport(Transport):
    """A TCP connection to the server of a login."""

    def __init__(self, login: Login) -> None:
        self.info: dict[str, Any] = {}
        """What the server says about itself: its first line."""
        self._login = login
        self._needs_tls = not login.allows_plaintext
        self._has_tls = False
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._plain: asyncio.StreamWriter | None = None
        """The writer before TLS. It closes the connection when it is collected."""

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: float) -> None:  # noqa: ARG002
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
        uri: str | ParseResult,  # noqa: ARG002
        ssl_context: ssl.SSLContext,
        buffer_size: int,  # noqa: ARG002
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
        """Write several pieces."""
        self._sending().writelines(payload)

    async def read(self, buffer_size: int) -> bytes:  # noqa: ARG002
        """Read what has arrived, up to 1 MiB: with the client's own 32 KiB, history takes longer."""
        assert self._reader is not None
        return await self._reader.read(_BUFFER)

    async def readline(self) -> bytes:
        """Read a line. The first one is what the server says about itself, and is changed as said above."""
        assert self._reader is not None
        try:
            line = await self._reader.readline()
        except ValueError:  # longer than the buffer
            raise EngineError(
                "the server's first line is too long for a NATS server", Trouble.REFUSED
            ) from None
        return line if self.info else self._changed(line)

    async def drain(self) -> None:
        """Wait until the pieces written are sent."""
        assert self._writer is not None
        await self._writer.drain()

    async def wait_closed(self) -> None:
        """Do nothing: the end of a connection of TLS may take 30 s, and everything sent was acknowledged."""

    def close(self) -> None:
        """Close the connection."""
        if self._writer is None:
            return
        self._writer.close()
        if self._has_tls:
            self._writer.transport.abort()

    def at_eof(self) -> bool:
        """Return whether the server has ended the connection."""
        return self._reader is None or self._reader.at_eof()

    def __bool__(self) -> bool:
        """Return True: the client would replace a transport that is not connected by one of its own."""
        return True

    def _sending(self) -> asyncio.StreamWriter:
        assert self._writer is not None
        if self._needs_tls and not self._has_tls:
            raise EngineError("nothing is sent without TLS", Trouble.REFUSED)
        return self._writer

    def _changed(self, line: bytes) -> bytes:
        """Return the first line, with TLS as the login needs it and without other servers."""
        try:
            info = json.loads(line.removeprefix(_INFO)) if line.startswith(_INFO) else None
        except (ValueError, RecursionError):
            info = None
        if not isinstance(info, dict):
            raise EngineError("the engine does not answer like a NATS server", Trouble.REFUSED)
        if self._needs_tls and not (info.get("tls_required") or info.get("tls_available")):
            raise EngineError(
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
