"""The commands `engine init`, `engine limits`, `engine check` and `engine ship`. `init` prints a whole
configuration file on stdout, with what was done in comments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.credentials import credentials
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.config_file import read_machines
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import say
from agentwatch.cli.parameters import PATH, age, size, together
from agentwatch.cli.ship import given_in, logging_in, run_ship
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.remote.chunk import CARD_DAYS, CHUNK_DAYS, SESSION_BYTES
from agentwatch.remote.engine import (
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    SessionName,
    Trouble,
    is_publisher,
    named,
)
from agentwatch.remote.login import check_extra, login_of, open_archive
from agentwatch.text.amounts import byte_size, plural

if TYPE_CHECKING:
    from agentwatch.remote.nats.administration import Administrator, Permissions, Server, Stream

_ADMINISTRATOR = "admin"
_EXPLANATION = """\
# The users of the server's configuration. Neither publishers nor watchers can delete anything.
# The server does not start until each variable below is replaced by the bcrypt hash of a password, in quotes.
# `nats server passwd` asks for a password and prints its hash; so does `mkpasswd -m bcrypt`.
# Then load the configuration: nats-server --signal reload"""
TOO_MUCH = "more than the server or the account may store"
_HOUR = 3600
_DAY = 86_400
_LONGEST_DAYS = 366
_MOST_PUBLISHERS = 5
_CARD_SECONDS = 5.0
NO_JETSTREAM = "JetStream is off: add `jetstream {}` to the server's configuration, or start it with -js"
_DENIED = "this user may not do that; log in as the administrator, for example as nats://admin@HOST"


class _HelpfulGroup(HelpfulCommand, click.Group):
    command_class = HelpfulCommand


_login = together(
    click.argument("address", metavar="ENGINE", type=str),
    click.option(
        "--credentials",
        type=PATH,
        metavar="FILE",
        help="Log in with what FILE contains; only you may be able to read it.",
    ),
    click.option(
        "--ca",
        type=PATH,
        metavar="FILE",
        help="Trust the authority whose certificate is in FILE.",
    ),
)
_max_bytes = click.option(
    "--max-bytes", callback=size, metavar="SIZE", help="Keep at most SIZE of all sessions: 50GB."
)


@click.group(cls=_HelpfulGroup, no_args_is_help=False)
def engine() -> None:
    """Set up and check the NATS server to which machines publish."""


@engine.command()
@_login
@click.option(
    "--replicas",
    type=click.Choice(("1", "3")),
    metavar="N",
    help="Keep each byte on 1 server, or on 3 of a cluster (default: 1).",
)
@_max_bytes
@click.option(
    "--publisher",
    "publishers",
    multiple=True,
    metavar="NAME",
    help="Print the permissions of this publisher.",
)
@click.option(
    "--watcher", "watchers", multiple=True, metavar="NAME", help="Print the permissions of this watcher."
)
def init(
    address: str,
    credentials: Path | None,
    ca: Path | None,
    *,
    replicas: str | None,
    max_bytes: int | None,
    publishers: tuple[str, ...],
    watchers: tuple[str, ...],
) -> int:
    """Make the streams, and print the permissions for all users."""
    check_limits(max_bytes, None)
    publishers, watchers = publishers or ("ci",), watchers or ("watcher",)
    _check_users(publishers, watchers)
    found = login(address, credentials, ca)
    with administrator(found) as opened:
        server = opened.server()
        if not server.has_jetstream:
            raise Fault(f"{found.address}: {NO_JETSTREAM}", USAGE)
        if replicas == "3" and not server.is_clustered:
            raise Fault("--replicas 3: a single server keeps 1 replica; 3 need a cluster of three", USAGE)
        for warning in warnings(server, found):
            say(f"{found.address}: {warning}")
        done = _made(opened, None if replicas is None else int(replicas), max_bytes)
    return print_lines([*done, *_EXPLANATION.splitlines(), *_configuration(publishers, watchers)])


@engine.command()
@_login
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def check(address: str, credentials: Path | None, ca: Path | None, *, as_json: bool) -> int:
    """Print the version, the streams and how full they are."""
    asked = login(address, credentials, ca)
    with administrator(asked) as opened:
        found = _found(asked, opened)
    if not as_json:
        return print_lines(_lines(found))
    import orjson

    return print_json([orjson.dumps(_object(found))])


