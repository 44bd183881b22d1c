"""The recorder: writes both directions of an editor's session to files, in a process of its own.

It reads frames from stdin: a line `DIRECTION OFFSET EPOCH_MS LENGTH`, then that number of bytes. The offset
is that in the stream of the direction, so that bytes which were not handed over are noticed. The last frame
is `x CODE EPOCH_MS 0`: the agent has exited. Without it the program that copies was killed.

`STEM.ndjson` has what the agent wrote, `STEM.sent` what it was sent. `STEM.times` has the arrival times of
both; in those of `STEM.sent` each line begins with `sent`. The recorder writes the path of the recording to
stdout when it begins, and a NUL when it ends by itself; if it is killed between them, another one continues
there.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from agentwatch.recording.appender import Appender, TimesFile
from agentwatch.recording.relay import ignore_signals, take_name
from agentwatch.recording.saved_sessions import describe_process, working_folder
from agentwatch.recording.store import SessionFiles, create_file, new_session_files
from agentwatch.recording.write_lock import hold
from agentwatch.text.safe import safe_line

WROTE = b"w"
SENT = b"s"
EXITED = b"x"
_ENDED = b"\0"
_PIECE_BYTES = 1 << 18
_MOST_HEADER = 100


class _SentTimes:
    """The arrival times of what the agent was sent, in the file of both directions."""

    def __init__(self, times: TimesFile) -> None:
        self._times = times

    def note(self, offset: int, epoch_ms: int) -> None:
        self._times.write(b"sent %d %d\n" % (offset, epoch_ms))

    def note_gap(self, offset: int, missing: int) -> None:
        self._times.write(b"sent gap %d %d\n" % (offset, missing))


class Recorder:
    """Writes frames to the files of a session. If it `continues`, another recorder has created them and was
    killed. Creating it raises `OSError` if a file cannot be created or opened."""

    def __init__(self, files: SessionFiles, *, continues: bool) -> None:
        opened = _open if continues else create_file
        sent_fd, times_fd, recording_fd = (
            opened(path) for path in (files.sent, files.times, files.recording)
        )
        hold(recording_fd)
        times = TimesFile(times_fd)
        self._at_ms = 0
        self._streams = {
            WROTE: Appender(recording_fd, times, lambda: self._at_ms, continues=continues),
            SENT: Appender(sent_fd, _SentTimes(times), lambda: self._at_ms, continues=continues),
        }
        self._noted = {stream: stream.size for stream in self._streams.values()}
        """The offset after the last byte of a stream that was written or is known to be missing."""
        if continues:
            for direction, words in ((WROTE, b"gap "), (SENT, b"sent gap ")):
                stream = self._streams[direction]
                stream.skip(0)
                self._noted[stream] += _missing(times_fd, words)

    def run(self, frames: IO[bytes]) -> tuple[int, int] | None:
        """Return when the agent exited, and its exit code; None if its end is not known."""
        ended = None
        while (header := frames.readline(_MOST_HEADER)).endswith(b"\n"):
            direction, *numbers = header.split()
            number, self._at_ms, length = map(int, numbers)
            if direction == EXITED:
                ended = self._at_ms, number
                break
            self._append(self._streams[direction], number, length, frames)
        for stream in self._streams.values():
            stream.note_gap()
        return ended

    def _append(self, stream: Appender, offset: int, left: int, frames: IO[bytes]) -> None:
        missing = offset - self._noted[stream]
        if missing:
            stream.skip(missing)
        self._noted[stream] = offset + left
        while left and (data := frames.read(min(left, _PIECE_BYTES))):
            stream.append(data)
            left -= len(data)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)


def _missing(times_fd: int, words: bytes) -> int:
    with open(os.dup(times_fd), "rb") as lines:
        lines.seek(0)
        found = (line.removeprefix(words).split() for line in lines if line.startswith(words))
        return sum(int(each[1]) for each in found if len(each) == 2 and each[1].isdigit())


def main(arguments: list[str]) -> None:
    """`arguments` are the path of the recording, empty for a new one; when the agent was started, in ms since
    the epoch; its process id; and its command."""
    ignore_signals()
    with suppress(OSError):
        os.setsid()
    try:
        _record(*arguments)
    finally:
        _report(_ENDED)


def _record(given: str, started_ms: str, pid: str, *command: str) -> None:
    try:
        files = SessionFiles(Path(given)) if given else new_session_files()
        recorder = Recorder(files, continues=bool(given))
        process_fd = _open(files.process) if given else create_file(files.process)
    except OSError as error:
        reason = safe_line(f"{error.strerror or error}: {error.filename or given}")
        sys.stderr.write(f"agentwatch: the session is not recorded: {reason}\n")
        return
    describe = partial(describe_process, process_fd, command, working_folder(), int(pid), int(started_ms))
    describe()
    _report(os.fsencode(files.recording))
    take_name(b"agentwatch-acp")
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)  # the editor may wait for the end of its agent's stderr
    with suppress(OSError):
        os.chdir("/")
    ended = recorder.run(open(0, "rb", buffering=1 << 16, closefd=False))  # noqa: SIM115
    if ended is not None:
        describe(*ended)


def _report(data: bytes) -> None:
    with suppress(OSError):  # the program that copies, and its child, were killed
        os.write(1, data)
