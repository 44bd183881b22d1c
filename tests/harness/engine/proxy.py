"""A TCP proxy in front of a server, which breaks connections on request."""

import socket
import struct
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_AT_ONCE = struct.pack("ii", 1, 0)


class Proxy:
    """Passes bytes between clients and a server.

    Example:
        with Proxy(server.port) as proxy:
            connect(f"nats://127.0.0.1:{proxy.port}")
            proxy.cut()
    """

    def __init__(self, target: int) -> None:
        """Listen on a free loopback port, in front of the port of a server."""
        self.cuts = 0
        self.passed = 0
        """The bytes passed on, in both directions."""
        self.refuses = False
        """Whether new connections are reset at once."""
        self.target = target
        """The loopback port to which new connections are passed on."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """The loopback port that it listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def address(self) -> str:
        """The address for a client: `nats://127.0.0.1:PORT`."""
        return f"nats://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Reset all open connections (RST). New ones are passed on."""
        with self._lock:
            sockets, self._open = self._open, set()
        self.cuts += 1
        for each in sockets:
            with suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                each.shutdown(socket.SHUT_RD)
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                if self.refuses:
                    raise ConnectionRefusedError
                server = socket.create_connection(("127.0.0.1", self.target), 5)
                server.settimeout(None)
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a request waits 40 ms
            except OSError:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            for source, sink in ((client, server), (server, client)):
                thread = threading.Thread(target=self._pass_on, args=(source, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self.passed += len(data)
                sink.sendall(data)
        with self._lock:
            ended = {source, sink} & self._open
            self._open -= ended
        for each in ended:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes the other thread, which reads from it
            each.close()
