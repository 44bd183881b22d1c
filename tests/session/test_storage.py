"""What a session stores in few bytes: ids, numbers, texts that grow, and what is spilled."""

import os
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session import storage
from agentwatch.session import storage as module
from agentwatch.session import storage as spill_module
from agentwatch.session.storage import CallIds, GrowingText, Numbers, Spill, TextPrefix, is_joined
from tests.builders.lines import DONE, PROPERTY, completed, init, session, started
from tests.conftest import case

PIECES = st.lists(
    st.builds(
        lambda text, times: text * times, st.text("ab\n é🙂\ud83d", max_size=9), st.sampled_from([1, 9, 4000])
    ),
    max_size=8,
)


@PROPERTY
@given(PIECES, st.integers(0, 80_000), st.integers(0, 80_000), st.booleans())
def test_a_text_is_its_pieces(pieces: list[str], start: int, length: int, is_complete: bool) -> None:
    """Length, text and any part are those of the joined pieces, across chunks as well."""
    text, whole = GrowingText(Spill()), ""
    for piece in pieces:
        text.add(piece)
        whole += piece
        assert (len(text), text.part(start)) == (len(whole), whole[start:])
    if is_complete:
        text.complete()
        text.complete()
    assert str(text) == whole
    assert text.part(start, start + length) == whole[start : start + length]
    assert text.part(0) == whole


def test_a_text_is_spilled_if_it_is_long() -> None:
    """A complete text of at most 256 characters stays in memory as one string, which the initial text
    begins; a longer one is spilled.
    """
    text = GrowingText(Spill(), "干潮")
    text.add(" 🌊")
    assert (str(text), len(text), text.part(1, 3)) == ("干潮 🌊", 4, "潮 ")
    for length, spilled_bytes in [(0, 0), (256, 0), (257, 257)]:
        with case((length, spilled_bytes)):
            spill = Spill()
            text = GrowingText(spill)
            for _ in range(length):
                text.add("a")
            text.complete()
            end_of_spill = spill.add(b"")
            assert end_of_spill == spilled_bytes
            first, second = str(text), str(text)
            assert (first, text.part(1, 3)) == ("a" * length, ("a" * length)[1:3])
            assert (first is second) == (not spilled_bytes)


@PROPERTY
@given(PIECES, PIECES)
def test_a_text_is_compared_with_pieces(pieces: list[str], others: list[str]) -> None:
    """A list of pieces equals a text if their concatenation does, however each was cut."""
    whole = GrowingText(Spill(), "".join(pieces))
    cut = [GrowingText(Spill(), piece) for piece in pieces]
    assert is_joined(whole, cut)
    assert is_joined(whole, [GrowingText(Spill(), piece) for piece in others]) == (
        "".join(pieces) == "".join(others)
    )
    whole.complete()
    for piece in cut:
        piece.complete()
    assert is_joined(whole, cut)
    assert not is_joined(whole, [*cut, GrowingText(Spill(), "a")])
    longer = GrowingText(Spill(), "".join([*pieces, "ab"]))
    assert not is_joined(longer, cut)
    assert not is_joined(longer, [*cut, GrowingText(Spill(), "a")])


@PROPERTY
@given(PIECES, st.integers(0, 40_000), st.integers(0, 40_000), st.integers(0, 40_000), st.booleans())
def test_a_prefix_is_the_beginning_of_its_text(
    pieces: list[str], length: int, start: int, end: int, is_complete: bool
) -> None:
    """Length, text, UTF-8 and parts of a prefix are those of the first characters, also while it grows."""
    whole = "".join(pieces)
    text = GrowingText(Spill(), whole)
    if is_complete:
        text.complete()
    length = min(length, len(whole))
    prefix = TextPrefix(text, length)
    for most in (0, len(whole) // 3, len(whole)):
        more = min(most, len(whole) - length)
        prefix.add(whole[length : length + more])
        length += more
        expected = whole[:length]
        assert (len(prefix), str(prefix), prefix.part(start)) == (length, expected, expected[start:])
        assert prefix.part(start, end) == expected[start:end]
        assert b"".join(prefix.utf8()) == expected.encode("utf-8", "surrogatepass")
    prefix.complete()
    assert str(prefix) == whole[:length]


KINDS = st.sampled_from(["append", "append", "append", "set", "pop"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 2**32 - 1)))


