"""A message as the server sends it, whose headers and subject a publisher may have made up.

Headers: `NATS/1.0[ STATUS[ DESCRIPTION]]`, then lines `Name: Value`; each line ends with CR LF. The reply
subject of a message that a consumer delivers says where the message stands in its stream (ADR-15 of NATS):

    $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.CONSUMER_SEQUENCE.NANOSECONDS.PENDING
    $JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER.DELIVERED.SEQUENCE.CONSUMER_SEQUENCE.NANOSECONDS.PENDING[.TOKEN]
"""

from __future__ import annotations

from typing import NamedTuple

STATUS = "Status"
DESCRIPTION = "Description"
_BEGINNING = b"NATS/1.0"
_ACK = b"$JS.ACK."
_MOST_BYTES = 1 << 16
_MOST_DIGITS = 20


class Message(NamedTuple):
    """A message that was received, in foreign bytes."""

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
    """Where a delivered message stands in its stream."""

    sequence: int
    stored_ns: int
    """When it was stored, by the server's clock, in nanoseconds since the epoch."""
    pending: int
    """How many messages of the consumer were not delivered yet."""


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
    """Return where a message stands by its reply subject; None if no consumer has delivered it."""
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