@engine.command()
@_login
@_max_bytes
@click.option("--age", "age_ms", callback=age, metavar="AGE", help="Keep the bytes for this time: 7d.")
def limits(
    address: str, credentials: Path | None, ca: Path | None, *, max_bytes: int | None, age_ms: int | None
) -> int:
    """Print the limits of the streams, or change them."""
    check_limits(max_bytes, age_ms)
    with administrator(login(address, credentials, ca)) as opened:
        chunks, cards = _streams(opened)
        if max_bytes is not None:
            check_size(max_bytes, chunks)
        age = None if age_ms is None else age_ms // 1000
        if max_bytes is not None or age is not None:
            with _fitting():
                opened.change(STREAM, max_bytes=max_bytes, max_age=age)
        if age is not None and cards.max_age is not None and age > cards.max_age:
            opened.change(CARD_STREAM, max_age=age)  # the bytes of a session without a card cannot be found
        return print_lines(lines_of(*_streams(opened)))


@engine.command()
@click.option("--to", metavar="ENGINE", help="The engine: nats://HOST, or its name in the settings.")
@click.option(
    "--all",
    "ships_all",
    is_flag=True,
    help="Ship every session that was published in part; with --to, every one that runs.",
)
@logging_in
@click.argument("sessions", nargs=-1, metavar="[ADDRESS]...")
def ship(sessions: tuple[str, ...], to: str | None, *, ships_all: bool, **login: Any) -> int:
    """Copy saved sessions to an engine, and follow those that run."""
    return run_ship(sessions, to, given_in(login), ships_all=ships_all)


def _check_users(publishers: Sequence[str], watchers: Sequence[str]) -> None:
    from agentwatch.remote.nats.administration import can_watch

    for name in publishers:
        if not is_publisher(name):
            raise Fault("--publisher: a name has the characters a-z, 0-9 and -, and at most 63", USAGE)
    for name in watchers:
        if not can_watch(name):
            raise Fault("--watcher: a name has letters, digits, - and _, and at most 63", USAGE)
    names = [_ADMINISTRATOR, *publishers, *watchers]
    if len(set(names)) < len(names):
        raise Fault(f"a user is named twice; {_ADMINISTRATOR} is the administrator", USAGE)


def _made(opened: Administrator, replicas: int | None, max_bytes: int | None) -> list[str]:
    """Make the streams; return a comment for each about what was done."""
    from agentwatch.remote.nats.administration import STREAMS

    before = {name: opened.stream(name) for name in STREAMS}
    chunks, _ = before.values()
    if chunks is not None and max_bytes is not None:
        check_size(max_bytes, chunks)
    with _fitting() if max_bytes is not None else nullcontext():
        opened.make(before, replicas=replicas, max_bytes=max_bytes)
    return [f"# {_report(name, before[name], opened.stream(name))}" for name in STREAMS]


@contextmanager
def _fitting() -> Iterator[None]:
    """Report a limit of bytes that is larger than what is there."""
    try:
        yield
    except RemoteError as error:
        if error.trouble is not Trouble.FULL:
            raise
        raise Fault(f"--max-bytes: {TOO_MUCH} ({error})", USAGE) from None


def _report(name: str, before: Stream | None, now: Stream | None) -> str:
    if now is None:
        raise Fault(f"{name} was made, and no longer exists: somebody else deletes it", USAGE)
    words = (
        f"{plural(now.replicas, 'replica')}, bytes kept {age_words(now.max_age)}, "
        f"{'no size limit' if now.max_bytes is None else f'at most {byte_size(now.max_bytes)}'}"
    )
    if before is None:
        return f"{name}: made; {words}"
    changed = [
        f"{field} {old} → {new}"
        for field, old, new in zip(before._fields, before, now, strict=True)
        if field in ("max_bytes", "max_age", "max_messages", "max_message_bytes", "replicas") and old != new
    ]
    done = f"changed ({', '.join(changed)})" if changed else "unchanged"
    return f"{name}: {done}; {words}"


def _configuration(publishers: Sequence[str], watchers: Sequence[str]) -> Iterator[str]:
    from agentwatch.remote.nats.administration import of_publisher, of_watcher, user_block

    def block(user: str, permissions: Permissions) -> Iterator[str]:
        return (f"    {line}" for line in user_block(user, permissions, _variable(user)).splitlines())

    yield "authorization {"
    yield "  users: ["
    yield f'    {{ user: "{_ADMINISTRATOR}", password: {_variable(_ADMINISTRATOR)} }}'
    for name in publishers:
        yield from block(name, of_publisher(name))
    for name in watchers:
        yield from block(name, of_watcher(name))
    yield "  ]"
    yield "}"


def _variable(user: str) -> str:
    """Return a variable for a password. The server does not start while the variable has no value."""
    return f"$PASSWORD_OF_{user.upper().replace('-', '_')}"


def check_limits(max_bytes: int | None, age_ms: int | None) -> None:
    if max_bytes is not None and max_bytes < SESSION_BYTES:
        raise Fault(f"--max-bytes: a single session may have {byte_size(SESSION_BYTES)}", USAGE)
    if age_ms is not None and age_ms < _HOUR * 1000:
        raise Fault("--age: less than 1h deletes what a running session wrote before a pause", USAGE)
    if age_ms is not None and age_ms > _LONGEST_DAYS * _DAY * 1000:
        raise Fault(f"--age: more than {_LONGEST_DAYS}d; an engine is not an archive", USAGE)


