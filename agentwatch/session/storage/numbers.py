"""A list of numbers for items that are many: the newest in memory, the older ones in an unlinked file."""

from __future__ import annotations

from array import array

from agentwatch.session.storage.spill import Spill

PAGE = 1024
"""The number of numbers that are written to the file and read from it at once."""
_MOST_PAGES = 8
"""The number of pages that stay in memory after they were read: at most 64 KiB in all."""


class Numbers:
    """A list of non-negative numbers. In memory are the newest 1,024 to 2,047, and eight pages of others."""

    def __init__(self, code: str, spill: Spill) -> None:
        """Create an empty list.

        Args:
            code: The type code of an `array`, which sets the largest number.
            spill: Where the pages are stored.
        """
        self._code = code
        self._spill = spill
        self.newest = array(code)
        """The numbers after the pages. Code that appends to it directly must call `store` now and then."""
        self._start = 0
        """The number of numbers in the spill."""
        self._places = array("Q")
        """The place of each page in the spill."""
        self._pages: dict[int, array[int]] = {}
        """The pages in memory, in the order in which they were read."""
        self._changed: set[int] = set()
        """The pages in memory that differ from the spill."""
        self._shared = 0
        """The number of pages whose bytes in the spill another list may read too."""
        self._own: set[int] = set()
        """Of those, the pages that were written to another place since."""

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
        """Return the numbers from `start` up to `end`."""
        found = array(self._code)
        while start < min(end, self._start):
            first = start - start % PAGE
            found += self._page(start // PAGE)[start - first : end - first]
            start = first + PAGE
        if start < end:
            found += self.newest[start - self._start : end - self._start]
        return found

    def append(self, number: int) -> None:
        """Append a number."""
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
        """Remove and return the last number."""
        if not self.newest:
            page = len(self._places) - 1
            self.newest.extend(self._page(page))
            del self._pages[page], self._places[page]
            self._changed.discard(page)
            self._start -= PAGE
        return self.newest.pop()

    def prefix(self, length: int) -> Numbers:
        """Return a list of the first `length` numbers. Either list may change without changing the other.

        The lists share the pages in the spill, so that 500,000 numbers cost 4 KiB.
        """
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
        """Restore the list that was pickled."""
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
        """Remove a page from memory, after writing it if it has changed."""
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
