"""The first and last lines of a file are read without what lies between them."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random

import pytest

from agentwatch.recording.appender import line_start
from agentwatch.recording.head_tail import (
    bytes_before,
    first_bytes,
    first_lines,
    is_one_document,
    last_lines,
    line_end_after,
    lines_between,
    lines_from_end,
)
from tests.conftest import case


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[int]:
    """Open a file with these bytes, and name them in a failure."""
    path.write_bytes(data)
    with path.open("rb") as file, case(f"{data!r:.80}"):
        yield file.fileno()


def test_the_first_and_the_last_lines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that does not end, or begin, within the bytes that are read is left out."""
    with opened(tmp_path / "file", b"ab\ncde\nf") as fd:
        first = {most_bytes: first_lines(fd, most_bytes) for most_bytes in (0, 2, 3, 6, 99)}
    assert first == {0: [], 2: [], 3: [b"ab\n"], 6: [b"ab\n"], 99: [b"ab\n", b"cde\n"]}
    # What follows the last line end comes last; the first line may be cut.
    for data, most_bytes, lines in (
        (b"ab\ncde\nf", 99, [b"ab", b"cde", b"f"]),
        (b"ab\ncde\nf", 4, [b"de", b"f"]),
        (b"ab\ncde\n", 4, [b"cde", b""]),
        (b"", 4, [b""]),
    ):
        with opened(tmp_path / "file", data) as fd:
            assert last_lines(fd, most_bytes) == lines
    # The lines that are not blank are found from the last one on; one that began too early is left out.
    for data, most_bytes, lines in (
        (b"", 10, []),
        (b" \n\r\n\t\n", 10, []),
        (b"ab\ncd\n", 10, [b"cd", b"ab"]),
        (b"ab\n\n  \ncd", 10, [b"cd", b"ab"]),
        (b"ab\ncd  \n\n\n", 10, [b"cd", b"ab"]),
        (b"ab\ncd", 2, []),
        (b"ab\ncd", 3, [b"cd"]),
        (b"abcdef", 6, [b"abcdef"]),
        (b"abcdef", 5, []),
    ):
        with opened(tmp_path / "file", data) as fd:
            found = [os.pread(fd, length, offset) for offset, length in lines_from_end(fd, most_bytes)]
            assert found == lines
    # Lines that are longer than one read are found whole, and before many blank lines.
    data = b"x" * 300_000 + b"\n" + b"y" * 3_000_000 + b"\n" * 200_000
    with opened(tmp_path / "file", data) as fd:
        assert list(lines_from_end(fd, 8 << 20)) == [(300_001, 3_000_000), (0, 300_000)]
    # What follows the last line end is not a line yet, and there may be fewer bytes than expected.
    with opened(tmp_path / "file", b"ab\ncde\nf") as fd:
        assert lines_between(fd, 0, 99) == ([b"ab\n", b"cde\n"], b"f")
        assert lines_between(fd, 3, 7) == ([b"cde\n"], b"")
        assert lines_between(fd, 3, 5) == ([], b"cd")
        assert lines_between(fd, 8, 8) == lines_between(fd, 8, 3) == lines_between(fd, 50, 99) == ([], b"")
    # A JSON value written with indentation is a document, whatever it contains.
    values: tuple[object, ...] = ({"a": 1}, {"a": {}}, [{"a": 1}], ["a"], [1, 2], [[1]], [-1])
    for lead, value in product((b"", b"\n \n", b"\xef\xbb\xbf"), values):
        with opened(tmp_path / "file", lead + json.dumps(value, indent=4).encode()) as fd:
            assert is_one_document(fd)
    # Lines of events, even after a lone brace of other output, are not one document. Input that cannot be
    # read at an offset is not examined.
    for data in (
        *(b"", b"\n\n", b"{", b"{\n", b"{}\n{}\n", b'{"type":"system"}\n', b"[1]\n", b"text\n{\n"),
        *(b"[\ntext\n", b'{\n{"type":"system"}\n', b'[\n{"type":"system"}\n', b'{"a":\n"b"}\n', b"{\n}\n"),
    ):
        with opened(tmp_path / "file", data) as fd:
            assert not is_one_document(fd)
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b'{\n  "a": 1\n}\n')
    assert not is_one_document(read_fd)
    os.close(read_fd)
    os.close(write_fd)
    # At most 64 bytes are returned; a file that was cut has none. Neither has a path that no file can have,
    # nor a folder, nor a file on a disk that fails.
    hundred = bytes(range(100))
    with opened(tmp_path / "file", hundred) as fd:
        for offset in (0, 1, 64, 65, 100):
            assert bytes_before(fd, offset) == hundred[max(offset - 64, 0) : offset]
        assert bytes_before(fd, 900) == b""
    for path in (tmp_path / "gone", tmp_path, "a\0b"):
        assert first_bytes(path, 10) == b""
    (tmp_path / "x").write_bytes(b"{}")
    assert first_bytes(str(tmp_path / "x"), 1) == b"{"

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "pread", fail)
    assert first_bytes(tmp_path / "x", 10) == b""


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "lines", os.O_RDWR | os.O_CREAT)
    yield fd
    os.close(fd)


def test_line_ends_are_those_of_the_bytes(empty: int) -> None:
    """From any offset, the line ends on both sides are found, with lines of any length."""
    # In a file that was truncated since, the next line ends at the size that it had.
    os.pwrite(empty, b"one\ntwo", 0)
    assert line_end_after(empty, 4, 900) == 900
    assert line_start(empty, 900) == 4
    # The first read is of 4 KiB, each further one of 64 KiB.
    chance, offsets, data = Random(3), set[int](), b""
    for _ in range(40):
        length = chance.choice((0, 0, 1, 40, 4095, 4096, 4097, 69_631, 69_632, 69_633, 200_000))
        begin, end = len(data), len(data) + length
        offsets.update(range(begin, min(begin + 3, end)), range(end, begin, -1000), (end, end + 1))
        data += b"x" * length + b"\n"
    os.pwrite(empty, data, 0)
    for offset in sorted(offsets):
        assert line_start(empty, offset) == data.rfind(b"\n", 0, offset) + 1
        found = data.find(b"\n", offset)
        assert line_end_after(empty, offset, len(data)) == (len(data) if found < 0 else found + 1)


def test_a_huge_line_is_read_once(empty: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passing a line of 32 MiB reads each of its bytes once, 64 KiB at a time."""
    size, reads = 32 << 20, list[int]()
    os.ftruncate(empty, size)
    os.pwrite(empty, b"\n", 9)
    os.pwrite(empty, b"\n", size - 1)
    pread = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        reads.append(length)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    assert line_start(empty, size - 1) == 10
    assert line_end_after(empty, 10, size) == size
    assert max(reads) <= 1 << 16
    assert sum(reads) <= 2 * size
