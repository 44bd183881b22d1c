"""The calls of an administrator: streams and their limits, permissions, and the state of the server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentwatch.remote.chunk import CARD_DAYS, CHUNK_DAYS, MESSAGE_BYTES, SESSION_MESSAGES, STORED_CARD_BYTES
from agentwatch.remote.engine import (
    BUCKET,
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    Trouble,
    cards_of,
    chunks_of,
    parse_session,
)
from agentwatch.remote.nats.connection import Connection, object_in
from agentwatch.remote.nats.errors import of_answer, plain

_SECOND_NS = 10**9
_DAY = 86_400
_NO_STREAM = 10059


class StreamLimits(NamedTuple):
    bytes: int = -1
    """The number of bytes that the stream of bytes may store; -1 for the limit of the account."""
    card_bytes: int = -1
    replicas: int = 1
    days: int = CHUNK_DAYS
    card_days: int = CARD_DAYS
    messages: int = SESSION_MESSAGES


DEFAULT = StreamLimits()


def make_streams(connection: Connection, limits: StreamLimits = DEFAULT) -> list[tuple[str, str]]:
    """Make the stream and the bucket, or change their limits. Return each name with `made`, `changed` or
    `unchanged`. Raise `RemoteError` if the login has no permission, or a limit of the account is too low."""
    return [(config["name"], _make(connection, config)) for config in (_chunks(limits), _cards(limits))]


def _make(connection: Connection, config: dict[str, Any]) -> str:
    name = config["name"]
    if (known := _info(connection, name)) is None:
        connection.ask(f"$JS.API.STREAM.CREATE.{name}", config)
        return "made"
    before = _mapping(known.get("config"))
    if all(before.get(key) == value for key, value in config.items()):
        return "unchanged"
    connection.ask(f"$JS.API.STREAM.UPDATE.{name}", {**before, **config})
    return "changed"


def _info(connection: Connection, name: str) -> Mapping[str, Any] | None:
    answer = object_in(connection.request(f"$JS.API.STREAM.INFO.{name}"))
    if (error := answer.get("error")) is None:
        return answer
    if _mapping(error).get("err_code") == _NO_STREAM:
        return None
    raise of_answer(error)


def _chunks(limits: StreamLimits) -> dict[str, Any]:
    return _common(limits) | {
        "name": STREAM,
        "subjects": [chunks_of()],
        "max_bytes": limits.bytes,
        "max_age": limits.days * _DAY * _SECOND_NS,
        "max_msg_size": MESSAGE_BYTES,
        "max_msgs_per_subject": limits.messages,
        "discard_new_per_subject": True,
    }


def _cards(limits: StreamLimits) -> dict[str, Any]:
    return _common(limits) | {
        "name": CARD_STREAM,
        "subjects": [cards_of().removesuffix("*.*") + ">"],
        "max_bytes": limits.card_bytes,
        "max_age": limits.card_days * _DAY * _SECOND_NS,
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


# A publisher writes below its own token, and asks for its own tail. A watcher creates readers and asks for
# their next messages. Neither may do anything else: no `$JS.API.STREAM.*`, no answers of another user.

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,63}")
_NAMELESS = "watcher"


class Permissions(NamedTuple):
    """The subjects to which a user may publish and subscribe; everything else is denied."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def inbox_of(user: str) -> str:
    """Return the prefix of the subjects of answers to a user; `_INBOX.watcher` for one without a name."""
    return f"_INBOX.{user if _TOKEN.fullmatch(user) else _NAMELESS}"


def can_watch(user: str) -> bool:
    """Return whether a name can be that of a user who watches."""
    return _TOKEN.fullmatch(user) is not None


def of_publisher(publisher: str) -> Permissions:
    return Permissions(
        (
            f"aw.v1.c.{publisher}.>",
            f"$KV.{BUCKET}.{publisher}.>",
            f"$JS.API.DIRECT.GET.{STREAM}.aw.v1.c.{publisher}.>",
        ),
        (f"{inbox_of(publisher)}.>",),
    )


def of_watcher(user: str) -> Permissions:
    return Permissions(
        (
            f"$JS.API.CONSUMER.CREATE.{STREAM}.*.aw.v1.c.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.>",
            f"$JS.API.CONSUMER.CREATE.{CARD_STREAM}.*.$KV.{BUCKET}.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{CARD_STREAM}.>",
        ),
        (f"{inbox_of(user)}.>",),
    )


