"""A recording is read line by line while it grows."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.recording.lines import Line, LineReader
from agentwatch.recording.saved import SavedGrowth, open_saved
from agentwatch.recording.store import create_file
from agentwatch.recording.times import ArrivalTimes


@dataclass
class Growing:
    """A recording that grows when a test adds to it, with the time of each piece."""

    path: Path
    fd: int
    times: ArrivalTimes = field(default_factory=ArrivalTimes)
    length: int = 0
    ended: bool = False

    def add(self, data: bytes, at_ms: int = 1000) -> None:
        """Append a piece that arrives at `at_ms`."""
        self.times.note(self.length, at_ms)
        self.length += os.write(self.fd, data)

    def cut_to(self, length: int) -> None:
        """Let the recording end earlier."""
        os.ftruncate(self.fd, length)
        self.length = length

    def size(self) -> int:
        """Return how many bytes a reader may read."""
        return self.length

    def has_ended(self) -> bool:
        """Return whether the recording is complete."""
        return self.ended

    def reader(self) -> LineReader:
        """Return a reader that starts at the beginning."""
        return LineReader(self.fd, self, self.times)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[], Growing]]:
    """Yield a function that returns an empty recording."""
    made: list[Growing] = []

    def new() -> Growing:
        path = tmp_path / f"growing{len(made)}.ndjson"
        made.append(Growing(path, create_file(path)))
        return made[-1]

    yield new
    for each in made:
        os.close(each.fd)


@pytest.fixture
def growing(begin: Callable[[], Growing]) -> Growing:
    return begin()


def test_a_last_line_is_held_back_until_its_end_comes(growing: Growing, begin: Callable[[], Growing]) -> None:
    """An incomplete line is held back, and returned whole and once when its line end has arrived."""
    reader = growing.reader()
    assert list(reader.read()) == []
    growing.add(b"one\ntw", 1000)
    assert [line.data for line in reader.read()] == [b"one"]
    assert list(reader.read()) == []
    growing.add(b"o", 2000)
    assert list(reader.read()) == []
    assert (reader.offset, reader.is_at_end()) == (4, False)
    growing.add(b"\nthree\n", 3000)
    assert list(reader.read()) == [Line(4, b"two", 3000), Line(8, b"three", 3000)]
    assert reader.offset == growing.length
    # When the recording ends, an unterminated last line is a line.
    growing = begin()
    reader = growing.reader()
    growing.add(b"one\ntw", 1000)
    assert [line.data for line in reader.read()] == [b"one"]
    assert not reader.is_at_end()
    growing.ended = True
    assert list(reader.read()) == [Line(4, b"tw", 1000)]
    assert (list(reader.read()), reader.is_at_end()) == ([], True)
    # No line follows the last line end, and an empty recording has no lines.
    growing = begin()
    growing.ended = True
    assert list(growing.reader().read()) == []
    growing.add(b"one\n\n")
    reader = growing.reader()
    assert [line.data for line in reader.read()] == [b"one", b""]
    assert (list(reader.read()), reader.is_at_end()) == ([], True)
    # Characters that other readers treat as line ends are part of the line.
    growing = begin()
    data = [f"a{char}b".encode() for char in "\r\x0b\x0c\x1c\x85\u2028\u2029\x00"]
    growing.add(b"".join(each + b"\n" + each + b"\n" for each in data))
    assert [line.data for line in growing.reader().read()] == [each for each in data for _ in range(2)]
    # A line that arrives byte by byte, cut inside characters, is the same line.
    growing = begin()
    text = 'é日🦀"\\u'.encode()
    reader = growing.reader()
    for byte in text:
        growing.add(bytes([byte]))
        assert list(reader.read()) == []
    growing.add(b"\n")
    assert [line.data for line in reader.read()] == [text]
    # Bytes beyond the recording's reported size are not read.
    growing = begin()
    growing.add(b"one\n")
    os.write(growing.fd, b"two\n")
    assert [line.data for line in growing.reader().read()] == [b"one"]
    # A line longer than many reads is returned whole with its offset, and the next begins after it.
    growing = begin()
    huge = b"x" * 1_000_003
    growing.add(b"a\n" + huge, 1000)
    reader = growing.reader()
    assert [line.data for line in reader.read()] == [b"a"]
    assert (list(reader.read()), reader.offset) == ([], 2)
    growing.add(b"\nb\n", 2000)
    first, second = reader.read()
    assert (first.offset, first.seen_ms, len(first.data)) == (2, 2000, len(huge))
    assert set(first.data) == set(b"x")
    assert second == Line(3 + len(huge), b"b", 2000)
    assert len(reader.line_at(2, len(huge))) == len(huge)
    # A large number of lines is returned in portions, each line once and in order.
    growing = begin()
    growing.add(b"".join(b"%d\n" % number for number in range(100_000)))
    reader = growing.reader()
    numbers: list[int] = []
    portions = 0
    while found := reader.read():
        numbers += [int(line.data) for line in found]
        portions += 1
    assert (len(numbers), numbers[0], numbers[-1]) == (100_000, 0, 99_999)
    assert numbers == sorted(set(numbers))
    assert portions > 1
    # Each reader starts at the beginning, wherever other readers are.
    growing = begin()
    growing.add(b"one\ntwo\n")
    one = growing.reader()
    assert len(one.read()) == 2
    assert len(growing.reader().read()) == 2
    assert list(one.read()) == []
    # The time of a line is that of its line end; lines of one read have the same time.
    growing = begin()
    for piece, at_ms in ((b"a\nb", 10), (b"b", 20), (b"\nc\n", 30), (b"d", 40)):
        growing.add(piece, at_ms)
    growing.ended = True
    reader = growing.reader()
    lines = list(reader.read()) + list(reader.read())
    assert [(line.data, line.seen_ms) for line in lines] == [(b"a", 10), (b"bb", 30), (b"c", 30), (b"d", 40)]


@pytest.mark.parametrize("begun", [b"tw", b"t" * 300_000], ids=["short", "several reads"])
def test_a_recording_that_was_cut_back_is_read_on_from_there(growing: Growing, begun: bytes) -> None:
    """A full disk cuts a recording back to its last whole line: what was read of the rest is forgotten."""
    reader = growing.reader()
    growing.add(b"one\n" + begun, 1000)
    assert [line.data for line in reader.read()] == [b"one"]
    assert list(reader.read()) == []
    growing.cut_to(4)
    assert list(reader.read()) == []
    assert reader.offset == 4
    growing.add(b"three\n", 2000)
    assert list(reader.read()) == [Line(4, b"three", 2000)]
    growing.ended = True
    assert list(reader.read()) == []
    assert reader.is_at_end()


def test_a_saved_recording_that_grows_is_followed(tmp_path: Path) -> None:
    """A following reader gets appended lines with the current time; other readers stop at the first end."""
    # Opening a folder or a missing file raises, and leaks no descriptor.
    opened = os.listdir("/dev/fd")
    with pytest.raises(IsADirectoryError):
        open_saved(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_saved(tmp_path / "none")
    assert len(os.listdir("/dev/fd")) == len(opened)
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"one\ntw")
    follower, once = open_saved(path, follow=True), open_saved(path)
    assert [(line.data, line.seen_ms) for line in follower.read()] == [(b"one", None)]
    assert [line.data for line in list(once.read()) + list(once.read())] == [b"one", b"tw"]
    before = now_ms()
    with path.open("ab") as file:
        file.write(b"o\n")
    [line] = follower.read()
    assert line.data == b"two"
    assert line.seen_ms is not None
    assert before <= line.seen_ms <= now_ms()
    assert (list(once.read()), once.is_at_end(), follower.is_at_end()) == ([], True, False)
    for reader in (follower, once):
        os.close(reader.fd)


def test_two_threads_see_the_same_end_of_a_followed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one thread reads the size of a growing file, another one cannot end it at an older size."""
    path = tmp_path / "recording"
    path.write_bytes(b"1\n")
    reader = open_saved(path, follow=True)
    growth = reader.growth
    assert isinstance(growth, SavedGrowth)
    path.write_bytes(b"1\n2\n")
    ends: list[int] = []
    threads: list[threading.Thread] = []

    def stop() -> None:
        growth.stop_following()
        ends.append(growth.size())

    fstat = os.fstat

    def fstat_meanwhile(fd: int) -> os.stat_result:
        if not threads:  # only once: a thread that begins under coverage asks for sizes too
            threads.append(threading.Thread(target=stop))
            threads[0].start()
            threads[0].join(0.2)  # it waits for this call, or ends before it
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", fstat_meanwhile)
    assert growth.size() == 4
    threads[0].join()
    assert ends == [growth.size()] == [4]
    os.close(reader.fd)
