"""The transcript of a session at an earlier line."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.session.earlier.calls import EarlierCalls
from agentwatch.session.entry import Entry, Kind
from agentwatch.session.storage.growing_text import Content, TextPrefix
from agentwatch.session.transcript import Transcript
from agentwatch.session.turns import TurnResult


class TranscriptState(NamedTuple):
    """What a checkpoint keeps of a transcript."""

    entries: int
    """The number of its entries."""
    last: tuple[Kind, int, bool, int | None, int | None, int | None] | None
    """The last entry if it is a text: kind, characters, `is_open`, start and end in agent time, parent."""
    result: tuple[int, TurnResult, int | None] | None
    """The newest result: the number of its entry, the end of the turn, and when the entry began."""
    is_result_last: bool


def transcript_state(transcript: Transcript) -> TranscriptState:
    """Return what a checkpoint keeps of a transcript."""
    last, result = transcript.last_text, transcript.last_result
    values = None
    if last is not None and last is not result:
        values = (last.kind, len(last.content), last.is_open, last.started_ms, last.ended_ms, last.parent)
    about = None
    if result is not None and result.result is not None:
        about = (result.number, result.result, result.started_ms)
    is_last = result is not None and last is result
    return TranscriptState(len(transcript), values, about, is_last)


class EarlierTranscript(Transcript):
    """The first entries of a transcript. The last of them may be the beginning of a longer text.

    The newest transcript has every entry, so that nothing is stored here.
    """

    def __init__(self, newest: Transcript, calls: EarlierCalls) -> None:
        """Create the view of `newest`, the transcript of the newest session; `calls` are the earlier ones."""
        super().__init__(calls)
        self._newest = newest
        self._count = 0
        self.parents, self.offsets = newest.parents, newest.offsets

    def restore(self, state: TranscriptState) -> None:
        """Show the entries of a checkpoint."""
        self._count = state.entries
        if state.last is not None:
            kind, length, is_open, started_ms, ended_ms, parent = state.last
            number = state.entries - 1
            content = TextPrefix(self._newest[number].content, length)
            entry = Entry(number, kind, content, self._of_calls, None, started_ms, parent)
            entry.is_open, entry.ended_ms = is_open, ended_ms
            self.last_text = self._unpacked[number] = entry
        if state.result is not None:
            number, result, at_ms = state.result
            entry = Entry(number, Kind.RESULT, self._newest[number].content, self._of_calls, result, at_ms)
            self.last_result = self._unpacked[number] = entry
            self.last_text = entry if state.is_result_last else self.last_text

    def __len__(self) -> int:
        return self._count

    def _append(self, _place: int) -> None:
        self._count += 1

    def _stored(self, text: str) -> Content:
        return TextPrefix(self._newest[self._count].content, len(text))

    def _at(self, number: int) -> Entry:
        entry = self._unpacked.get(number)
        if entry is not None:
            return entry
        newest = self._newest[number]
        if newest.kind is not Kind.CALL:
            return newest
        return newest.among(self._of_calls)

    def _end_last(self) -> None:
        """Close the last entry if it is a text; the newest transcript has all of it."""
        last = self.last_text
        if last is None or last.kind is Kind.RESULT:
            return
        if last.is_open:
            last.close()
        self._unpacked.pop(last.number, None)
