"""The command `engine init`: makes the streams, and prints the users of a server's configuration.

What is printed on stdout is the text of a configuration file as a whole: what was done is in its comments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.cli.engine.limits import TOO_MUCH, age_words, check_limits, check_size
from agentwatch.cli.engine.opening import NO_JETSTREAM, Asked, administrator, login, warnings
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_lines
from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.engine.names import is_publisher
from agentwatch.faults import USAGE, Fault
from agentwatch.text.amounts import byte_size, plural

if TYPE_CHECKING:
    from agentwatch.engine.nats.administration import Administrator, Stream

_ADMINISTRATOR = "admin"
_EXPLANATION = """\
# The users of the server's configuration. Neither publishers nor watchers can delete anything.
# The server does not start until each variable below is replaced by the bcrypt hash of a password, in quotes.
# `nats server passwd` asks for a password and prints its hash; so does `mkpasswd -m bcrypt`.
# Then load the configuration: nats-server --signal reload"""


class Users(NamedTuple):
    """The users whose permissions are to be printed."""

    publishers: Sequence[str]
    watchers: Sequence[str]


def run_init(asked: Asked, *, replicas: int | None, max_bytes: int | None, users: Users) -> int:
    """Make the streams or bring them up to date, print what was done and the users, and return the exit code.

    Limits that are not asked for stay as they are.

    Args:
        asked: The engine.
        replicas: How many servers keep each byte; None to leave it.
        max_bytes: The most bytes of all sessions together; None to leave it.
        users: The users; one of each kind with the name of its kind if none is named.

    Raises:
        Fault: A name or a limit is invalid, or the engine refuses something.
    """
    check_limits(max_bytes, None)
    shown = Users(users.publishers or ("ci",), users.watchers or ("watcher",))
    check_users(shown)
    found = login(asked)
    with administrator(found) as opened:
        server = opened.server()
        if not server.has_jetstream:
            raise Fault(f"{found.address}: {NO_JETSTREAM}", USAGE)
        if replicas == 3 and not server.is_clustered:
            raise Fault("--replicas 3: a single server keeps 1 replica; 3 need a cluster of three", USAGE)
        for warning in warnings(server, found):
            say(f"{found.address}: {warning}")
        done = _made(opened, replicas, max_bytes)
    return print_lines([*done, *_EXPLANATION.splitlines(), *_configuration(shown)])


def check_users(users: Users) -> None:
    """Check the names of users.

    Raises:
        Fault: A name cannot be used, or a user has two.
    """
    from agentwatch.engine.nats.permissions import can_watch

    for name in users.publishers:
        if not is_publisher(name):
            raise Fault("--publisher: a name has the characters a-z, 0-9 and -, and at most 63", USAGE)
    for name in users.watchers:
        if not can_watch(name):
            raise Fault("--watcher: a name has letters, digits, - and _, and at most 63", USAGE)
    names = [_ADMINISTRATOR, *users.publishers, *users.watchers]
    if len(set(names)) < len(names):
        raise Fault(f"a user is named twice; {_ADMINISTRATOR} is the administrator", USAGE)


def _made(opened: Administrator, replicas: int | None, max_bytes: int | None) -> list[str]:
    """Make the streams, and return a comment for each about what was done."""
    from agentwatch.engine.nats.administration import STREAMS

    before = {name: opened.stream(name) for name in STREAMS}
    chunks, _ = before.values()
    if chunks is not None and max_bytes is not None:
        check_size(max_bytes, chunks)
    try:
        opened.make(before, replicas=replicas, max_bytes=max_bytes)
    except EngineError as error:
        if error.trouble is not Trouble.FULL or max_bytes is None:
            raise
        raise Fault(f"--max-bytes: {TOO_MUCH} ({error})", USAGE) from None
    return [f"# {_report(name, before[name], opened.stream(name))}" for name in STREAMS]


def _report(name: str, before: Stream | None, now: Stream | None) -> str:
    if now is None:
        raise Fault(f"{name} was made, and is gone: somebody else deletes it", USAGE)
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


def _configuration(users: Users) -> Iterator[str]:
    from agentwatch.engine.nats.permissions import of_publisher, of_watcher, user_block

    yield "authorization {"
    yield "  users: ["
    yield f'    {{ user: "{_ADMINISTRATOR}", password: {_variable(_ADMINISTRATOR)} }}'
    for name in users.publishers:
        yield from _indented(user_block(name, of_publisher(name), _variable(name)))
    for name in users.watchers:
        yield from _indented(user_block(name, of_watcher(name), _variable(name)))
    yield "  ]"
    yield "}"


def _variable(user: str) -> str:
    """Return a variable for the password of a user: without a value of it, the server does not start."""
    return f"$PASSWORD_OF_{user.upper().replace('-', '_')}"


def _indented(block: str) -> Iterator[str]:
    return (f"    {line}" for line in block.splitlines())
