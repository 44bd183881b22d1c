"""The search of many texts, and of the JSON that they contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.output.redact.texts import Hit, Search, Unit, hits_in


def unit_of(text: str) -> Unit:
    """Return a text that is searched."""
    unit = Unit()
    unit.add(0, text.encode())
    return unit


class Searched:
    """Finds `key`, and keeps the texts that were searched and what was found."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.found: list[list[int]] = []

    def find(self, text: str) -> Iterator[Hit]:
        """Yield each `key` of a text."""
        self.texts.append(text)
        at = text.find("key")
        while at >= 0:
            yield Hit(at, at + 3, "key", "key")
            at = text.find("key", at + 3)

    def take(self, unit: Unit, hits: Sequence[Hit]) -> None:
        """Keep where a text has hits."""
        self.found.append([hit.start for hit in hits])


def test_a_text_without_a_hit_is_searched_once() -> None:
    """A text that occurs again is not searched again, and has no hits."""
    searched = Searched()
    search = Search(searched.find, searched.take)
    for _ in range(3):
        search.add(unit_of("nothing"))
        search.finish()
    assert searched.texts == ["nothing"]
    assert searched.found == [[], [], []]


def test_a_text_with_a_hit_has_it_each_time() -> None:
    """What was found in a text is found wherever the text occurs, also beside texts without a hit."""
    searched = Searched()
    search = Search(searched.find, searched.take)
    for _ in range(2):
        search.add(unit_of("nothing"))
        search.add(unit_of("a key"))
        search.finish()
    assert sorted(searched.found) == [[], [], [2], [2]]


def test_a_backslash_that_is_no_escape_needs_no_second_search() -> None:
    r"""A path such as `C:\src` is the same without escapes."""
    searched = Searched()
    hits_in("C:\\src\\key", searched.find)
    assert searched.texts == ["C:\\src\\key"]


def test_a_line_with_an_escape_is_searched_without_it() -> None:
    """The other lines of the text are not searched again."""
    searched = Searched()
    hits = hits_in("C:\\src\na\\nkey", searched.find)
    assert searched.texts == ["C:\\src\na\\nkey", "a\nkey"]
    assert {hit.start for hit in hits} == {10}
