"""Writes a session as a Markdown document, of a limited size if that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.exports.markdown.bodies import OF_TEXTS, Bounds
from agentwatch.exports.markdown.entries import answer, entry_lines, prompt
from agentwatch.exports.markdown.head import head, not_fine
from agentwatch.faults import USAGE, Fault
from agentwatch.outputs.final import final_answer, final_entries
from agentwatch.session import Entry, Kind
from agentwatch.text.amounts import plural

_SHORTER = (Bounds(120, 40, 2000), Bounds(30, 10, 1000), Bounds(8, 4, 400), Bounds(2, 0, 200))
"""The bounds of the prompt and of the final answer; the first with which they take a quarter of the size."""
_SHARE = 4


class _Budget:
    """The bytes that the document may still take."""

    def __init__(self, most: int | None, reserved: int) -> None:
        """Create a budget of at most `most` bytes, of which the closing note takes `reserved`."""
        self.most = most
        self.reserved = reserved
        self._left = None if most is None else most - reserved

    def takes(self, data: bytes) -> bool:
        """Return whether bytes fit, and subtract them if they do."""
        if self._left is None:
            return True
        if len(data) > self._left:
            return False
        self._left -= len(data)
        return True


class _LeftOut:
    """How much the size did not allow."""

    def __init__(self) -> None:
        self.calls = self.texts = 0

    def add(self, entry: Entry) -> None:
        """Count an entry."""
        if entry.kind is Kind.CALL:
            self.calls += 1
        else:
            self.texts += 1

    def note(self, most: int) -> bytes:
        """Return the closing note."""
        words = f"{plural(self.calls, 'call')} and {plural(self.texts, 'text')} are left out"
        return _encoded([f"*This document is limited to {most:,} bytes: {words}.*"])


def written(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the document: the head, the prompt, the final answer, the failures, and the transcript.

    With `max_bytes` it ends before the first entry of the transcript that does not fit, and says how many
    calls and texts are left out.

    Raises:
        Fault: Not even the head fits.
    """
    most, left_out = choices.max_bytes, _LeftOut()
    budget = _Budget(most, _longest_note(exported, most))
    first = _encoded(head(exported))
    if not budget.takes(first):
        raise Fault(f"--max-bytes: the head alone takes {len(first) + budget.reserved} bytes", USAGE)
    yield first
    shown = set[int]()
    yield from _front(exported, budget, shown, left_out)
    is_full = False
    offsets = exported.session.transcript.offsets
    for entry in exported.entries():
        if entry.number in shown:
            continue
        if not is_full:
            data = _encoded(entry_lines(exported.feed, entry))
            is_full = not budget.takes(data)
            if not is_full:
                yield data
        if is_full:
            left_out.add(entry)
        if choices.progress is not None:
            choices.progress(offsets[entry.number], exported.feed.offset)
    if most is not None and (left_out.calls or left_out.texts):
        yield left_out.note(most)


def _front(exported: Exported, budget: _Budget, shown: set[int], left_out: _LeftOut) -> Iterator[bytes]:
    """Yield what a reader wants first: the prompt, the final answer and the calls that did not succeed.

    Args:
        exported: What is exported.
        budget: The bytes that are left.
        shown: Receives the numbers of the entries that are not repeated in the transcript.
        left_out: Counts the texts that do not fit.
    """
    if exported.matches is None:
        first = next((entry for entry in exported.entries() if entry.kind is Kind.PROMPT), None)
        final = final_answer(exported.session)
        entries = [entry for entry in final_entries(exported.session) if exported.holds(entry)]
        texts = [(prompt, [first], first.text)] if first is not None else []
        if entries or (final and exported.session.run.is_bare):
            texts.append((answer, entries, final))
        for lines, those, text in texts:
            shown.update(entry.number for entry in those)
            data = _fitting(lines, text, budget)
            if data:
                yield data
            else:
                left_out.texts += 1
    data = _encoded(not_fine(exported))
    if data and budget.takes(data):
        yield data


def _fitting(lines: Callable[[str, Bounds], Iterator[str]], text: str, budget: _Budget) -> bytes:
    """Return the lines of a text, cut until they take a quarter of the document; nothing if none fit."""
    for bounds in (OF_TEXTS, *_SHORTER):
        data = _encoded(lines(text, bounds))
        if (budget.most is None or len(data) <= budget.most // _SHARE) and budget.takes(data):
            return data
    return b""


def _longest_note(exported: Exported, most: int | None) -> int:
    """Return the most bytes that the closing note may take."""
    longest = _LeftOut()
    longest.calls, longest.texts = len(exported.session.calls), len(exported.session.transcript) + 2
    return 0 if most is None else len(longest.note(most))


def _encoded(lines: Iterable[str]) -> bytes:
    """Return the lines of a paragraph or of several, and a blank line; nothing if there are none."""
    text = "\n".join(lines)
    return f"{text}\n\n".encode() if text else b""
