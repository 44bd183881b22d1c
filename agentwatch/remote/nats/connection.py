"""A connection to a NATS server: a thread runs the client's event loop, and calls block until it answers."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import Any

import orjson
from nats import errors as client_errors

from agentwatch.base.json_fields import object_of
from agentwatch.remote.engine import Login, RemoteError, Trouble
from agentwatch.remote.nats import errors
from agentwatch.remote.nats.client import STATUS, Message, RawClient, login_options, warning_about

CONNECT_SECONDS = 5
ANSWER_SECONDS = 2.0
"""After this time without an answer it is unknown what the server has done."""
_CLOSE_SECONDS = 0.9
_PING_SECONDS = 20
_NO_RESPONDERS = "503"

logging.getLogger("nats").addHandler(logging.NullHandler())  # without a handler, errors go to stderr
logging.getLogger("nats").propagate = False


class Inbox:
    """The messages of a subscription, which wait until they are taken. An error is one that ends them all."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.number = 0
        self.messages: SimpleQueue[Message | RemoteError] = SimpleQueue()


class Connection:
    """One connection, which is never restored: after a break, only its user knows what to request first."""

    def __init__(self, login: Login, inbox: str) -> None:
        """Connect. Whoever has the same `inbox`, the prefix of answers, reads the same answers. Raise `Fault`
        for the file with the credentials, `RemoteError` if the connection or the login fails."""
        self.info: Mapping[str, Any] = {}
        """The server's description of itself; `tls_required` is whether the connection uses TLS."""
        self.server_version = ""
        self.warning = ""
        """A line about the version of the server; empty if it is new enough for a shared server."""
        self.lost = threading.Event()
        """Set when the connection is closed, by either side."""
        self.problem = RemoteError(errors.LOST)
        options = login_options(login)
        self._client = RawClient(login)
        self._inbox = inbox
        self._refusal: RemoteError | None = None
        """Set when the server refuses the subject of answers."""
        self._numbers = count(1)
        self._answers: dict[str, Future[Message]] = {}
        self._unfinished: set[Coroutine[Any, Any, Any]] = set()
        """The tasks that other threads have given to the loop, until they are done."""
        self._inboxes: dict[int, Inbox] = {}
        self._closing, self._is_closed = threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda loop, context: None)  # a traceback on stderr helps nobody
        self._thread = threading.Thread(target=self._serve, name="nats", daemon=True)
        self._thread.start()
        try:
            self._run(self._connect(login, options), CONNECT_SECONDS * 2)
        except RemoteError:
            self.close()
            raise

    def request(self, subject: str, data: bytes = b"", headers: Mapping[str, str] | None = None) -> Message:
        """Send a request, and return the answer; `RemoteError` if it was refused or took over 2 s."""
        token = str(next(self._numbers))
        answer: Future[Message] = Future()
        self._run_soon(self._send(subject, data, headers, token, answer))
        try:
            message = answer.result(ANSWER_SECONDS)
        except FutureTimeoutError:
            raise RemoteError(errors.SILENT) from None
        finally:
            self._answers.pop(token, None)
        if not message.data and message.block and message.headers.get(STATUS) == _NO_RESPONDERS:
            raise RemoteError(errors.NOT_READY)
        return message

    def ask(self, subject: str, question: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request of JetStream, and return the object in the answer."""
        data = b"" if question is None else orjson.dumps(question)
        return answer_in(self.request(subject, data))

    def send(self, subject: str, data: bytes, reply: str) -> None:
        self._run_soon(self._publish(subject, data, None, reply))

    def listen(self) -> Inbox:
        inbox = Inbox(f"{self._inbox}.{next(self._numbers)}.*")
        self._run(self._listen(inbox))
        return inbox

    def forget(self, inbox: Inbox) -> None:
        self._inboxes.pop(inbox.number, None)
        if self.lost.is_set():  # the loop may end before it begins what is asked of it now
            raise self.problem
        self._run_soon(self._client.leave(inbox.number))

    def close(self) -> None:
        """Close the connection, and end its thread. Any thread may call it; it never raises, within 2 s."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            with suppress(RemoteError):
                self._run(self._end(), _CLOSE_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSE_SECONDS)

    def _serve(self) -> None:
        """Run the loop until it is stopped, and close it, also if nobody waits for the thread any more."""
        self._loop.run_forever()
        self._client.transport.close()  # if `_end` had no time
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()
        for coroutine in list(self._unfinished):  # asked for too late: the loop has not begun it
            coroutine.close()

    def _run(self, coroutine: Coroutine[Any, Any, Any], seconds: float = ANSWER_SECONDS) -> Any:
        future = self._run_soon(coroutine)
        try:
            return future.result(seconds)
        except FutureTimeoutError:
            future.cancel()
            raise RemoteError(errors.SILENT) from None
        except (client_errors.Error, OSError, ssl.SSLError):
            raise self.problem from None

    def _run_soon(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        self._unfinished.add(coroutine)
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            self._unfinished.discard(coroutine)
            coroutine.close()
            raise RemoteError(errors.LOST) from None
        future.add_done_callback(lambda _: self._unfinished.discard(coroutine))
        return future

    async def _connect(self, login: Login, options: dict[str, Any]) -> None:
        address = login.address
        host = f"[{address.host}]" if ":" in address.host else address.host
        try:
            await self._client.connect(
                f"nats://{host}:{address.port}",
                **options,
                name="agentwatch",
                allow_reconnect=False,
                connect_timeout=CONNECT_SECONDS,
                ping_interval=_PING_SECONDS,
                error_cb=self._on_error,
                closed_cb=self._on_closed,
            )
        except client_errors.Error as error:
            raise errors.of_server(str(error), has_login=login.credentials.has_secret) from None
        except (OSError, TimeoutError) as error:
            raise errors.of_connecting(error, address) from None
        self.info = self._client.transport.info
        self.server_version = self.info["version"]
        self.warning = warning_about(self.server_version)
        self._inbox = f"{self._inbox}.{self._client.new_inbox().rpartition('.')[2]}"
        await self._client.receive(f"{self._inbox}.*", self._on_answer)

    async def _send(
        self,
        subject: str,
        data: bytes,
        headers: Mapping[str, str] | None,
        token: str,
        answer: Future[Message],
    ) -> None:
        self._answers[token] = answer
        try:
            if self._refusal is not None:
                raise self._refusal
            await self._publish(subject, data, headers, f"{self._inbox}.{token}")
        except RemoteError as error:
            answer.set_exception(error)

    async def _publish(
        self, subject: str, data: bytes, headers: Mapping[str, str] | None, reply: str
    ) -> None:
        try:
            await self._client.publish(subject, data, reply, None if headers is None else dict(headers))
        except client_errors.MaxPayloadError:
            raise RemoteError(errors.TOO_LARGE, Trouble.FULL) from None
        except client_errors.Error:
            raise self.problem from None

    async def _listen(self, inbox: Inbox) -> None:
        inbox.number = await self._client.receive(inbox.subject, inbox.messages.put)
        self._inboxes[inbox.number] = inbox

    def _on_answer(self, message: Message) -> None:
        token = message.subject.rpartition(b".")[2].decode("ascii", "replace")
        answer = self._answers.pop(token, None)
        if answer is not None and not answer.done():
            answer.set_result(message)

    async def _on_error(self, error: Exception) -> None:
        """Fail what is outstanding if the server has refused something: its line does not say what."""
        if not self.server_version:
            raise error  # while connecting, the client would try again for two minutes
        text = str(error)
        if isinstance(error, client_errors.Error) and "permissions violation" in text:
            refusal = errors.of_server(text)
            if f'subscription to "{self._inbox.lower()}' in text:  # the client lowers the server's line
                self._refusal = refusal
            self._fail(refusal)

    async def _on_closed(self) -> None:
        last = self._client.last_error
        if type(last) is client_errors.Error or isinstance(last, client_errors.AuthorizationError):
            self.problem = errors.of_server(str(last))
        self.lost.set()
        self._fail(self.problem)
        for inbox in list(self._inboxes.values()):
            inbox.messages.put(self.problem)

    def _fail(self, error: RemoteError) -> None:
        answers = [self._answers.pop(token) for token in list(self._answers)]
        for answer in answers:
            if not answer.done():
                answer.set_exception(error)
        if not answers:
            for inbox in list(self._inboxes.values()):
                inbox.messages.put(error)

    async def _end(self) -> None:
        await self._client.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A lost connection is closed in a task of the client, which may just have been cancelled halfway.
        self._client.transport.close()


def answer_in(message: Message) -> dict[str, Any]:
    """Return the object in an answer of JetStream; raise `RemoteError` if it is an error, or no object."""
    answer = object_in(message)
    if "error" in answer:
        raise errors.of_answer(answer["error"])
    return answer


def object_in(message: Message) -> dict[str, Any]:
    """Return the object in an answer of JetStream, also an error; raise `RemoteError` if it is none."""
    if (answer := object_of(message.data)) is None:
        raise RemoteError("the engine's answer cannot be read")
    return answer
