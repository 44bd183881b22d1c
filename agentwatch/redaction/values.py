"""The secrets that were found, which are masked wherever they occur, also without a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from agentwatch.redaction.texts.levels import Hit
from agentwatch.redaction.texts.unit import Unit

_MOST = 10_000
_MOST_CHARACTERS = 1 << 20
"""The characters of all values that are kept."""
_LEAST = 6
_LEAST_INSIDE_A_WORD = 8
_LEAST_WORD = 16
"""A value of letters alone is a word, unless it is this long."""
_LEAST_NUMBER = 12
_FEW = 16
"""So few values are searched one by one."""
_GRAMS: tuple[tuple[int, Literal["Q", "I"]], ...] = ((8, "Q"), (4, "I"))
_BEGINNING = 8
"""The least number of characters of a value whose rest was cut off."""
_MOST_CUT = 1024
"""The most characters that are left of a value that was cut off."""


class Values:
    """The values that are masked everywhere."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._characters = 0
        self._by_gram: dict[int, dict[int, list[str]]] | None = None
        self._by_beginning: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, value: str, kind: str) -> None:
        """Add a secret. A word, a short number and what is too much are not searched."""
        if value in self._kinds or len(self._kinds) >= _MOST or not _is_distinctive(value):
            return
        if self._characters + len(value) > _MOST_CHARACTERS:
            return
        self._characters += len(value)
        self._kinds[value] = kind
        if len(value) > _BEGINNING:
            self._by_beginning.setdefault(value[:_BEGINNING], []).append(value)
        self._by_gram = None

    def find(self, text: str) -> Iterator[Hit]:
        """Yield where the values are in a text."""
        for value in self._candidates(text):
            kind, size = self._kinds[value], len(value)
            at = text.find(value)
            while at >= 0:
                if size >= _LEAST_INSIDE_A_WORD or _is_word(text, at, at + size):
                    yield Hit(at, at + size, kind, value)
                at = text.find(value, at + size)

    def cut_off(self, unit: Unit) -> Iterator[Hit]:
        """Yield where a text ends with the beginning of a value."""
        if not unit.is_cut or not self._by_beginning:
            return
        text = "".join(unit.texts)
        for at in self._beginnings(text):
            for value in self._by_beginning.get(text[at : at + _BEGINNING], ()):
                if value.startswith(text[at:]):
                    yield Hit(at, len(text), self._kinds[value], value)

    def _beginnings(self, text: str) -> Iterable[int]:
        """Return where values may begin that go on after the end of a text."""
        first = max(0, len(text) - _MOST_CUT)
        if len(self._by_beginning) > _FEW:
            return range(first, len(text) - _BEGINNING + 1)
        return [at for each in self._by_beginning if (at := text.rfind(each, first)) >= 0]

    def _candidates(self, text: str) -> Iterable[str]:
        """Return the values that a text may have.

        A value of 15 bytes or more has 8 bytes that begin at a multiple of 8 of the text, and one of 7 bytes
        has 4: the numbers that these bytes are make one set of the text.
        """
        if len(self._kinds) <= _FEW:
            return self._kinds
        if self._by_gram is None:
            self._by_gram = self._grams()
        data = text.encode("utf-8", "surrogatepass")
        found: set[str] = set(self._by_gram[0].get(0, ()))
        for size, code in _GRAMS:
            wanted = self._by_gram[size]
            numbers = memoryview(data[: len(data) // size * size]).cast(code)
            if wanted and not wanted.keys().isdisjoint(numbers):
                for number in wanted.keys() & set(numbers):
                    found.update(wanted[number])
        return found

    def _grams(self) -> dict[int, dict[int, list[str]]]:
        """Return the values by each number that their first bytes can be in a text."""
        found: dict[int, dict[int, list[str]]] = {0: {0: []}, 4: {}, 8: {}}
        for value in self._kinds:
            data = value.encode("utf-8", "surrogatepass")
            for size, code in _GRAMS:
                if len(data) >= 2 * size - 1:
                    for at in range(size):
                        number = memoryview(data[at : at + size]).cast(code)[0]
                        found[size].setdefault(number, []).append(value)
                    break
            else:
                found[0][0].append(value)
        return found


def _is_distinctive(value: str) -> bool:
    """Return whether a value is masked without its label: it is no word and no short number."""
    if len(value) < _LEAST:
        return False
    if value.isdigit():
        return len(value) >= _LEAST_NUMBER
    if value.replace("_", "").replace("-", "").isalpha():
        is_mixed = not (value.islower() or value.isupper() or value.istitle())
        return len(value) >= (_LEAST_NUMBER if is_mixed else _LEAST_WORD)
    return True


def _is_word(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit is beside a part of a text."""
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())
