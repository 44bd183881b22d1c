"""An index that is damaged, foreign or hostile is ignored, and the recording is read as without it."""

from __future__ import annotations

import hmac
import os
import pickle
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.feed.index import fit, places
from agentwatch.feed.index.pickles import UNREADABLE, Unpacker
from tests.builders.moment.indexed import index_of, is_restored, write_index

FIXED = 12


def replace(path: Path, data: bytes) -> None:
    """Write an index as its user would, and keep the time of nothing else."""
    path.unlink()
    path.touch(0o600)
    path.write_bytes(data)


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header of an index, and its parts."""
    start = FIXED + int.from_bytes(data[8:FIXED], "little")
    return orjson.loads(data[FIXED:start]), data[start:-32]


def authentic(header: object, parts: bytes) -> bytes:
    """Return an index that whoever knows the key has written."""
    said = orjson.dumps(header)
    data = b"AWINDEX1" + len(said).to_bytes(4, "little") + said + parts
    return data + hmac.digest(places.own_key(), data, "sha256")


def test_an_index_that_is_cut_is_ignored(recorded: Path) -> None:
    """An index that was cut at any of 60 places, or extended, is ignored."""
    path, data = index_of(recorded), index_of(recorded).read_bytes()
    for length in {*range(50), *range(0, len(data), max(len(data) // 40, 1)), len(data) - 1}:
        replace(path, data[:length])
        assert not is_restored(recorded)
    replace(path, data + b"\0")
    assert not is_restored(recorded)
    replace(path, data)
    assert is_restored(recorded)


def test_an_index_with_another_bit_is_ignored(recorded: Path) -> None:
    """An index in which any of 60 bits is another is ignored."""
    path, data = index_of(recorded), index_of(recorded).read_bytes()
    for number, at in enumerate({*range(40), *range(0, len(data), max(len(data) // 20, 1)), len(data) - 1}):
        flipped = bytearray(data)
        flipped[at] ^= 1 << number % 8
        replace(path, bytes(flipped))
        assert not is_restored(recorded)


def test_an_index_of_another_key_is_ignored_and_replaced(recorded: Path) -> None:
    """An index that was written with another key, or without one, is ignored; a new one takes its place."""
    key = places._state_folder() / "key"
    for other in (b"k" * 32, b"", b"k" * 31, b"k" * 33):
        key.write_bytes(other)
        assert not is_restored(recorded)
    key.unlink()
    assert not is_restored(recorded)
    write_index(recorded)
    assert is_restored(recorded)


def test_a_key_that_others_can_read_is_not_used(recorded: Path) -> None:
    """A key with another mode, and a link in its place, count as no key."""
    key = places._state_folder() / "key"
    key.chmod(0o644)
    assert not is_restored(recorded)
    key.chmod(0o600)
    assert is_restored(recorded)
    moved = key.with_name("moved")
    key.rename(moved)
    key.symlink_to(moved)
    assert not is_restored(recorded)
    index_of(recorded).unlink()
    write_index(recorded)
    assert not index_of(recorded).exists()


def test_an_index_of_another_version_is_ignored(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that a newer or older program has written is ignored, and replaced."""
    monkeypatch.setattr(fit, "program", lambda: "another")
    assert not is_restored(recorded)
    write_index(recorded)
    assert is_restored(recorded)
    monkeypatch.undo()


