"""A session's file that grows, and its tail."""

from __future__ import annotations

from pathlib import Path

import orjson

from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.digest.reading import Tail
from tests.builders.on_disk.digested import found


def jsonl(*lines: object) -> bytes:
    """Return lines as a file has them."""
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def append(path: Path, data: bytes) -> None:
    """Append bytes to a file, as another program does."""
    with path.open("ab") as file:
        file.write(data)


def tail_of(path: Path, agent: str = "claude") -> tuple[Tail, Digest]:
    """Return the tail of a file that was read once, and its digest."""
    tail = Tail(found(path, agent))
    assert tail.update()
    assert tail.digest is not None
    return tail, tail.digest
