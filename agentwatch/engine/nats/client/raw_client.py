"""The client nats-py with what it cannot do: hand on raw messages, and survive those of hostile publishers.

A publisher can store a message whose headers or subject are no UTF-8, and nats-py stops reading a connection
on which it receives one. Messages therefore go to their receivers as bytes. The private names of nats-py that
are used stand here alone.
"""

from __future__ import annotations

from collections.abc import Callable

from nats.aio.client import Client

from agentwatch.engine.nats.client.message import Message
from agentwatch.engine.nats.client.transport import GuardedTransport
from agentwatch.engine.opening import Login

Receiver = Callable[[Message], None]


class RawClient(Client):
    """A client whose subscriptions each have a receiver of raw messages."""

    def __init__(self, login: Login) -> None:
        super().__init__()
        self.transport = GuardedTransport(login)
        self._transport = self.transport
        self._receivers: dict[int, Receiver] = {}

    async def receive(self, subject: str, receiver: Receiver) -> int:
        """Subscribe, and return the number of the subscription.

        Args:
            subject: The subject.
            receiver: Called in the client's thread with each message.
        """
        self._receivers[self._sid + 1] = receiver  # messages may arrive before `subscribe` returns
        subscription = await self.subscribe(subject)
        return int(subscription._id)  # noqa: SLF001

    async def leave(self, number: int) -> None:
        """End a subscription."""
        self._receivers.pop(number, None)
        if (subscription := self._subs.get(number)) is not None and not self.is_closed:
            await subscription.unsubscribe()

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes | None
    ) -> None:
        if (receiver := self._receivers.get(sid)) is not None:
            receiver(Message(subject, reply, data, headers or b""))
