"""The list of saved sessions, with one line for each: start time, state, size and prompt.

Of each recording, only the head and the last lines are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.events import (
    Event,
    FormatDetected,
    Malformed,
    Outcome,
    Oversize,
    Prompt,
    RunInfo,
    RunStarted,
    TurnEnded,
    Unknown,
)
from agentwatch.recording import (
    SessionFiles,
    first_lines,
    is_being_written,
    lines_from_end,
    open_regular,
    read_process,
    saved_recordings,
)
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.wire import Decoder

_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 64 << 20
"""How far from the end the result is searched: it is one line, and repeats the whole text of its run."""
_TAIL_LINES = 20
"""How many lines that are not the agent's may follow the result, such as an error message."""
_WHOLE_BYTES = 1 << 20
"""Of a longer result only the two ends are decoded, 64 KiB each: parsing takes 1 ms per MiB."""
PROMPT_COLUMNS = 80
_NOT_OF_AN_AGENT = (Malformed, Unknown, Oversize)


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What the head and the tail of a recording show about its session."""

    path: Path
    began: datetime
    """The time at which recording started, by this machine's clock, in local time."""
    size: int
    """The size of the recording in bytes."""
    outcome: Outcome | None
    """`RUNNING` while the recording is being written; otherwise the outcome of its last run. None if no known
    agent wrote it."""
    exit_code: int | None
    """The exit code of an agent that `run` has started; None if unknown."""
    prompt: str
    """The first prompt; empty if the head contains none."""
    model: str
    """The model of the first run; empty if unknown."""
    session_id: str = ""
    """The id that the agent gave the first run; empty if the head does not contain it."""

    def line(self) -> SafeText:
        """Return the session as one line with aligned columns."""
        prompt = cut(safe_line(self.prompt), PROMPT_COLUMNS)
        state = "unknown" if self.outcome is None else self.outcome.value
        exit_code = f"exit {self.exit_code}" if self.exit_code else ""
        words = " · ".join(filter(None, (exit_code, prompt)))
        line = f"{self.began:%Y-%m-%d %H:%M:%S}  {state:<10}  {byte_size(self.size):>8}  {words}"
        return SafeText(line.rstrip())


def saved_sessions() -> Iterator[SavedSession]:
    """Return an iterator over the saved sessions, newest first, which reads each session when it is due.

    Raises:
        OSError: The folder of sessions cannot be read, or is a link.
    """
    read = map(_saved_session, saved_recordings())
    return (session for session in read if session is not None)


def _saved_session(path: Path) -> SavedSession | None:
    """Return what a recording shows about its session; None if it cannot be read, or is no regular file."""
    try:
        fd = open_regular(path)
    except OSError:
        return None
    try:
        return _session(path, fd)
    except OSError:
        return None
    finally:
        os.close(fd)


def _session(path: Path, fd: int) -> SavedSession:
    status, decoder = os.fstat(fd), Decoder()
    model = prompt = session_id = ""
    is_known = False
    for event in _decoded(decoder, first_lines(fd, _HEAD_BYTES)):
        if isinstance(event, FormatDetected):
            is_known = True
        elif isinstance(event, RunStarted | RunInfo):
            model, session_id = model or event.model or "", session_id or event.session_id or ""
        elif isinstance(event, Prompt):
            prompt = event.text
            break
    outcome = _last_outcome(fd, decoder)
    if outcome is None and (is_known or not status.st_size):
        outcome = Outcome.UNFINISHED
    process = read_process(SessionFiles(path).process)
    if is_being_written(fd, process):
        outcome = Outcome.RUNNING
    exit_code = None if process is None else process.exit_code
    began, size = _began(path, status), status.st_size
    return SavedSession(path, began, size, outcome, exit_code, prompt, model, session_id)


def _last_outcome(fd: int, decoder: Decoder) -> Outcome | None:
    """Return the outcome of the last run; None if the last lines are not those of a known agent."""
    for offset, length in islice(lines_from_end(fd, _TAIL_BYTES), _TAIL_LINES):
        events = _events_at(fd, offset, length, decoder)
        ended = next((event for event in events if isinstance(event, TurnEnded)), None)
        if ended is not None:
            return ended.outcome
        if not events or not all(isinstance(event, _NOT_OF_AN_AGENT) for event in events):
            return Outcome.UNFINISHED
    return None


def _events_at(fd: int, offset: int, length: int, decoder: Decoder) -> list[Event]:
    if length <= _WHOLE_BYTES:
        return decoder.decode(os.pread(fd, length, offset))
    head, tail = os.pread(fd, _HEAD_BYTES, offset), os.pread(fd, _HEAD_BYTES, offset + length - _HEAD_BYTES)
    return decoder.decode_oversize(head, tail, length)


def _decoded(decoder: Decoder, lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of lines, in order; lines before the agent is known get the events of its format."""
    for line in lines:
        events = decoder.decode(line)
        for redecoded in decoder.take_redecoded():
            yield from redecoded
        yield from events


def _began(path: Path, status: os.stat_result) -> datetime:
    try:
        return datetime.strptime(path.stem[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return datetime.fromtimestamp(status.st_mtime)
