"""A card: what is known about a session on another machine, as JSON of at most 2 KiB.

A publisher can write anything into its cards. They are read as data: numbers have a range, texts a length,
unknown keys are ignored. Who has written a card is known by its subject, never by its content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import orjson

from agentwatch.base.json_fields import Field, object_of, values_in, values_of
from agentwatch.remote.chunk import CARD_BYTES, LARGEST_NUMBER, STORED_CARD_BYTES
from agentwatch.session.limits import Reported

VERSION = 1
_SHORTENED = ("cwd", "problem", "last", "title", "prompt", "branch", "repo", "model", "host", "agent")
"""Members that are cut to a quarter or to nothing until a card fits: a control character takes six bytes."""
_DROPPED = (*_SHORTENED, "sha256", "ground", "outcome", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a list shows about a session. Unknown texts are empty, unknown numbers None."""

    host: str = ""
    agent: str = ""
    model: str = ""
    cwd: str = ""
    repo: str = ""
    branch: str = ""
    title: str = ""
    prompt: str = ""
    state: str = ""
    """One of the states of a list: `working`, `asks`, `quiet`, `your turn`, …"""
    ground: str = ""
    """How the state is known: `said`, `inferred`, `unknown`."""
    since_ms: int | None = None
    """The time at which the state began, by the publisher's clock, in milliseconds since the epoch."""
    until_ms: int | None = None
    """The time at which the state ends by itself, such as that of a usage limit."""
    outcome: str = ""
    calls: int | None = None
    running: int | None = None
    failed: int | None = None
    rejected: int | None = None
    """The number of calls that a person or a rule refused."""
    cancelled: int | None = None
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Reported, ...] = ()
    """The windows of the usage limits of its account. They are left out if they do not fit."""
    bytes: int = 0
    shipped: int = 0
    """The number of its bytes that the engine has."""
    started_ms: int | None = None
    seen_ms: int | None = None
    duration_ms: int | None = None
    last: str = ""
    """The activity: the open call, or the end of the last answer."""
    exit: int | None = None
    """The agent's exit code; None while it runs."""
    sha256: str = ""
    """The digest of the ended recording, by which a local copy is known to be complete."""
    problem: str = ""
    """Why the engine does not have the rest of the recording."""


_LONG = {"prompt", "cwd", "last", "title", "problem"}
_LONG_CHARACTERS = 200
_SHORT_CHARACTERS = 80
_FIELDS = {
    each.name: Field(each.name, int, LARGEST_NUMBER, None if "None" in str(each.type) else 0)
    if "int" in str(each.type)
    else Field(each.name, str, _LONG_CHARACTERS if each.name in _LONG else _SHORT_CHARACTERS, "")
    for each in fields(Card)
    if each.name != "limits"
}
_MOST_LIMITS = 8
_LIMIT = (
    Field("name", str, 40, ""),
    *(Field(name, int, LARGEST_NUMBER) for name in ("used_percent", "resets_ms", "said_ms")),
)
FROM_ROW = (
    *("agent", "model", "cwd", "repo", "branch", "title"),
    *("calls", "failed", "rejected", "cancelled", "context_used", "context_size", "limits", "duration_ms"),
)
"""The fields that the row of a list has too, under the same names."""


def encode(card: Card) -> bytes:
    """Return a card as JSON of at most 2 KiB; long texts are cut until it fits."""
    values = values_of(_FIELDS.values(), card)
    given = {"v": VERSION} | {name: value for name, value in values.items() if value not in ("", None)}
    data = orjson.dumps(given)
    if card.limits:
        with_limits = orjson.dumps(given | {"limits": encoded_limits(card.limits)})
        data = with_limits if len(with_limits) <= CARD_BYTES else data
    for name, divisor in [*((name, 4) for name in _SHORTENED), *((name, 0) for name in _DROPPED)]:
        if len(data) <= CARD_BYTES:
            break
        if name in given:
            length = _FIELDS[name].limit // divisor if divisor else 0
            given[name] = given[name][:length]
            data = orjson.dumps(given)
    return data


def decode(data: bytes) -> Card | None:
    """Return the card in foreign bytes; None if they are not a JSON object of this version, or too long."""
    given = object_of(data) if len(data) <= STORED_CARD_BYTES else None
    if given is None or given.get("v") != VERSION:
        return None
    return Card(**values_in(_FIELDS.values(), given), limits=decoded_limits(given.get("limits")))


def encoded_limits(windows: Iterable[Reported]) -> list[dict[str, Any]]:
    """Return windows of usage limits as JSON objects; their shares are whole percent."""
    return [
        values_of(_LIMIT, each, used_percent=None if each.used_percent is None else int(each.used_percent))
        for each in windows
    ]


def decoded_limits(value: object) -> tuple[Reported, ...]:
    """Return the windows in a foreign value, at most 8; none if it is not an array of such objects."""
    given = value[:_MOST_LIMITS] if isinstance(value, list) else []
    found = (Reported(**values_in(_LIMIT, each)) for each in given if isinstance(each, dict))
    return tuple(each for each in found if each.name)
