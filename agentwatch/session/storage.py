"""Compact storage for a long session: texts, numbers and ids, with the oldest in an unlinked file."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator

_LEAST_SLOTS = 64
_NUMBER_BITS = 32
_NUMBER = (1 << _NUMBER_BITS) - 1


class CallIds:
    """A hash table of call numbers: each slot has 32 bits of the hash of the ids, and the number. The ids
    themselves are not kept. Calls whose hashes are equal are distinguished by the caller. The key of Python's
    hash is another one in each process, so that a stream cannot choose equal hashes."""

    def __init__(self) -> None:
        self._slots = _empty(_LEAST_SLOTS)
        self._count = 0

    def add(self, run: int, session_id: str | None, call_id: str, number: int) -> None:
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            old, self._slots = self._slots, _empty(2 * len(self._slots))
            for entry in filter(None, old):
                self._insert(entry)
        self._insert((hash((run, session_id, call_id)) & _NUMBER) << _NUMBER_BITS | number)

    def numbers(self, run: int, session_id: str | None, call_id: str) -> list[int]:
        """Return the numbers of the calls that may have these ids: rarely more than one."""
        slots = self._slots
        wanted, last = hash((run, session_id, call_id)) & _NUMBER, len(slots) - 1
        slot = wanted & last
        found: list[int] = []
        while entry := slots[slot]:
            if entry >> _NUMBER_BITS == wanted:
                found.append(entry & _NUMBER)
            slot = (slot + 1) & last
        return found

    def _insert(self, entry: int) -> None:
        slots = self._slots
        last = len(slots) - 1
        slot = (entry >> _NUMBER_BITS) & last
        while slots[slot]:
            slot = (slot + 1) & last
        slots[slot] = entry


def _empty(slots: int) -> array[int]:
    return array("Q", bytes(8 * slots))


_MOST_BYTES = 1 << 20
"""Bytes in memory before a file is created. With 8 MiB, the summary takes no less CPU, and a gigabyte on
the screen takes 12 MB more."""
_PIECE_BYTES = 1 << 17
"""Bytes that stay in memory after that. A screen has three spills, and larger pieces save no CPU."""
_AHEAD_BYTES = 1 << 15
"""How much is read at once if pieces are read in their order: 32 times fewer calls than without."""


class Spill:
    """A store of bytes that only grows. Beyond 1 MiB it writes them to a file in the temporary folder. If the
    file cannot be created or the disk is full, the bytes stay in memory."""

    __slots__ = ("_ahead", "_fd", "_is_refused", "_last_end", "_most", "_newest", "_written")

    def __init__(self) -> None:
        self._fd: int | None = None
        self._ahead = 0, b""  # bytes that were read ahead, and their place
        self._last_end = 0  # the end of the last piece that was read
        self._is_refused = False
        self._most = _MOST_BYTES
        self._newest = bytearray()
        self._written = 0

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def add(self, data: bytes) -> int:
        """Append a piece, and return its place: the number of bytes before it."""
        place = self._written + len(self._newest)
        self._newest += data
        if len(self._newest) >= self._most and not self._is_refused:
            self._write()
        return place

    def get(self, place: int, length: int) -> bytes:
        """Return `length` bytes at `place`; they must all belong to one piece."""
        if place >= self._written:
            start = place - self._written
            return bytes(self._newest[start : start + length])
        assert self._fd is not None
        at, ahead = self._ahead
        if at <= place and place + length <= at + len(ahead):
            return ahead[place - at : place - at + length]
        # Pieces are mostly read in the order in which they were written.
        more = _AHEAD_BYTES if self._last_end <= place < self._last_end + _AHEAD_BYTES else length
        self._last_end = place + length
        data = os.pread(self._fd, max(min(more, self._written - place), length), place)
        if len(data) > length:
            self._ahead = place, data
            self._last_end = place + len(data)
            data = data[:length]
        if len(data) < length:
            raise OSError(f"the temporary file has lost {length - len(data)} bytes")
        return data

    def replace(self, place: int, data: bytes) -> int:
        """Replace a piece by one of the same length, and return its place. If the file cannot be written, the
        data is appended, so that its place is another one."""
        if place >= self._written:
            start = place - self._written
            self._newest[start : start + len(data)] = data
            return place
        assert self._fd is not None
        self._ahead = 0, b""  # the bytes may be in it
        try:
            is_written = os.pwrite(self._fd, data, place) == len(data)
        except OSError:
            is_written = False
        return place if is_written else self.add(data)

    def _write(self) -> None:
        """Write the bytes in memory to the file. After a partial write they all stay in memory."""
        try:
            if self._fd is None:
                self._fd = _nameless_file()
            left = memoryview(self._newest)
            while left:
                left = left[os.pwrite(self._fd, left, self._written + len(self._newest) - len(left)) :]
        except OSError:
            self._is_refused = True
            return
        self._written += len(self._newest)
        self._newest = bytearray()
        self._most = min(self._most, _PIECE_BYTES)


def _nameless_file() -> int:
    import tempfile

    fd, name = tempfile.mkstemp(prefix="agentwatch-")
    os.unlink(name)
    return fd


_CHUNK = 1 << 14
_MOST_WHOLE = 256
"""Characters of a complete text that stays a `str`: most are shorter. With 1,024, a gigabyte of stream
takes 35 MB more."""


class GrowingText:
    """A text that a spill stores as UTF-8, in chunks of 16,384 characters; the end stays in memory until
    it fills a chunk, and all of a complete text of at most 256 characters.

    Python strings would cost more: 4 bytes per character in a text with an emoji, and 60 bytes of
    overhead per delta. The 65 MB of text in a gigabyte of stream would take over 200 MB.
    """

    __slots__ = ("_chunks", "_length", "_tail", "_tail_length", "spill")

    def __init__(self, spill: Spill, text: str = "") -> None:
        self.spill = spill
        self._chunks = _NO_CHUNKS
        """The place and the length in bytes of each chunk, alternating."""
        self._tail: list[str] | str = []
        """The pieces of text after the last chunk; of a complete text, a string. A list takes 64 bytes."""
        self._tail_length = 0
        self._length = 0
        if text:
            self.add(text)

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        if not self._chunks:
            return self._joined_tail()
        return "".join([*map(_decoded, self._read_chunks()), self._joined_tail()])

    def utf8(self) -> Iterator[bytes]:
        yield from self._read_chunks()
        if self._tail:
            yield _encoded(self._joined_tail())

    def part(self, start: int, end: int | None = None) -> str:
        end = self._length if end is None else min(end, self._length)
        packed = self._length - self._tail_length
        parts = []
        first, last = start // _CHUNK, min(-(-end // _CHUNK), len(self._chunks) // 2)
        for index, chunk in enumerate(self._read_chunks(first, last), first):
            begin = index * _CHUNK
            parts.append(_decoded(chunk)[max(start - begin, 0) : end - begin])
        if end > packed:
            parts.append(self._joined_tail()[max(start - packed, 0) : end - packed])
        return "".join(parts)

    def add(self, text: str) -> None:
        assert isinstance(self._tail, list)
        self._tail.append(text)
        self._length += len(text)
        self._tail_length += len(text)
        if self._tail_length >= 2 * _CHUNK:
            self._pack(self._tail_length // _CHUNK * _CHUNK)

    def complete(self) -> None:
        """Store the text in its final form. `add` must not be called afterwards."""
        if 0 < self._length <= _MOST_WHOLE:
            self._tail = self._joined_tail()
            return
        if self._tail_length and self._length <= _CHUNK:  # as most texts: a chunk of its own
            chunk = _encoded(self._joined_tail())
            self._chunks, self._tail_length = array("Q", (self.spill.add(chunk), len(chunk))), 0
        elif self._tail_length:
            self._pack(self._tail_length)
        self._tail = ""

    def packed(self) -> tuple[int, bytes, str]:
        """Return everything about a complete text, in values that can be serialised, for `unpacked`."""
        return self._length, self._chunks.tobytes(), self._joined_tail()

    @classmethod
    def unpacked(cls, spill: Spill, length: int, chunks: bytes, tail: str) -> GrowingText:
        text = cls(spill)
        text._chunks = array("Q", chunks)
        text._tail, text._tail_length, text._length = tail, len(tail), length
        return text

    def _joined_tail(self) -> str:
        """Return the text after the last chunk; its pieces are joined only once."""
        if isinstance(self._tail, list):
            self._tail[:] = ["".join(self._tail)]
            return self._tail[0]
        return self._tail

    def _read_chunks(self, first: int = 0, last: int | None = None) -> Iterator[bytes]:
        chunks = self._chunks
        for index in range(2 * first, len(chunks) if last is None else 2 * last, 2):
            yield self.spill.get(chunks[index], chunks[index + 1])

    def _pack(self, length: int) -> None:
        text = self._joined_tail()
        packed = [*self._chunks]
        for start in range(0, length, _CHUNK):
            chunk = _encoded(text[start : min(start + _CHUNK, length)])
            packed += (self.spill.add(chunk), len(chunk))
        self._chunks = array("Q", packed)  # made from a list, an array allocates no spare items
        self._tail = [text[length:]]
        self._tail_length -= length


class TextPrefix:
    """The beginning of a text that is stored elsewhere. It has the methods of `GrowingText`."""

    __slots__ = ("_length", "_whole")

    def __init__(self, whole: Content, length: int) -> None:
        self._whole = whole
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return self._whole.part(0, self._length)

    def utf8(self) -> Iterator[bytes]:
        for start in range(0, self._length, _CHUNK):
            yield _encoded(self.part(start, start + _CHUNK))

    def part(self, start: int, end: int | None = None) -> str:
        return self._whole.part(start, self._length if end is None else min(end, self._length))

    def add(self, text: str) -> None:
        """Append text, which the whole text contains at this place."""
        self._length += len(text)

    def complete(self) -> None:
        """Do nothing: the whole text is stored elsewhere."""


Content = GrowingText | TextPrefix
_NO_CHUNKS = array("Q")


def is_joined(whole: Content, pieces: Iterable[Content]) -> bool:
    """Return whether a text equals the pieces, with at most one chunk of each in memory at a time."""
    rest, left = whole.utf8(), b""
    for data in (data for piece in pieces for data in piece.utf8()):
        while len(left) < len(data):
            more = next(rest, None)
            if more is None:
                return False
            left += more
        if not left.startswith(data):
            return False
        left = left[len(data) :]
    return not left and next(rest, None) is None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(chunk: bytes) -> str:
    return chunk.decode("utf-8", "surrogatepass")


PAGE = 1024
"""The number of numbers that are written to the file and read from it at once."""
_MOST_PAGES = 8
"""The number of pages that stay in memory after they were read: at most 64 KiB in all."""


class Numbers:
    """A list of non-negative numbers. In memory are the newest 1,024 to 2,047, and eight pages of others.
    `code` is the type code of an `array`, which sets the largest number."""

    def __init__(self, code: str, spill: Spill) -> None:
        self._code = code
        self._spill = spill
        self.newest = array(code)
        """The numbers after the pages. Code that appends to it directly must call `store` now and then."""
        self._start = 0
        self._places = array("Q")
        self._pages: dict[int, array[int]] = {}
        self._changed: set[int] = set()
        self._shared = 0
        """The number of pages whose bytes in the spill another list may read too."""
        self._own: set[int] = set()
        """The pages that were written to another place since."""

    def __len__(self) -> int:
        return self._start + len(self.newest)

    def __getitem__(self, index: int) -> int:
        """Return a number; the index must not be negative."""
        if index >= self._start:
            return self.newest[index - self._start]
        return self._page(index // PAGE)[index % PAGE]

    def __setitem__(self, index: int, number: int) -> None:
        if index >= self._start:
            self.newest[index - self._start] = number
        else:
            self._page(index // PAGE)[index % PAGE] = number
            self._changed.add(index // PAGE)

    def part(self, start: int, end: int) -> array[int]:
        found = array(self._code)
        while start < min(end, self._start):
            first = start - start % PAGE
            found += self._page(start // PAGE)[start - first : end - first]
            start = first + PAGE
        if start < end:
            found += self.newest[start - self._start : end - self._start]
        return found

    def append(self, number: int) -> None:
        newest = self.newest
        newest.append(number)
        if len(newest) >= 2 * PAGE:
            self.store()

    def store(self) -> None:
        """Write the older of the newest numbers to the spill, if they are at least two pages."""
        while len(self.newest) >= 2 * PAGE:
            self._places.append(self._spill.add(self.newest[:PAGE].tobytes()))
            self._start += PAGE
            del self.newest[:PAGE]

    def pop(self) -> int:
        if not self.newest:
            page = len(self._places) - 1
            self.newest.extend(self._page(page))
            del self._pages[page], self._places[page]
            self._changed.discard(page)
            self._start -= PAGE
        return self.newest.pop()

    def prefix(self, length: int) -> Numbers:
        """Return a list of the first `length` numbers. Either list may change without changing the other. The
        lists share the pages in the spill, so that 500,000 numbers cost 4 KiB."""
        prefix, pages = Numbers(self._code, self._spill), min(length // PAGE, len(self._places))
        self._share()
        prefix._places, prefix._start, prefix._shared = self._places[:pages], pages * PAGE, pages
        if pages < len(self._places):
            prefix.newest = self._page(pages)[: length - prefix._start]
        else:
            prefix.newest = self.newest[: length - prefix._start]
        return prefix

    def __getstate__(self) -> tuple[str, Spill, bytes, bytes]:
        """Return the list for pickling: its pages stay in the spill, and are not written there again."""
        self._share()
        return self._code, self._spill, self._places.tobytes(), self.newest.tobytes()

    def __setstate__(self, state: tuple[str, Spill, bytes, bytes]) -> None:
        code, spill, places, newest = state
        Numbers.__init__(self, code, spill)
        self._places.frombytes(places)
        self._shared = len(self._places)
        self._start = PAGE * self._shared
        self.newest.frombytes(newest)

    def _share(self) -> None:
        """Write every changed page, and leave its bytes in the spill as they are from now on."""
        for page in list(self._changed):
            self._write(page, self._pages[page])
        self._shared = len(self._places)
        self._own.clear()

    def _page(self, page: int) -> array[int]:
        numbers = self._pages.get(page)
        if numbers is None:
            if len(self._pages) == _MOST_PAGES:
                self._release(next(iter(self._pages)))
            numbers = array(self._code)
            numbers.frombytes(self._spill.get(self._places[page], PAGE * numbers.itemsize))
            self._pages[page] = numbers
        return numbers

    def _release(self, page: int) -> None:
        numbers = self._pages.pop(page)
        if page in self._changed:
            self._write(page, numbers)

    def _write(self, page: int, numbers: array[int]) -> None:
        """Write a page: in its place, unless another list reads it there."""
        self._changed.remove(page)
        if page < self._shared and page not in self._own:
            self._places[page] = self._spill.add(numbers.tobytes())
            self._own.add(page)
        else:
            self._places[page] = self._spill.replace(self._places[page], numbers.tobytes())