def check_size(max_bytes: int, chunks: Stream) -> None:
    """Check that a limit does not make the server delete bytes, which it would do at once."""
    if max_bytes < chunks.bytes:
        raise Fault(
            f"--max-bytes: the engine holds {byte_size(chunks.bytes)}, and would delete the oldest bytes; "
            "engine limits --age deletes by age",
            USAGE,
        )


def lines_of(chunks: Stream, cards: Stream) -> Iterator[str]:
    """Yield a line for each limit, with what happens when it is reached."""
    size = "no limit but the account's" if chunks.max_bytes is None else byte_size(chunks.max_bytes)
    yield f"all sessions      {size}: then nothing more is stored"
    yield f"a session         {byte_size(SESSION_BYTES)}: the publisher stops there, and its card says so"
    if chunks.max_messages is not None:
        yield f"                  {chunks.max_messages:,} messages: then the engine refuses more of it"
    for name, seconds, days, then in (
        ("bytes", chunks.max_age, CHUNK_DAYS, "they are deleted"),
        ("cards", cards.max_age, CARD_DAYS, "the session is not listed any more"),
    ):
        yield f"{name:18}{age_words(seconds)} (by default {days} days): then {then}"
    if chunks.max_message_bytes is not None:
        yield f"a message         {byte_size(chunks.max_message_bytes)}"
    if cards.max_message_bytes is not None:
        yield f"a card            {byte_size(cards.max_message_bytes)}"


def age_words(seconds: int | None) -> str:
    if seconds is None:
        return "for ever"
    if seconds % _DAY:
        return plural(seconds // _HOUR, "hour")
    return plural(seconds // _DAY, "day")


def _streams(opened: Administrator) -> tuple[Stream, Stream]:
    chunks, cards = opened.stream(STREAM), opened.stream(CARD_STREAM)
    if chunks is None or cards is None:
        raise Fault("the streams do not exist yet: run agentwatch engine init first", USAGE)
    return chunks, cards


class Found(NamedTuple):
    login: Login
    server: Server
    streams: Mapping[str, Stream | None]
    """The streams by name; empty if the user may not list them."""
    publishers: Mapping[str, int]
    """The messages of each publisher, sorted by number; empty if unknown."""
    cards: int | None
    """The number of cards that a watcher is shown; None if they were not read."""


def _found(given: Login, opened: Administrator) -> Found:
    from agentwatch.remote.nats.administration import STREAMS

    server = opened.server()
    if not server.has_jetstream:
        return Found(given, server, {}, {}, None)
    try:
        streams = {name: opened.stream(name) for name in STREAMS}
        return Found(given, server, streams, opened.publishers() or {}, None)
    except RemoteError as error:
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
    except RemoteError as error:
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
    """Return how full a stream is; None if it has no limit of its own."""
    return stream.bytes * 100 / stream.max_bytes if stream.max_bytes else None


def _object(found: Found) -> dict[str, object]:
    server = found.server
    return {
        "version": 1,
        "address": str(found.login.address),
        "server_version": server.version,
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


def login(words: str, file: Path | None, ca: Path | None) -> Login:
    """Return a login; `words` are an address or a name in the settings, `ca` has an authority's
    certificates."""
    found, session = login_of(words, read_machines(os.environ).engines, os.environ)
    if session:
        raise Fault(f"engine takes the address of an engine, without a session: {found.address}", USAGE)
    if file is None and ca is None:
        return found
    given = credentials(os.environ, file or found.credentials.creds, ca or found.credentials.ca)
    return found._replace(credentials=given)


@contextmanager
def administrator(found: Login) -> Iterator[Administrator]:
    """Connect as the administrator, and report errors as faults."""
    check_extra()
    from agentwatch.remote.nats.administration import Administrator
    from agentwatch.remote.nats.errors import NOT_ALLOWED

    try:
        opened = Administrator(found)
        try:
            yield opened
        finally:
            opened.close()
    except RemoteError as error:
        if str(error).startswith(NOT_ALLOWED):
            raise Fault(f"{found.address}: {_DENIED}", USAGE) from None
        raise Fault(named(str(found.address), str(error)), USAGE) from None


def warnings(server: Server, found: Login) -> Iterator[str]:
    """Yield a line for each property that makes a server unfit for others, with what to do about it."""
    if not server.has_jetstream:
        yield NO_JETSTREAM
    if server.warning:
        yield f"{server.warning}; this one is for a team whose members trust each other"
    if not server.is_encrypted and not found.address.is_loopback:
        yield "the connection is not encrypted: others in the network can read passwords and sessions"