@PROPERTY
@given(STEPS, st.sampled_from([8, 1 << 20]), st.booleans())
def test_numbers_are_those_of_a_list(steps: list[tuple[str, int]], most_bytes: int, is_refused: bool) -> None:
    """After any steps, every number is that of a list, also where the file cannot be changed."""

    def refuse(*_: object) -> int:
        raise OSError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PAGE", 4)
        patched.setattr(module, "_MOST_PAGES", 2)
        patched.setattr(spill_module, "_MOST_BYTES", most_bytes)
        found, expected = Numbers("I", Spill()), list[int]()
        for number in range(30):
            found.append(number)
            expected.append(number)
        if is_refused:
            patched.setattr(os, "pwrite", refuse)
        for step, number in steps:
            if step == "append":
                found.append(number)
                expected.append(number)
            elif expected and step == "set":
                found[number % len(expected)] = expected[number % len(expected)] = number
            elif expected:
                assert found.pop() == expected.pop()
        assert len(found) == len(expected)
        assert [found[index] for index in range(len(found))] == expected
        for start in range(0, len(found), 2):
            assert list(found.part(start, start + 2)) == expected[start : start + 2]


def test_ids_and_numbers_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 5,000 calls in two sessions each is found by both of its ids, also if all ids have the same hash.
    Removing every number reads the older pages again, and leaves an empty list that can grow.
    """
    ids = CallIds()
    for number in range(1, 5_001):
        ids.add(1, "s-1" if number % 2 else None, f"c{number // 2}", number)
    for number in range(1, 5_001):
        assert number in ids.numbers(1, "s-1" if number % 2 else None, f"c{number // 2}")
    assert sum(len([*ids.numbers(1, "s-2", f"c{number}")]) for number in range(5_000)) <= 1
    assert sum(len([*ids.numbers(2, "s-1", f"c{number}")]) for number in range(5_000)) <= 1
    monkeypatch.setattr(storage, "hash", lambda _ids: 63, raising=False)
    lines = [line for number in range(100) for line in (started("read", f"c{number}", path=f"{number}"),)]
    ends = [completed("read", f"c{number}", DONE) for number in reversed(range(100))]
    read = session(init(), *lines, *ends)
    assert [(call.call_id, call.target, call.outcome) for call in read.calls] == [
        (f"c{number}", f"{number}", "succeeded") for number in range(100)
    ]
    # All numbers can be removed.
    found = Numbers("Q", Spill())
    for number in range(5000):
        found.append(number)
    found[0] = 7
    assert [found.pop() for _ in range(5000)] == [*range(4999, 0, -1), 7]
    assert len(found) == 0
    found.append(1)
    assert found[0] == 1


@pytest.mark.system
def test_what_is_stored_takes_little_memory() -> None:
    """The ids of 20,000 calls take less than 480 KB; 400,000 numbers of eight bytes take less than 2 MB,
    most of it the newest bytes of the spill.
    """
    tracemalloc.start()
    ids = CallIds()
    for number in range(1, 20_001):
        ids.add(1, "session", f"call-{number}", number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 480_000
    tracemalloc.start()
    found = Numbers("Q", Spill())
    for number in range(400_000):
        found.append(number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_000_000
    assert found[0] + found[200_000] + found[399_999] == 599_999


@PROPERTY
@given(
    st.lists(st.tuples(st.booleans(), KINDS, st.integers(0, 2**32 - 1))), st.integers(0, 40), st.booleans()
)
def test_a_prefix_and_its_list_change_apart(
    steps: list[tuple[bool, str, int]], length: int, is_pickled: bool
) -> None:
    """After any steps on a list, its prefix or its copy, each is what its own steps have made."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PAGE", 4)
        patched.setattr(module, "_MOST_PAGES", 2)
        whole, expected = Numbers("I", Spill()), list(range(40))
        for number in expected:
            whole.append(number)
        whole[3] = expected[3] = 99
        part, expected_part = whole.prefix(length), expected[:length]
        if is_pickled:
            part, expected_part = Numbers.__new__(Numbers), expected[:]
            part.__setstate__(whole.__getstate__())
        for is_part, step, number in steps:
            found, wanted = (part, expected_part) if is_part else (whole, expected)
            if step == "append":
                found.append(number)
                wanted.append(number)
            elif wanted and step == "set":
                found[number % len(wanted)] = wanted[number % len(wanted)] = number
            elif wanted:
                assert found.pop() == wanted.pop()
        assert [part[index] for index in range(len(part))] == expected_part
        assert [whole[index] for index in range(len(whole))] == expected


