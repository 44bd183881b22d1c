"""A session's file that grows, and its tail."""

from pathlib import Path

import orjson
import pytest

from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.digest.reading import Tail
from tests.builders.on_disk import transcript as claude
from tests.builders.on_disk.digested import found


def jsonl(*lines: object) -> bytes:
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a session with one prompt."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(claude.user("Fix it")))
    return path
