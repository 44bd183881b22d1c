"""Makes the stream of bytes and the bucket of cards, or changes their limits, for an administrator."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentwatch.engine.limits import (
    CARD_DAYS,
    CHUNK_DAYS,
    MESSAGE_BYTES,
    SESSION_MESSAGES,
    STORED_CARD_BYTES,
)
from agentwatch.engine.names import CARD_STREAM, STREAM, cards_of, chunks_of
from agentwatch.engine.nats import errors
from agentwatch.engine.nats.connection import Connection, object_in

_DAY = 86400 * 10**9
_NOT_FOUND = 10059


class StreamLimits(NamedTuple):
    """The limits that an administrator chooses."""

    bytes: int = -1
    """How many bytes the stream of bytes may store; -1 for the limit of the account."""
    card_bytes: int = -1
    """How many bytes the bucket of cards may store."""
    replicas: int = 1
    """How many servers of a cluster store each message."""
    days: int = CHUNK_DAYS
    """After how many days bytes are removed."""
    card_days: int = CARD_DAYS
    messages: int = SESSION_MESSAGES
    """How many messages a session may have."""


DEFAULT = StreamLimits()


class Made(NamedTuple):
    """What was done to a stream."""

    stream: str
    outcome: str
    """`made`, `changed` or `unchanged`."""


def make_streams(connection: Connection, limits: StreamLimits = DEFAULT) -> list[Made]:
    """Make the stream and the bucket, or change their limits; what is as it should be stays as it is.

    Args:
        connection: The connection of an administrator.
        limits: The limits.

    Raises:
        EngineError: The login may not, or the server cannot: a limit of the account is too low.
    """
    return [_make(connection, config) for config in (_chunks(limits), _cards(limits))]


def _make(connection: Connection, config: dict[str, Any]) -> Made:
    name = config["name"]
    known = _config_of(connection, name)
    if known is None:
        connection.ask(f"$JS.API.STREAM.CREATE.{name}", config)
        return Made(name, "made")
    if all(known.get(key) == value for key, value in config.items()):
        return Made(name, "unchanged")
    connection.ask(f"$JS.API.STREAM.UPDATE.{name}", known | config)
    return Made(name, "changed")


def _config_of(connection: Connection, name: str) -> dict[str, Any] | None:
    answer = object_in(connection.request(f"$JS.API.STREAM.INFO.{name}"))
    if (error := answer.get("error")) is not None:
        if isinstance(error, dict) and error.get("err_code") == _NOT_FOUND:
            return None
        raise errors.of_answer(error)
    config = answer.get("config")
    return config if isinstance(config, dict) else {}


def _chunks(limits: StreamLimits) -> dict[str, Any]:
    return _common(limits) | {
        "name": STREAM,
        "subjects": [chunks_of()],
        "max_bytes": limits.bytes,
        "max_age": limits.days * _DAY,
        "max_msg_size": MESSAGE_BYTES,
        "max_msgs_per_subject": limits.messages,
        "discard_new_per_subject": True,
    }


def _cards(limits: StreamLimits) -> dict[str, Any]:
    return _common(limits) | {
        "name": CARD_STREAM,
        "subjects": [cards_of().removesuffix("*.*") + ">"],
        "max_bytes": limits.card_bytes,
        "max_age": limits.card_days * _DAY,
        "max_msg_size": STORED_CARD_BYTES,
        "max_msgs_per_subject": 1,
    }


def _common(limits: StreamLimits) -> dict[str, Any]:
    return {
        "retention": "limits",
        "storage": "file",
        "discard": "new",
        "num_replicas": limits.replicas,
        "allow_direct": True,
        "deny_delete": True,
        "deny_purge": True,
        "allow_rollup_hdrs": False,  # with it, a publisher could remove the cards of all others by a header
    }