MEGABYTE = 1 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect temporary files to a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@PROPERTY
@given(st.lists(st.binary(max_size=40).map(lambda data: data * 20_000), max_size=12))
def test_each_piece_comes_back(pieces: list[bytes]) -> None:
    """Each piece, and any end of it, is returned as given, from the file and from memory."""
    spill = Spill()
    places = [spill.add(piece) for piece in pieces]
    assert len(places) == len(pieces)
    for place, piece in zip(places, pieces, strict=True):
        assert spill.get(place, len(piece)) == piece
        assert spill.get(place + len(piece) // 2, len(piece) - len(piece) // 2) == piece[len(piece) // 2 :]


def test_a_spill_may_lack_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a megabyte stays in memory; the file of a larger spill has no name. Without a folder all
    pieces stay in memory; a file that loses bytes raises, and one that is no longer referenced is closed.
    """

    def refuse(*_: object) -> int:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse)
        Spill().add(b"." * (MEGABYTE - 1))
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    assert spill.get(place, MEGABYTE) == b"." * MEGABYTE
    assert not list(folder.iterdir())
    # The file is closed with its spill, may lose bytes, or may not be made.
    del spill
    before = len(os.listdir("/proc/self/fd"))
    spill = Spill()
    spill.add(b"." * MEGABYTE)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del spill
    assert len(os.listdir("/proc/self/fd")) == before
    spill = Spill()
    place = spill.add(b"." * MEGABYTE)
    with pytest.raises(OSError, match="has lost 1 bytes"):
        spill.get(place + 1, MEGABYTE)
    folder.rmdir()
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(3)]
    assert [spill.get(place, 1) for place in places] == [b"\0", b"\1", b"\2"]


def test_a_spill_writes_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there is a file, pieces are written to it whenever they are 128 KiB together. Those that do not
    fit on the disk are kept; one that cannot be replaced is appended.
    """
    spill, written, write = Spill(), [0], os.pwrite

    def counted(fd: int, data: bytes, offset: int) -> int:
        written[0] += len(data)
        return write(fd, data, offset)

    monkeypatch.setattr(os, "pwrite", counted)
    for number in range(1, 65):
        place = spill.add(bytes([number]) * (1 << 15))
        added = number << 15
        assert written[0] == (added >> 17 << 17 if added >= MEGABYTE else 0)
        assert spill.get(place, 1 << 15) == bytes([number]) * (1 << 15)
    # A full disk costs nothing.
    monkeypatch.undo()
    space = [MEGABYTE + 1000]

    def write_while_there_is_space(fd: int, data: bytes, offset: int) -> int:
        if not space[0]:
            raise OSError(28, "No space left on device")
        size = write(fd, data[: space[0]], offset)
        space[0] -= size
        return size

    monkeypatch.setattr(os, "pwrite", write_while_there_is_space)
    spill = Spill()
    places = [spill.add(bytes([n]) * MEGABYTE) for n in range(4)]
    assert [spill.get(place, MEGABYTE) for place in places] == [bytes([n]) * MEGABYTE for n in range(4)]
    # The file refuses the new bytes of a piece.
    monkeypatch.undo()
    spill = Spill()
    place, other = spill.add(b"a" * MEGABYTE), spill.add(b"b" * MEGABYTE)

    def refuse(_fd: int, _data: bytes, _offset: int) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pwrite", refuse)
    moved = spill.replace(place, b"c" * MEGABYTE)
    assert moved not in (place, other)
    assert spill.get(moved, MEGABYTE) == b"c" * MEGABYTE
    assert spill.get(other, MEGABYTE) == b"b" * MEGABYTE