class Creates:
    """An object whose pickle creates a file when it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (str(self._path),)


def test_a_hostile_pickle_does_nothing(recorded: Path, tmp_path: Path) -> None:
    """A pickle that would create a folder creates none: without the key, and even with it."""
    made, path = tmp_path / "made", index_of(recorded)
    header, parts = parts_of(path.read_bytes())
    hostile = pickle.dumps(Creates(made))
    _, layout, table = header["parts"]
    header["parts"] = [len(hostile), layout, table]
    data = authentic(header, hostile + parts[-sum((layout, table)) :])
    replace(path, data[:-32] + b"\0" * 32)
    assert not is_restored(recorded)
    replace(path, data)
    assert not is_restored(recorded)
    assert not made.exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("builtins", "open"),
        ("agentwatch.sources.started.process", "AgentProcess"),
        ("agentwatch.session.storage.spill", "KeptFile"),
        ("agentwatch.wire.plugins", "plugin_agent"),
        ("agentwatch.wire.tool", "import_module"),
        ("agentwatch.wire.tool", "tool_of_name"),
        ("agentwatch.session.call_store", "deque"),
        ("agentwatch.session.session", "Session.close"),
        ("agentwatch.session.absent", "Session"),
    ],
)
def test_only_classes_that_hold_data_are_read(module: str, name: str) -> None:
    """A pickle cannot name a function, a class that owns a file or a process, or another package's class."""
    data = b"\x80\x04" + b"".join(b"\x8c" + bytes([len(word)]) + word.encode() for word in (module, name))
    with pytest.raises(pickle.UnpicklingError):
        Unpacker([]).unpack(data + b"\x93.")


@pytest.mark.parametrize(
    "parts",
    [
        [1 << 62, 1, 1],
        [-1, 1, 1],
        [1, 1 << 40, 1],
        [0, 0, 0],
        [1, 2],
        [1, 2, 3, 4],
        ["1", None, {}],
        None,
        {"state": 1},
        1 << 60,
    ],
)
def test_a_length_that_an_index_claims_is_not_trusted(recorded: Path, parts: object) -> None:
    """An index whose header claims other lengths than its own is ignored, and no such memory is taken."""
    path = index_of(recorded)
    header, data = parts_of(path.read_bytes())
    replace(path, authentic({**header, "parts": parts}, data))
    assert not is_restored(recorded)


def test_lengths_of_spills_are_not_trusted(recorded: Path) -> None:
    """An index whose spills would be longer or shorter than the file is ignored."""
    path = index_of(recorded)
    header, data = parts_of(path.read_bytes())
    start, length = sum(header["parts"][:2]), header["parts"][2]
    table = array("Q", data[start : start + length])
    for more in (1, 1 << 50):
        claimed = array("Q", [table[0] + more, *table[1:]]).tobytes()
        replace(path, authentic(header, data[:start] + claimed + data[start + length :]))
        assert not is_restored(recorded)


@pytest.mark.parametrize(
    "change",
    [
        {"offset": -5},
        {"offset": "all"},
        {"recording": None},
        {"recording": {"size": "all"}},
        {"recording": {"size": -1}},
        {"recording": []},
    ],
)
def test_a_header_with_other_types_is_ignored(recorded: Path, change: dict[str, object]) -> None:
    """A header with fields of a wrong type is no header."""
    path = index_of(recorded)
    header, data = parts_of(path.read_bytes())
    replace(path, authentic({**header, **change}, data))
    assert not is_restored(recorded)


@pytest.mark.parametrize("said", [b"[]", b"{", b"", b"null", b"{}", b"\xff", b"[" * 50_000])
def test_a_header_that_is_no_object_is_ignored(recorded: Path, said: bytes) -> None:
    """A header that is not a JSON object is no header."""
    data = b"AWINDEX1" + len(said).to_bytes(4, "little") + said + b"\0" * 64
    replace(index_of(recorded), data)
    assert not is_restored(recorded)
    replace(index_of(recorded), b"AWINDEX1\xff\xff\xff\xff" + b"\0" * 64)
    assert not is_restored(recorded)


def test_nothing_raises_what_is_not_expected(recorded: Path) -> None:
    """Reading any prefix of a state raises one of the expected errors, or returns something."""
    header, data = parts_of(index_of(recorded).read_bytes())
    state = data[: header["parts"][0]]
    for length in range(0, len(state), 97):
        with pytest.raises(UNREADABLE):
            Unpacker([]).unpack(state[:length])
