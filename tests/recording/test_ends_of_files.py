"""The first and last lines of a file are read without what lies between them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.recording import (
    create_file,
    first_lines,
    is_one_document,
    last_lines,
    line_start,
    lines_from_end,
)


@pytest.fixture
def of(tmp_path: Path) -> Callable[[bytes], int]:
    """Make a file of some bytes, and return its descriptor."""

    def made(data: bytes) -> int:
        fd = create_file(tmp_path / "file")
        (tmp_path / "file").write_bytes(data)
        return fd

    return made


@pytest.mark.parametrize(
    ("most_bytes", "lines"), [(0, []), (2, []), (3, [b"ab\n"]), (6, [b"ab\n"]), (99, [b"ab\n", b"cde\n"])]
)
def test_the_first_lines_are_whole(of: Callable[[bytes], int], most_bytes: int, lines: list[bytes]) -> None:
    """A line that does not end within the bytes that are read is left out."""
    assert first_lines(of(b"ab\ncde\nf"), most_bytes) == lines


@pytest.mark.parametrize(
    ("data", "most_bytes", "lines"),
    [
        (b"ab\ncde\nf", 99, [b"ab", b"cde", b"f"]),
        (b"ab\ncde\nf", 4, [b"de", b"f"]),
        (b"ab\ncde\n", 4, [b"cde", b""]),
        (b"", 4, [b""]),
    ],
)
def test_the_last_lines_end_with_the_file(
    of: Callable[[bytes], int], data: bytes, most_bytes: int, lines: list[bytes]
) -> None:
    """What follows the last line end comes last; the first line may be cut."""
    assert last_lines(of(data), most_bytes) == lines


@pytest.mark.parametrize("step", [1, 2, 1 << 20])
@pytest.mark.parametrize(("end", "start"), [(0, 0), (2, 0), (3, 3), (5, 3), (6, 3), (7, 7), (8, 7)])
def test_a_line_start_is_found_from_its_end(
    of: Callable[[bytes], int], monkeypatch: pytest.MonkeyPatch, end: int, start: int, step: int
) -> None:
    """However many reads it takes, a line begins behind the last line end before it."""
    monkeypatch.setattr("agentwatch.capture.appender._STEP_BYTES", step)
    assert line_start(of(b"ab\ncde\nf"), end) == start


@pytest.mark.parametrize(
    ("data", "most_bytes", "lines"),
    [
        (b"", 10, []),
        (b" \n\r\n\t\n", 10, []),
        (b"ab\ncd\n", 10, [b"cd", b"ab"]),
        (b"ab\n\n  \ncd", 10, [b"cd", b"ab"]),
        (b"ab\ncd  \n\n\n", 10, [b"cd", b"ab"]),
        (b"ab\ncd", 2, []),
        (b"ab\ncd", 3, [b"cd"]),
        (b"abcdef", 6, [b"abcdef"]),
        (b"abcdef", 5, []),
    ],
)
def test_lines_from_the_end(
    of: Callable[[bytes], int], data: bytes, most_bytes: int, lines: list[bytes]
) -> None:
    """The lines that are not blank are found from the last one on; one that began too early is left out."""
    fd = of(data)
    assert [os.pread(fd, length, offset) for offset, length in lines_from_end(fd, most_bytes)] == lines


def test_long_lines_from_the_end(of: Callable[[bytes], int]) -> None:
    """Lines that are longer than one read are found whole, and before many blank lines."""
    fd = of(b"x" * 300_000 + b"\n" + b"y" * 3_000_000 + b"\n" * 200_000)
    assert list(lines_from_end(fd, 8 << 20)) == [(300_001, 3_000_000), (0, 300_000)]


@pytest.mark.parametrize("value", [{"a": 1}, {"a": {}}, [{"a": 1}], ["a"], [1, 2], [[1]], [-1]], ids=repr)
@pytest.mark.parametrize("lead", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_document_over_many_lines_is_recognised(
    of: Callable[[bytes], int], value: object, lead: bytes
) -> None:
    """A JSON value written with indentation is a document, whatever it contains."""
    assert is_one_document(of(lead + json.dumps(value, indent=4).encode()))


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"\n\n",
            b"{",
            b"{\n",
            b"{}\n{}\n",
            b'{"type":"system"}\n',
            b"[1]\n",
            b"text\n{\n",
            b"[\ntext\n",
        ),
        *(b'{\n{"type":"system"}\n', b'[\n{"type":"system"}\n', b'{"a":\n"b"}\n', b"{\n}\n"),
    ],
)
def test_lines_are_no_document(of: Callable[[bytes], int], data: bytes) -> None:
    """Lines of events, even after a lone brace of other output, are not one document."""
    assert not is_one_document(of(data))


def test_a_pipe_is_no_document() -> None:
    """Input that cannot be read at an offset is not examined."""
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b'{\n  "a": 1\n}\n')
    assert not is_one_document(read_fd)
    os.close(read_fd)
    os.close(write_fd)
