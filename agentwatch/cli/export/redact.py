"""The command `redact`: writes a recording without its secrets and personal data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.cli.address import opened
from agentwatch.cli.export.output import STDOUT, write_file
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.messages import say
from agentwatch.faults import USAGE, Fault, cannot_create
from agentwatch.plurals import plural
from agentwatch.recording import SessionFiles
from agentwatch.redaction.recording import Redacted, redacted

_BROKEN_PIPE = 141
_PIECE_BYTES = 1 << 20
_LINES_AT_ONCE = 1 << 12


def run_redact(path: Path, output: Path) -> int:
    """Write the redacted recording and its times, report on stderr what was masked, and return the exit code.

    Args:
        path: The recording, or a session in a store; `-` for stdin.
        output: The file that is written; `-` for stdout. Its arrival times are written beside it.

    Raises:
        Fault: The recording cannot be opened, or the file cannot be written.
    """
    if output != STDOUT and output.exists() and path.exists() and output.samefile(path):
        raise Fault(f"{output}: the redacted recording needs another name than the recording", USAGE)
    reader = opened(path)
    progress = ShownProgress()
    try:
        copy = redacted(reader, progress.step("redacting"))
    except OSError as error:
        raise cannot_create(Path(tempfile.gettempdir()), error) from None
    finally:
        progress.clear()
    try:
        size = write_file(output, _pieces(copy), replaces=True)
    except BrokenPipeError:
        return _BROKEN_PIPE
    words = str(copy.report.words())
    if output != STDOUT:
        _write_times(output, copy)
        words = f"wrote {output} ({byte_size(size)}, {plural(len(copy.after), 'line')}); {words}"
    say(words)
    return 0


def _pieces(copy: Redacted) -> Iterator[bytes]:
    """Yield the bytes of the redacted recording."""
    offset = 0
    while data := os.pread(copy.reader.fd, _PIECE_BYTES, offset):
        yield data
        offset += len(data)


def _write_times(output: Path, copy: Redacted) -> None:
    """Write the arrival times beside a regular file; those of a file that it replaces are removed."""
    if not output.is_file():
        return
    times = SessionFiles(output.resolve()).times
    if copy.reader.times.at(max(copy.reader.growth.size() - 1, 0)) is not None:
        write_file(times, _times(copy), replaces=True)
    else:
        with suppress(FileNotFoundError):
            times.unlink()


def _times(copy: Redacted) -> Iterator[bytes]:
    """Yield the lines of the file of arrival times: one for each line that arrived at another time."""
    seen_ms, start, lines = None, 0, []
    for end in copy.after:
        at_ms = copy.reader.times.at(start)
        if at_ms is not None and at_ms != seen_ms:
            seen_ms = at_ms
            lines.append(b"%d %d\n" % (start, at_ms))
        if len(lines) == _LINES_AT_ONCE:
            yield b"".join(lines)
            lines = []
        start = end
    yield b"".join(lines)
