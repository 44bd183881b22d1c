"""The command `engine limits`: prints the limits of the streams, and changes those that may be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.cli.engine.opening import Asked, administrator, login
from agentwatch.cli.stdout import print_lines
from agentwatch.engine.engine import EngineError, Trouble
from agentwatch.engine.limits import CARD_DAYS, CHUNK_DAYS, SESSION_BYTES
from agentwatch.engine.names import CARD_STREAM, STREAM
from agentwatch.faults import USAGE, Fault
from agentwatch.text.amounts import byte_size, plural

if TYPE_CHECKING:
    from agentwatch.engine.nats.administration import Administrator, Stream

TOO_MUCH = "more than the server or the account may store"
_HOUR = 3600
_DAY = 86_400
_LONGEST_DAYS = 366


def run_limits(asked: Asked, *, max_bytes: int | None, age_ms: int | None) -> int:
    """Print the limits after they were changed, and return the exit code.

    Args:
        asked: The engine.
        max_bytes: The most bytes of all sessions together; None to leave it.
        age_ms: How long bytes are kept, in milliseconds; None to leave it.

    Raises:
        Fault: A limit makes no sense, or the engine refuses it.
    """
    check_limits(max_bytes, age_ms)
    with administrator(login(asked)) as opened:
        chunks, cards = _streams(opened)
        if max_bytes is not None:
            check_size(max_bytes, chunks)
        age = None if age_ms is None else age_ms // 1000
        if max_bytes is not None or age is not None:
            _change(opened, max_bytes, age)
        if age is not None and cards.max_age is not None and age > cards.max_age:
            opened.change(CARD_STREAM, max_age=age)  # the bytes of a session without a card cannot be found
        return print_lines(lines_of(*_streams(opened)))


def _change(opened: Administrator, max_bytes: int | None, age: int | None) -> None:
    try:
        opened.change(STREAM, max_bytes=max_bytes, max_age=age)
    except EngineError as error:
        if error.trouble is not Trouble.FULL:
            raise
        raise Fault(f"--max-bytes: {TOO_MUCH} ({error})", USAGE) from None


def check_limits(max_bytes: int | None, age_ms: int | None) -> None:
    """Check limits that an administrator asks for.

    Raises:
        Fault: One makes no sense; the message says why.
    """
    if max_bytes is not None and max_bytes < SESSION_BYTES:
        raise Fault(f"--max-bytes: a single session may have {byte_size(SESSION_BYTES)}", USAGE)
    if age_ms is not None and age_ms < _HOUR * 1000:
        raise Fault("--age: less than 1h deletes what a running session wrote before a pause", USAGE)
    if age_ms is not None and age_ms > _LONGEST_DAYS * _DAY * 1000:
        raise Fault(f"--age: more than {_LONGEST_DAYS}d; an engine is not an archive", USAGE)


def check_size(max_bytes: int, chunks: Stream) -> None:
    """Check that a limit does not make the server delete bytes, which it would do at once.

    Args:
        max_bytes: The most bytes of all sessions together.
        chunks: The stream of bytes.

    Raises:
        Fault: The stream holds more.
    """
    if max_bytes < chunks.bytes:
        raise Fault(
            f"--max-bytes: the engine holds {byte_size(chunks.bytes)}, and would delete the oldest bytes; "
            "engine limits --age deletes by age",
            USAGE,
        )


def lines_of(chunks: Stream, cards: Stream) -> Iterator[str]:
    """Yield the limits, one in a line, with what happens when one is reached."""
    size = "no limit but the account's" if chunks.max_bytes is None else byte_size(chunks.max_bytes)
    yield f"all sessions      {size}: then nothing more is stored"
    yield f"a session         {byte_size(SESSION_BYTES)}: the publisher stops there, and its card says so"
    if chunks.max_messages is not None:
        yield f"                  {chunks.max_messages:,} messages: then the engine refuses more of it"
    yield f"bytes             {_until(chunks.max_age, CHUNK_DAYS)} they are deleted"
    yield f"cards             {_until(cards.max_age, CARD_DAYS)} the session is not listed any more"
    if chunks.max_message_bytes is not None:
        yield f"a message         {byte_size(chunks.max_message_bytes)}"
    if cards.max_message_bytes is not None:
        yield f"a card            {byte_size(cards.max_message_bytes)}"


def _until(age: int | None, days: int) -> str:
    return f"{age_words(age)} (by default {days} days): then"


def age_words(seconds: int | None) -> str:
    """Return how long something is kept, in words."""
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
