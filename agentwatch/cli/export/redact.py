"""The command `redact`: writes a recording without its secrets and personal data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.cli.address import opened
from agentwatch.cli.export.output import STDOUT, write_file
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.export.written_times import write_times
from agentwatch.cli.messages import say
from agentwatch.faults import USAGE, Fault, cannot_create
from agentwatch.plurals import plural
from agentwatch.redaction.recording import Redacted, redacted

_BROKEN_PIPE = 141
_PIECE_BYTES = 1 << 20


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
        write_times(output, _times(copy))
        words = f"wrote {output} ({byte_size(size)}, {plural(len(copy.after), 'line')}); {words}"
    say(words)
    return 0


def _pieces(copy: Redacted) -> Iterator[bytes]:
    """Yield the bytes of the redacted recording."""
    offset = 0
    while data := os.pread(copy.reader.fd, _PIECE_BYTES, offset):
        yield data
        offset += len(data)


def _times(copy: Redacted) -> Iterator[tuple[int, int]]:
    """Yield the offset and the time of each line that arrived at another time than the line before it."""
    seen_ms, start = None, 0
    for end in copy.after:
        at_ms = copy.reader.times.at(start)
        if at_ms is not None and at_ms != seen_ms:
            seen_ms = at_ms
            yield start, at_ms
        start = end
