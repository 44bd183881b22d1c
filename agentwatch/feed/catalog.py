"""The saved sessions, each told in a line: when, how it ended, what was asked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.events import Outcome, Prompt, RunEnded, RunStarted
from agentwatch.recording import first_lines, last_lines, saved_recordings
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.wire import Decoder

_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 1 << 18
PROMPT_COLUMNS = 80


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What a look at a recording's head and tail tells."""

    path: Path
    began: datetime
    """When the recording was made, by our clock, in local time."""
    size: int
    outcome: Outcome
    """`UNFINISHED` when its last line is no result."""
    prompt: str
    model: str

    def line(self) -> SafeText:
        """Return the session in a line: its parts stand in columns."""
        prompt = cut(safe_line(self.prompt), PROMPT_COLUMNS)
        return SafeText(
            f"{self.began:%Y-%m-%d %H:%M:%S}  {self.outcome:<10}  {byte_size(self.size):>8}  {prompt}"
        )


def saved_sessions() -> list[SavedSession]:
    """Return the saved sessions, newest first."""
    return [found for path in saved_recordings() if (found := _look(path)) is not None]


def _look(path: Path) -> SavedSession | None:
    try:
        with path.open("rb") as file:
            fd = file.fileno()
            stat, head, tail = os.fstat(fd), first_lines(fd, _HEAD_BYTES), last_lines(fd, _TAIL_BYTES)
    except OSError:
        return None
    decoder = Decoder()
    model = prompt = ""
    for line in head:
        for event in decoder.decode(line) or ():
            if isinstance(event, RunStarted) and not model:
                model = event.model or ""
            elif isinstance(event, Prompt) and not prompt:
                prompt = event.text
    outcome = Outcome.UNFINISHED
    last = next((line for line in reversed(tail) if line.strip()), b"")
    for event in decoder.decode(last) or ():
        if isinstance(event, RunEnded):
            outcome = event.outcome
    return SavedSession(path, _began(path, stat), stat.st_size, outcome, prompt, model)


def _began(path: Path, stat: os.stat_result) -> datetime:
    try:
        return datetime.strptime(path.stem[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return datetime.fromtimestamp(stat.st_mtime)
