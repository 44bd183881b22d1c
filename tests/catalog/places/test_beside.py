"""The files beside sessions are read as far as they can be understood."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agentwatch.agents.description_files import (
    first_text,
    folder_in,
    id_in,
    json_object,
    name_in,
    text_in,
    time_in,
    yaml_texts,
)
from tests.conftest import case

WORKSPACES = [
    (b"name: Say hello\ncwd: /w\n", {"name": "Say hello", "cwd": "/w"}),
    (b"name: 'It''s done'\n", {"name": "It's done"}),
    (b'name: "a \\"b\\" \\u00e9"\n', {"name": 'a "b" é'}),
    (b'name: "torn\n', {"name": '"torn'}),
    (b"name: 'torn\nother: '\n", {"name": "'torn", "other": "'"}),
    (b"name: |-\n  one\n  two\ncwd: /w", {"name": "one two", "cwd": "/w"}),
    (b"name: a long text\n  that goes on\n\ncwd: /w\n", {"name": "a long text that goes on", "cwd": "/w"}),
    (b"name: a: b\n", {"name": "a: b"}),
    (b"name: null\ncwd: ~\nbranch:\n", {}),
    (b"name:\n  - one\n", {"name": "- one"}),
    (b"name: \xff\n", {"name": "�"}),
    (b"one", {}),
    (b"  indented: first\nname: x\n", {"name": "x"}),
    (b"", {}),
]


def test_the_texts_of_a_workspace_are_read() -> None:
    """A text may have quotes, and may go on in indented lines."""
    for data, texts in WORKSPACES:
        with case(data):
            assert yaml_texts(data) == texts


def test_a_document_is_read_in_part_or_not_at_all(tmp_path: Path) -> None:
    """Its first 1,000 lines count. Neither has a path that no file can have, nor a folder."""
    texts = yaml_texts(b"".join(b"key%d: x\n" % number for number in range(5000)))
    assert len(texts) == 1000
    for path in (tmp_path / "gone", tmp_path, "a\0b"):
        assert json_object(str(path)) == {}
        assert first_text(str(path), "id") == ""


def test_a_file_is_read_as_far_as_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may be gone or unreadable; half an emoji in a title is replaced."""
    # An agent that cuts a title inside an emoji writes half a surrogate pair, which U+FFFD replaces.
    path = tmp_path / "x"
    path.write_bytes(b'{"title": "a\\ud83d", "cwd": "/w"}')
    assert json_object(str(path)) == {"title": "a\N{REPLACEMENT CHARACTER}", "cwd": "/w"}
    path.write_bytes(b"{" * 5000)
    assert json_object(str(path)) == {}
    # It is looked for in the first 4 KiB; an escaped text is left out. A text, a name, an id and a folder are
    # texts.
    path.write_bytes(b'{"a": {"id" : "one"}, "id": "two"}')
    assert first_text(str(path), "id") == "one"
    assert first_text(str(path), "other") == ""
    path.write_bytes(b'{"id": "a\\nb"}')
    assert first_text(str(path), "id") == ""
    for value in (None, 3, True, b"x", ["x"], {"x": "y"}, ""):
        with case(value):
            assert text_in(value) == ""
            assert name_in(value) is None
            assert id_in(value) is None
            assert folder_in(value) is None
    # A file that can be opened may not be readable.
    path.write_bytes(b"{}")

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "pread", fail)
    assert json_object(str(path)) == {}


def test_a_folder_is_an_absolute_path() -> None:
    """A path of Windows counts too."""
    cases: list[tuple[str, str | None]] = [
        ("/w", "/w"),
        ("C:\\w", "C:\\w"),
        ("\\\\host\\w", "\\\\host\\w"),
        ("w", None),
        ("/" * 5000, None),
    ]
    for value, folder in cases:
        with case(f"{value:.40}"):
            assert folder_in(value) == folder
    assert folder_in("/a\0b") is None


def test_a_time_is_a_positive_number() -> None:
    """Of a fraction of a millisecond, the whole ones count."""
    cases: list[tuple[object, int | None]] = [
        (5, 5),
        (5.7, 5),
        (0, None),
        (-1, None),
        (1e300, None),
        (True, None),
        ("5", None),
    ]
    for value, ms in cases:
        with case(value):
            assert time_in(value) == ms
    assert time_in(float("nan")) is None
