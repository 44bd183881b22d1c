"""A store fills a nameless recording: once, or for as long as it is followed."""

import errno
import os
import threading
from pathlib import Path

import pytest

from agentwatch.agents.opening import store_for
from agentwatch.recording.store import nameless_file
from agentwatch.sources.stores import intake as intake_module
from agentwatch.sources.stores.intake import StoreIntake, StoreSource
from agentwatch.sources.stores.lines import as_line, parsed
from tests.conftest import case
from tests.harness.processes import until


class Batches:
    """A store in memory, whose batches a test appends."""

    def __init__(self, *batches: list[bytes]) -> None:
        self.batches = list(batches)
        self.error: OSError | None = None
        self.is_closed = False
        self.asked = 0

    def new_lines(self) -> list[bytes]:
        """Return the next batch."""
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.batches.pop(0) if self.batches else []

    def close(self) -> None:
        """Note that the store was closed."""
        self.is_closed = True


class HeldBatches(Batches):
    """A store that holds the thread that reads its second batch."""

    def __init__(self, *batches: list[bytes]) -> None:
        super().__init__(*batches)
        self.is_held, self.may_go_on = threading.Event(), threading.Event()

    def new_lines(self) -> list[bytes]:
        """Return the next batch; after the first one, when the test lets the thread go on."""
        if self.asked:
            self.is_held.set()
            assert self.may_go_on.wait(20)
        return super().new_lines()


def opened(store: Batches, *, follow: bool, waits: bool = True) -> StoreSource:
    fd = nameless_file()
    return StoreSource(fd, StoreIntake(store, fd, follow=follow, waits=waits))


def test_the_lines_of_a_store_arrive() -> None:
    """All batches are recorded at once; new lines of a followed store are appended. Opening a store for the
    screen reads its first batch; the others follow. A session of which only the beginning can be read does
    not look complete. The agent's own clock replaces the arrival time, which was not recorded.
    """
    store = Batches([b"1\n", b"2\n"], [b"3\n"])
    source = opened(store, follow=False)
    assert [line.data for line in source.reader.read()] == [b"1", b"2", b"3"]
    assert source.reader.is_at_end()
    assert store.is_closed
    assert source.new_faults() == []
    store = Batches([b"1\n"])
    source = opened(store, follow=True)
    assert len(source.reader.read()) == 1
    assert not source.reader.is_at_end()
    store.batches.append([b"2\n"])
    until(lambda: [line.data for line in source.reader.read()] == [b"2"])
    source.leave()
    until(source.reader.is_at_end)
    until(lambda: store.is_closed)
    # What follows the first batch may be read later.
    store = HeldBatches([b"1\n"], [b"2\n"])
    source = opened(store, follow=False, waits=False)
    assert [line.data for line in source.reader.read()] == [b"1"]
    assert not source.reader.is_at_end()
    store.may_go_on.set()
    until(lambda: store.is_closed)
    assert [line.data for line in source.reader.read()] == [b"2"]
    assert source.reader.is_at_end()
    store = HeldBatches([b"1\n"], [b"2\n"])
    source = opened(store, follow=True, waits=False)
    assert store.is_held.wait(20)
    source.leave()
    assert not source.reader.growth.has_ended()
    store.may_go_on.set()
    until(source.reader.growth.has_ended)
    assert [line.data for line in source.reader.read()] == [b"1", b"2"]
    assert source.reader.is_at_end()

    # The lines of a store end with a failure and have no arrival.
    class Torn(Batches):
        def new_lines(self) -> list[bytes]:
            lines = super().new_lines()
            self.error = OSError(errno.EIO, "Input/output error")
            return lines

    store = Torn([b"1\n"])
    source = opened(store, follow=False, waits=False)
    until(lambda: store.is_closed)
    assert source.faults["the session cannot be read any more"] is store.error
    source = opened(Batches([b"1\n"]), follow=False)
    assert [line.seen_ms for line in source.reader.read()] == [None]


def test_failures_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that cannot be read at first is closed; a recording that could not be filled is not shown. A
    failure is reported once it has lasted, and is over with the next success.
    """
    store = Batches()
    store.error = OSError(errno.EBUSY, "it is locked")
    with pytest.raises(OSError, match="it is locked"):
        opened(store, follow=True)
    assert store.is_closed

    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    fd = nameless_file()
    monkeypatch.setattr(os, "write", full)
    store = Batches([b"1\n"])
    with pytest.raises(OSError, match="No space left"):
        StoreIntake(store, fd, follow=False)
    assert store.is_closed
    os.close(fd)
    # A failure while following is reported when it lasts.
    monkeypatch.undo()
    monkeypatch.setattr(intake_module, "_UNREADABLE_SECONDS", 60)
    other_store = Batches([b"1\n"])
    source = opened(other_store, follow=True)
    other_store.error = OSError(errno.ENOENT, "No such file or directory")
    asked = other_store.asked
    until(lambda: other_store.asked > asked + 1)
    assert source.new_faults() == []
    monkeypatch.setattr(intake_module, "_UNREADABLE_SECONDS", 0)
    until(source.new_faults)
    assert source.faults["the session cannot be read any more"] is other_store.error
    other_store.error = None
    other_store.batches.append([b"2\n"])
    until(lambda: source.reader.growth.size() == 4)
    assert source.faults["the session cannot be read any more"] is None
    source.close()


def test_a_value_is_read_and_written() -> None:
    """What orjson rejects is read by Python's parser; what neither reads is None. What orjson cannot write is
    written by Python's writer; what neither writes is None.
    """
    values: dict[str | bytes, object] = {
        b'{"a":1}': {"a": 1},
        '{"a":1}': {"a": 1},
        b'["\\ud83d"]': ["\ud83d"],
        b'["\xff"]': ["\ufffd"],
        '"\ud83d"': "\ud83d",
        b"{": None,
        b"[" * 100_000: None,
    }
    for data, value in values.items():
        with case(f"{data!r:.80}"):
            assert parsed(data) == value
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert as_line({"a": 1}) == b'{"a":1}\n'
    assert as_line({"a": "\ud83d"}) == b'{"a": "\\ud83d"}\n'
    assert as_line({"a": 1 << 70}) == b'{"a": %d}\n' % (1 << 70)
    assert as_line({"a": deep}) is None
    while deep:  # a list nested this deeply is not freed as a whole
        [deep] = deep  # type: ignore[assignment]


def test_what_is_no_store_is_read_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that does not exist is reported by the reader of plain files; a FIFO is not opened."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"type":"system"}\n')
    assert store_for(path) is None
    assert store_for(tmp_path / "gone") is None
    assert store_for(tmp_path) is None
    # The writer of a FIFO would be released, and then killed by SIGPIPE.
    path = tmp_path / "fifo"
    os.mkfifo(path)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("it was opened"))
    assert store_for(path) is None
