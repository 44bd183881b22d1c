"""The command `redact`: writes a recording without its secrets and personal data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agentwatch.base.faults import cannot_create
from agentwatch.cli.address import opened, whole
from agentwatch.cli.messages import say
from agentwatch.cli.output import check_output, descriptor, write_file, write_times
from agentwatch.cli.progress import ShownProgress
from agentwatch.output.redact.recording import Redacted, redacted
from agentwatch.text.amounts import byte_size, plural

_PIECE_BYTES = 1 << 20


def run_redact(words: str, output: Path, *, is_forced: bool) -> int:
    """Write the redacted recording and its times, report on stderr what was masked, and return the exit code.
    `output` is `-` for stdout; the arrival times are written beside a file. Raise `Fault` if the recording
    cannot be opened, or the file cannot be written."""
    check_output(output, [words], is_forced=is_forced, has_times=True)
    path = whole(words, "redact")
    check_output(output, [str(path)], is_forced=is_forced, has_times=True)
    reader = opened(path)
    progress = ShownProgress()
    try:
        copy = redacted(reader, progress.step("redacting"))
    except OSError as error:
        raise cannot_create(Path(tempfile.gettempdir()), error) from None
    finally:
        progress.clear()
    size = write_file(output, _pieces(copy), replaces=is_forced)
    words = str(copy.report.words())
    if descriptor(output) is None:
        write_times(output, _times(copy), replaces=is_forced)
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
