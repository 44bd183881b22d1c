"""The command `engine status`: prints what an engine is, and how full it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.cli.engine.limits import age_words
from agentwatch.cli.engine.opening import Asked, administrator, login, warnings
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.engine.names import SessionName
from agentwatch.engine.opening import Login, open_archive
from agentwatch.text.amounts import byte_size, plural

if TYPE_CHECKING:
    from agentwatch.engine.nats.administration import Administrator, Server, Stream

_MOST_PUBLISHERS = 5
_CARD_SECONDS = 5.0


class Found(NamedTuple):
    """What could be learnt about an engine."""

    login: Login
    server: Server
    streams: Mapping[str, Stream | None]
    """By their names; empty if the user may not ask for them."""
    publishers: Mapping[str, int]
    """How many messages of each publisher there are, the most first; empty if unknown."""
    cards: int | None
    """How many cards a watcher is shown; None if they were not read."""


def run_status(asked: Asked, *, as_json: bool) -> int:
    """Print the state of an engine, and return the exit code.

    Raises:
        Fault: The engine cannot be reached, or refuses the login.
    """
    with administrator(login(asked)) as opened:
        found = _found(login(asked), opened)
    if not as_json:
        return print_lines(_lines(found))
    import orjson

    return print_json([orjson.dumps(_object(found))])


def _found(given: Login, opened: Administrator) -> Found:
    from agentwatch.engine.nats.administration import STREAMS

    server = opened.server()
    if not server.has_jetstream:
        return Found(given, server, {}, {}, None)
    try:
        streams = {name: opened.stream(name) for name in STREAMS}
        return Found(given, server, streams, opened.publishers() or {}, None)
    except EngineError as error:
        if error.trouble is not Trouble.REFUSED:
            raise
    return Found(given, server, {}, {}, _card_count(given))


def _card_count(given: Login) -> int | None:
    """Return how many sessions a watcher can list; None if the user may not watch."""
    archive = open_archive(given)
    try:
        cards = archive.cards()
        sessions: set[SessionName] = set()
        while not cards.is_complete:
            if not (arrived := cards.next(_CARD_SECONDS)):
                break
            sessions.update(card.session for card in arrived if card.data)
        return len(sessions) if cards.is_complete else None
    except EngineError as error:
        if error.trouble is Trouble.REFUSED:
            return None
        raise
    finally:
        archive.close()


def _lines(found: Found) -> Iterator[str]:
    server = found.server
    safety = "TLS" if server.is_encrypted else "not encrypted"
    yield f"{found.login.address}: nats-server {server.version or 'of unknown version'}, {safety}"
    for name, stream in found.streams.items():
        if stream is None:
            yield f"{name}: does not exist; run agentwatch engine init"
        else:
            yield from _stream_lines(stream)
    if found.cards is not None:
        yield f"you can watch {plural(found.cards, 'session')}; only an administrator sees the streams"
    elif not found.streams and server.has_jetstream:
        yield "this user may neither watch sessions nor see the streams"
    if found.publishers:
        shown = [*found.publishers.items()][:_MOST_PUBLISHERS]
        more = len(found.publishers) - len(shown)
        words = [f"{name} {count:,}" for name, count in shown] + ([f"{more} more"] if more else [])
        yield f"messages of publishers: {', '.join(words)}"
    for warning in warnings(server, found.login):
        yield f"warning: {warning}"


def _stream_lines(stream: Stream) -> Iterator[str]:
    used = byte_size(stream.bytes)
    if (part := _percent(stream)) is not None:
        used += f" of {byte_size(stream.max_bytes or 0)} ({part:.0f} %)"
    yield (
        f"{stream.name}: {plural(stream.sessions, 'session')}, {plural(stream.messages, 'message')}, {used}, "
        f"kept {age_words(stream.max_age)}, {plural(stream.replicas, 'replica')}"
        + (f", led by {stream.leader}" if stream.leader else "")
    )
    if stream.late_replicas:
        yield f"{stream.name}: {plural(stream.late_replicas, 'replica')} away or late"


def _percent(stream: Stream) -> float | None:
    """Return how full a stream is; None without a limit of its own."""
    return stream.bytes * 100 / stream.max_bytes if stream.max_bytes else None


def _object(found: Found) -> dict[str, object]:
    server = found.server
    return {
        "address": str(found.login.address),
        "version": server.version,
        "jetstream": server.has_jetstream,
        "tls": server.is_encrypted,
        "clustered": server.is_clustered,
        "streams": {
            name: None if stream is None else stream._asdict() | {"full_percent": _percent(stream)}
            for name, stream in found.streams.items()
        },
        "publishers": dict(found.publishers),
        "cards": found.cards,
        "warnings": [*warnings(server, found.login)],
    }