def user_block(user: str, permissions: Permissions, password: str) -> str:
    """Return a user's entry in a server's configuration; `password` is a quoted bcrypt hash or a variable."""
    lines = [f"{{ user: {_quoted(user)}, password: {password}, permissions: {{"]
    for name, subjects in zip(Permissions._fields, permissions, strict=True):
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        lines.append(f"    {name}: {{ allow: [{listed}] }}")
    return "\n".join([*lines, "} }"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


STREAMS = (STREAM, CARD_STREAM)
_MOST_SUBJECTS = 20_000
"""The server lists the subjects of a stream in one answer, of 50 bytes and more for each."""
_UNLIMITED = -1


class Server(NamedTuple):
    version: str
    warning: str
    """A line about the version; empty if it is new enough for several teams."""
    has_jetstream: bool
    is_encrypted: bool
    is_clustered: bool


class Stream(NamedTuple):
    """A stream, and how full it is. A limit that it does not have is None."""

    name: str
    messages: int
    bytes: int
    sessions: int
    max_bytes: int | None
    max_age: int | None
    """The age limit in seconds."""
    max_messages: int | None
    """The limit of messages of each session."""
    max_message_bytes: int | None
    replicas: int
    leader: str
    """The name of the server that leads it; empty on a server that is in no cluster."""
    late_replicas: int
    """The number of replicas that are away, or do not have all."""


class Administrator:
    def __init__(self, login: Login) -> None:
        self.connection = Connection(login, inbox_of(login.address.user or login.credentials.user))

    def server(self) -> Server:
        said = self.connection.info
        return Server(
            version=self.connection.server_version,
            warning=self.connection.warning,
            has_jetstream=said.get("jetstream") is True,
            is_encrypted=said.get("tls_required") is True,
            is_clustered=bool(said.get("cluster")),
        )

    def stream(self, name: str) -> Stream | None:
        """Return a stream; None if the engine does not have it. Raise `RemoteError` without an answer."""
        answer = _info(self.connection, name)
        return None if answer is None else _stream(name, answer)

    def publishers(self) -> dict[str, int] | None:
        """Return how many messages there are of each publisher; None if there are too many sessions."""
        found = self.stream(STREAM)
        if found is None or found.sessions > _MOST_SUBJECTS:
            return None
        answer = self.connection.ask(f"$JS.API.STREAM.INFO.{STREAM}", {"subjects_filter": chunks_of()})
        subjects = _mapping(_mapping(answer.get("state")).get("subjects"))
        counts: Counter[str] = Counter()
        prefix = chunks_of().removesuffix("*.*")
        for subject, count in subjects.items():
            session = parse_session(subject.removeprefix(prefix))
            if session is not None:
                counts[session.publisher] += _number(count) or 0
        return dict(counts.most_common())

    def make(
        self, before: Mapping[str, Stream | None], *, replicas: int | None, max_bytes: int | None
    ) -> None:
        """Make the streams, or bring them up to date. A limit of None is not changed. `replicas` is the
        number of servers that keep each message; `max_bytes` limits all sessions together."""
        chunks, cards = (before[name] for name in STREAMS)
        limits = StreamLimits()
        if chunks is not None:
            limits = limits._replace(
                bytes=chunks.max_bytes or _UNLIMITED,
                replicas=chunks.replicas,
                days=-(-(chunks.max_age or 0) // _DAY),
                messages=chunks.max_messages or limits.messages,
            )
        if cards is not None:
            limits = limits._replace(
                card_bytes=cards.max_bytes or _UNLIMITED, card_days=-(-(cards.max_age or 0) // _DAY)
            )
        if replicas is not None:
            limits = limits._replace(replicas=replicas)
        if max_bytes is not None:
            limits = limits._replace(bytes=max_bytes)
        make_streams(self.connection, limits)
        for stream in (chunks, cards):
            if stream is not None and stream.max_age is not None and stream.max_age % _DAY:
                self.change(stream.name, max_age=stream.max_age)  # it was made longer, up to whole days

    def change(self, name: str, *, max_bytes: int | None = None, max_age: int | None = None) -> None:
        """Change limits of a stream: the bytes of all sessions together, and the age in seconds; None keeps
        one."""
        answer = _info(self.connection, name)
        if answer is None:
            raise RemoteError(f"the engine has no stream {name}", Trouble.REFUSED)
        config = dict(_mapping(answer.get("config")))
        if max_bytes is not None:
            config["max_bytes"] = max_bytes
        if max_age is not None:
            config["max_age"] = max_age * _SECOND_NS
            config["duplicate_window"] = min(config.get("duplicate_window") or 0, config["max_age"])
        self.connection.ask(f"$JS.API.STREAM.UPDATE.{name}", config)

    def close(self) -> None:
        self.connection.close()


def _stream(name: str, answer: Mapping[str, Any]) -> Stream:
    config, state, cluster = (_mapping(answer.get(key)) for key in ("config", "state", "cluster"))
    others = cluster.get("replicas")
    late = [
        each
        for each in (others if isinstance(others, list) else [])
        if _mapping(each).get("offline") is True or _mapping(each).get("current") is not True
    ]
    age = _number(config.get("max_age"))
    return Stream(
        name=name,
        messages=_number(state.get("messages")) or 0,
        bytes=_number(state.get("bytes")) or 0,
        sessions=_number(state.get("num_subjects")) or 0,
        max_bytes=_number(config.get("max_bytes")) or None,
        max_age=age // _SECOND_NS if age else None,
        max_messages=_number(config.get("max_msgs_per_subject")) or None,
        max_message_bytes=_number(config.get("max_msg_size")),
        replicas=_number(config.get("num_replicas")) or 1,
        leader=plain(cluster.get("leader")),
        late_replicas=len(late),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    """Return a number above or equal to 0; None for another value, such as -1 for no limit."""
    return value if type(value) is int and value >= 0 else None
