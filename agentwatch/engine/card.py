"""A card: what is known about a session on another machine, as JSON of at most 2 KiB.

A publisher can write anything into its cards. They are read as data: numbers have a range, texts a length,
unknown keys are ignored. Who has written a card is known by its subject, never by its content.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import orjson

from agentwatch.engine.limits import CARD_BYTES, LARGEST_NUMBER, STORED_CARD_BYTES

VERSION = 1
_LONG = 200
_SHORT = 80
_LENGTHS = {"prompt": _LONG, "cwd": _LONG, "last": _LONG, "title": _LONG, "problem": _LONG}
"""The most characters of texts; of the others it is 80."""
_SHORTENED = ("cwd", "problem", "last", "title", "prompt", "branch", "repo", "model", "host", "agent")
"""The texts that are cut, one after the other, until a card fits: to a quarter, and if that is not enough, to
nothing. A control character takes six bytes in JSON."""
_DROPPED = (*_SHORTENED, "sha256", "ground", "outcome", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a list shows about a session. Unknown texts are empty, unknown numbers None."""

    host: str = ""
    agent: str = ""
    """The short name of the agent: `claude`."""
    model: str = ""
    cwd: str = ""
    repo: str = ""
    branch: str = ""
    title: str = ""
    prompt: str = ""
    """The last prompt."""
    state: str = ""
    """One of the states of a list: `working`, `asks`, `quiet`, `your turn`, …"""
    ground: str = ""
    """How the state is known: `said`, `inferred`, `unknown`."""
    since_ms: int | None = None
    """The time at which the state began, by the publisher's clock, in milliseconds since the epoch."""
    outcome: str = ""
    """The outcome of the run: `running`, `succeeded`, `failed`, `cancelled`, `unfinished`."""
    calls: int | None = None
    running: int | None = None
    """How many calls are open."""
    failed: int | None = None
    """How many calls failed or were rejected."""
    context_used: int | None = None
    context_size: int | None = None
    bytes: int = 0
    """The size of the recording."""
    shipped: int = 0
    """How many of its bytes the engine has."""
    started_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line."""
    last: str = ""
    """What goes on: the open call, or the end of the last answer."""
    exit: int | None = None
    """The agent's exit code; None while it runs."""
    sha256: str = ""
    """The digest of the ended recording, by which a local copy is known to be complete."""
    problem: str = ""
    """Why the engine does not have the rest of the recording."""


_NUMBERS = frozenset(each.name for each in fields(Card) if "int" in str(each.type))
_REQUIRED = frozenset({"bytes", "shipped"})


def encode(card: Card) -> bytes:
    """Return a card as JSON of at most 2 KiB; long texts are cut until it fits."""
    values = {name: _bounded(name, value) for name, value in asdict(card).items()}
    given = {"v": VERSION} | {name: value for name, value in values.items() if value not in ("", None)}
    data = orjson.dumps(given)
    for name, divisor in [*((name, 4) for name in _SHORTENED), *((name, 0) for name in _DROPPED)]:
        if len(data) <= CARD_BYTES:
            break
        if name in given:
            length = _LENGTHS.get(name, _SHORT) // divisor if divisor else 0
            given[name] = given[name][:length]
            data = orjson.dumps(given)
    return data


def decode(data: bytes) -> Card | None:
    """Return the card in foreign bytes; None if they are no JSON object of this version, or too long."""
    if len(data) > STORED_CARD_BYTES:
        return None
    try:
        given = orjson.loads(data)
    except ValueError:
        return None
    if not isinstance(given, dict) or given.get("v") != VERSION:
        return None
    values = {each.name: _bounded(each.name, given.get(each.name)) for each in fields(Card)}
    return Card(**values)


def _bounded(name: str, value: object) -> Any:
    """Return a value of the type and range of a key; the empty one of the key for any other value."""
    if name in _NUMBERS:
        is_number = type(value) is int and 0 <= value < LARGEST_NUMBER
        return value if is_number else (0 if name in _REQUIRED else None)
    if not isinstance(value, str):
        return ""
    return value[: _LENGTHS.get(name, _SHORT)].encode("utf-8", "replace").decode()
