"""The list of saved sessions, with one line for each: start time, outcome, size and prompt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.events import Event, Outcome, Prompt, RunEnded, RunStarted
from agentwatch.recording import first_lines, last_lines, saved_recordings
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.wire import Decoder

_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 1 << 18
PROMPT_COLUMNS = 80


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What the head and the tail of a recording show about its session."""

    path: Path
    began: datetime
    """The time at which recording started, by this machine's clock, in local time."""
    size: int
    """The size of the recording in bytes."""
    outcome: Outcome
    """The outcome in the last line; `UNFINISHED` if that is not a result."""
    prompt: str
    """The first prompt; empty if the head contains none."""
    model: str
    """The model of the first run; empty if unknown."""

    def line(self) -> SafeText:
        """Return the session as one line with aligned columns."""
        prompt = cut(safe_line(self.prompt), PROMPT_COLUMNS)
        return SafeText(
            f"{self.began:%Y-%m-%d %H:%M:%S}  {self.outcome:<10}  {byte_size(self.size):>8}  {prompt}"
        )


def saved_sessions() -> list[SavedSession]:
    """Return the saved sessions, newest first."""
    return [found for path in saved_recordings() if (found := _saved_session(path)) is not None]


def _saved_session(path: Path) -> SavedSession | None:
    try:
        with path.open("rb") as file:
            fd = file.fileno()
            stat, head, tail = os.fstat(fd), first_lines(fd, _HEAD_BYTES), last_lines(fd, _TAIL_BYTES)
    except OSError:
        return None
    decoder = Decoder()
    model = prompt = ""
    for event in _decoded(decoder, head):
        if isinstance(event, RunStarted) and not model:
            model = event.model or ""
        elif isinstance(event, Prompt) and not prompt:
            prompt = event.text
    outcome = Outcome.UNFINISHED
    last = next((line for line in reversed(tail) if line.strip()), b"")
    for event in decoder.decode(last):
        if isinstance(event, RunEnded):
            outcome = event.outcome
    return SavedSession(path, _began(path, stat), stat.st_size, outcome, prompt, model)


def _decoded(decoder: Decoder, lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of lines, in order; lines before the agent is known get the events of its format."""
    for line in lines:
        events = decoder.decode(line)
        for redecoded in decoder.take_redecoded():
            yield from redecoded
        yield from events


def _began(path: Path, stat: os.stat_result) -> datetime:
    try:
        return datetime.strptime(path.stem[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return datetime.fromtimestamp(stat.st_mtime)
