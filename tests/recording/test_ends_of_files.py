"""The first and last lines of a file are read without what lies between them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from agentwatch.recording import (
    first_lines,
    is_one_document,
    last_lines,
    line_start,
    lines_from_end,
)
from tests.conftest import case


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[int]:
    """Open a file with these bytes, and name them in a failure."""
    path.write_bytes(data)
    with path.open("rb") as file, case(f"{data!r:.80}"):
        yield file.fileno()


def test_the_first_lines_are_whole(tmp_path: Path) -> None:
    """A line that does not end within the bytes that are read is left out."""
    with opened(tmp_path / "file", b"ab\ncde\nf") as fd:
        found = {most_bytes: first_lines(fd, most_bytes) for most_bytes in (0, 2, 3, 6, 99)}
    assert found == {0: [], 2: [], 3: [b"ab\n"], 6: [b"ab\n"], 99: [b"ab\n", b"cde\n"]}


def test_the_last_lines_end_with_the_file(tmp_path: Path) -> None:
    """What follows the last line end comes last; the first line may be cut."""
    for data, most_bytes, lines in (
        (b"ab\ncde\nf", 99, [b"ab", b"cde", b"f"]),
        (b"ab\ncde\nf", 4, [b"de", b"f"]),
        (b"ab\ncde\n", 4, [b"cde", b""]),
        (b"", 4, [b""]),
    ):
        with opened(tmp_path / "file", data) as fd:
            assert last_lines(fd, most_bytes) == lines


def test_a_line_start_is_found_from_its_end(tmp_path: Path) -> None:
    """However many reads it takes, a line begins behind the last line end before it.

    The first read is of 64 KiB, each further one of 1 MiB.
    """
    for length in (2, (1 << 16) - 1, 1 << 16, (1 << 16) + (1 << 20) - 1, (1 << 16) + (1 << 20), 3 << 20):
        first, second = length + 1, 2 * length + 2
        with opened(tmp_path / "file", (b"x" * length + b"\n") * 2 + b"f") as fd, case(length):
            ends = (0, length, first, first + 2, first + length, second, second + 1)
            starts = [0, 0, first, first, first, second, second]
            assert [line_start(fd, end) for end in ends] == starts


def test_lines_from_the_end(tmp_path: Path) -> None:
    """The lines that are not blank are found from the last one on; one that began too early is left out."""
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


def test_long_lines_from_the_end(tmp_path: Path) -> None:
    """Lines that are longer than one read are found whole, and before many blank lines."""
    data = b"x" * 300_000 + b"\n" + b"y" * 3_000_000 + b"\n" * 200_000
    with opened(tmp_path / "file", data) as fd:
        assert list(lines_from_end(fd, 8 << 20)) == [(300_001, 3_000_000), (0, 300_000)]


def test_a_document_over_many_lines_is_recognised(tmp_path: Path) -> None:
    """A JSON value written with indentation is a document, whatever it contains."""
    values: tuple[object, ...] = ({"a": 1}, {"a": {}}, [{"a": 1}], ["a"], [1, 2], [[1]], [-1])
    for lead, value in product((b"", b"\n \n", b"\xef\xbb\xbf"), values):
        with opened(tmp_path / "file", lead + json.dumps(value, indent=4).encode()) as fd:
            assert is_one_document(fd)


def test_lines_are_no_document(tmp_path: Path) -> None:
    """Lines of events, even after a lone brace of other output, are not one document."""
    for data in (
        *(b"", b"\n\n", b"{", b"{\n", b"{}\n{}\n", b'{"type":"system"}\n', b"[1]\n", b"text\n{\n"),
        *(b"[\ntext\n", b'{\n{"type":"system"}\n', b'[\n{"type":"system"}\n', b'{"a":\n"b"}\n', b"{\n}\n"),
    ):
        with opened(tmp_path / "file", data) as fd:
            assert not is_one_document(fd)


def test_a_pipe_is_no_document() -> None:
    """Input that cannot be read at an offset is not examined."""
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b'{\n  "a": 1\n}\n')
    assert not is_one_document(read_fd)
    os.close(read_fd)
    os.close(write_fd)
