"""Reads the digest of a session from a file's head and tail or from a store, and then from new lines."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents import Decoder
from agentwatch.agents.agent import Agent
from agentwatch.agents.opening import MOST_FILE_BYTES, MOST_STORE_BYTES, store_for
from agentwatch.agents.program import CHANGES
from agentwatch.agents.registry import agent_named, agent_on_disk
from agentwatch.agents.session_entry import OWN, Reach, SessionEntry
from agentwatch.analysis.prices import no_uses
from agentwatch.base.faults import reading
from agentwatch.base.json_fields import object_of
from agentwatch.catalog.digest.digest import MOST_LINE, MOST_PATH, Course, Digest, LastTests
from agentwatch.recording.head_tail import (
    HEAD_BYTES,
    bytes_before,
    ends_of_line,
    line_end_after,
    lines_between,
    lines_from_end,
)
from agentwatch.recording.lines import split_lines
from agentwatch.recording.saved import Exchange, open_both
from agentwatch.recording.store import nameless_file, open_own
from agentwatch.session.counts import UsageCounts, Uses
from agentwatch.session.events import (
    Event,
    LineTime,
    Outcome,
    Prompt,
    Text,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict
    from agentwatch.recording.saved import Files


_MOST_COMMANDS = 6
"""The newest commands of one reading whose output may be read: 0.1 ms each. The older ones are left out."""
_MOST_BYTES = 1 << 20
"""Longer lines are not read: that takes 4 ms per MiB."""
_DONE = (Outcome.SUCCEEDED, Outcome.RETURNED)


class _Command(NamedTuple):
    line: bytes
    event: ToolEnded
    words: str
    at: int
    """The number of changes of files before its end."""


class LastTestsReader:
    """The newest command of a reading that ran tests decides what the digest shows."""

    def __init__(self, digest: Digest, decoder: Decoder) -> None:
        self._digest = digest
        self._decoder = decoder
        self._commands: deque[_Command] = deque(maxlen=_MOST_COMMANDS)
        self._changes = 0

    def collect(self, line: bytes, events: Sequence[Event]) -> None:
        """Call it before the events are applied."""
        for event in events:
            if type(event) is not ToolEnded:
                continue
            known = self._digest.open_calls.get(event.call_id[:MOST_LINE])
            kind = known.kind if known is not None and event.kind is ToolKind.OTHER else event.kind
            if kind is ToolKind.EXECUTE and event.outcome is not Outcome.REJECTED:
                from agentwatch.analysis.shell import only_reads, parts_of

                words = event.target or ("" if known is None else known.command or known.target)
                words = words[:MOST_PATH]
                if len(line) <= _MOST_BYTES and words and not only_reads(parts_of(words)):
                    self._commands.append(_Command(line, event, words, self._changes))
            elif kind in CHANGES and event.outcome in _DONE:
                self._changes += 1

    def finish(self) -> None:
        digest = self._digest
        silent: set[int] = set()
        for command in reversed(self._commands):
            found, key = self._verdict(command)
            if found is None:
                silent.add(key)
            elif found.is_of_tests:
                digest.course.tests_key = key
                is_known = key not in silent and (found.is_red or found.is_green)
                counts, is_stale = found.counts, self._changes > command.at
                tests = LastTests(found.is_red, counts.passed, counts.failed + counts.errors, is_stale)
                digest.tests = tests if is_known else None
                return
        if digest.course.tests_key in silent:
            digest.tests = None
        elif self._changes and digest.tests is not None:
            digest.tests = digest.tests._replace(is_stale=True)

    def _verdict(self, command: _Command) -> tuple[Verdict | None, int]:
        """Return the verdict that a command shows, and the hash of the command."""
        from agentwatch.analysis.verdict_history import command_key
        from agentwatch.analysis.verdicts import verdict
        from agentwatch.session.blocks import ContentBlock, OutputBlock

        event = command.event
        blocks = self._decoder.blocks(command.line.rstrip(b"\r\n"), event.call_id)
        printed = [block.text for block in blocks if isinstance(block, OutputBlock | ContentBlock)]
        found = verdict(command.words, printed, event.exit_code)
        has_result = event.outcome in _DONE
        key = hash(command_key(command.words, self._digest.cwd or None))
        return (found if found is not None and (has_result or found.is_red) else None), key


MOST_LINES = 20_000
"""The most lines of one reading: a line takes 10 µs, and 1 MiB of real ones has up to 7,000."""
_BOUNDARIES = (TurnStarted, TurnEnded)


def format_of(found: SessionEntry) -> Agent | None:
    """Return None if the lines are not decoded, or the format is detected from them."""
    return None if found.agent == OWN else agent_on_disk(found.agent)


def digest_of(found: SessionEntry, agent: Agent | None) -> Digest:
    about = found.metadata
    return Digest(
        format="" if agent is None else agent.name,
        agent="" if found.agent == OWN else found.agent,
        session_id="" if found.agent == OWN else found.id,
        title=about.title,
        is_users_title=about.is_users_title,
        first_prompt=about.prompt,
        model=about.model or "",
        cwd=about.cwd or "",
        branch=about.branch,
        seen_ms=about.changed_ms,
        uses=no_uses(),
        course=Course(has_line_times=agent is not None and agent.time_of is not None),
    )


def decoder_for(digest: Digest) -> Decoder:
    """Return a decoder of the digest's format, which detects the format if there is none."""
    return Decoder(agent_named(digest.format) if digest.format else None)


def is_boundary(event: Event) -> bool:
    return isinstance(event, _BOUNDARIES) or (isinstance(event, Prompt) and event.parent_call is None)


def apply_lines(digest: Digest, decoder: Decoder, lines: list[bytes], at_ms: int | None = None) -> bool:
    """Apply lines after those before of the same `decoder`; return whether a turn begins or ends in them.
    Only the last 20,000 are applied. Lines may lack their line ends, and blank ones are skipped."""
    has_boundary = False
    if len(lines) > MOST_LINES:
        digest.skip()
    tests = LastTestsReader(digest, decoder)
    for line in lines[-MOST_LINES:]:
        if not (digest.format or decoder.is_detecting):
            break
        if line.isspace() or not line:
            continue
        for events in decoder.decode_all(line):
            tests.collect(line, events)
            digest.apply(events, at_ms)
            has_boundary = has_boundary or any(map(is_boundary, events))
    tests.finish()
    return has_boundary


_LARGEST_SHARE = 0.02
"""The largest part of the time that is spent on reading one store again."""


class StoredLines:
    def __init__(self) -> None:
        self._read: tuple[int, int, int | None] | None = None
        self.problem: OSError | None = None
        self._due = 0.0
        """The time of the next reading, in seconds of the monotonic clock."""

    def is_behind(self, found: SessionEntry) -> bool:
        """Return whether the session has changed since it was read, and may be read again only later."""
        return self._read != _present(found) and found.size <= MOST_FILE_BYTES

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def read(self, found: SessionEntry) -> tuple[Digest, Decoder | None] | None:
        """Return None if nothing changed or it cannot be read; the decoder is None if lines were left out."""
        if not self.is_behind(found) or not self.is_due:
            return None
        began = time.monotonic()
        read = self.problem = None
        try:
            with reading(found.path):
                read = _read(found)
        except OSError as error:
            self.problem = error
        self._read = _present(found)
        took = time.monotonic() - began
        self._due = began + took / _LARGEST_SHARE
        return read


def _present(found: SessionEntry) -> tuple[int, int, int | None]:
    return found.size, found.changed_ns, found.metadata.changed_ms


def _read(found: SessionEntry) -> tuple[Digest, Decoder | None] | None:
    store = store_for(found.path)
    if store is None:
        return None
    digest = digest_of(found, format_of(found))
    digest.is_whole = True
    decoder = decoder_for(digest)
    size = 0
    with closing(store):
        while lines := store.new_lines():
            apply_lines(digest, decoder, lines)
            size += sum(map(len, lines))
            if size > MOST_STORE_BYTES:  # only the beginning is decoded, and the counts are left out
                digest.skip()
                return digest, None
    return digest, decoder


_TAIL_BYTES = (1 << 18, 1 << 20, 1 << 22)
"""The tail grows until a turn begins or ends in it: a line may have 100 KB, one with an image several MB."""
_MANY_LINES = 5_000
"""A tail with this number of lines does not grow: it would take more than 0.1 s."""
_LINE_BYTES = 64 << 20
"""How far from the end the start of the last line is searched."""


_BRIEF_HEAD_BYTES = 1 << 14
_BRIEF_TAIL_BYTES = (1 << 13, 1 << 16)
"""What is read of a session that has ended long ago: its prompt and its end. All of 130 KB takes 3 ms."""


class Read(NamedTuple):
    digest: Digest
    decoder: Decoder
    offset: int


class _Head(NamedTuple):
    digest: Digest
    start: list[bytes]
    """The lines up to the first prompt, which say what the decoder of the tail must know: the cwd."""


def read_whole(fd: int, size: int, start: Digest) -> Read:
    """Read all whole lines. `start`, what is known before, is not changed. Raise `OSError`."""
    digest = _copy(start)
    digest.is_whole = True
    decoder = decoder_for(digest)
    lines, rest = lines_between(fd, 0, size)
    apply_lines(digest, decoder, lines)
    return Read(digest, decoder, size - len(rest))


def read_ends(fd: int, size: int, start: Digest) -> Read:
    """Read the head, and as much of the tail as shows the present activity. Raise `OSError`."""
    head = _read_head(fd, start, HEAD_BYTES)
    found = None
    for most in _TAIL_BYTES:
        if most >= size:
            return read_whole(fd, size, start)
        found, is_enough = _read_tail(fd, size - most, size, head)
        if is_enough:
            return found
    if found is None or found.offset <= size - _TAIL_BYTES[-1]:
        return _read_long_line(fd, size, head)
    return found


def read_briefly(fd: int, size: int, start: Digest) -> Read | None:
    """Read the beginning up to the prompt, and the end; `start` is not changed. None if no turn begins or
    ends in so little. Raise `OSError`."""
    if size <= _BRIEF_HEAD_BYTES + _BRIEF_TAIL_BYTES[0]:
        return None
    head = _read_head(fd, start, _BRIEF_HEAD_BYTES, is_brief=True)
    for most in _BRIEF_TAIL_BYTES:
        if most < size:
            found, is_enough = _read_tail(fd, size - most, size, head)
            if is_enough:
                return found
    return None


def _read_head(fd: int, start: Digest, most: int, *, is_brief: bool = False) -> _Head:
    digest = _copy(start)
    decoder = decoder_for(digest)
    lines, rest = lines_between(fd, 0, most)
    if not lines:
        digest.apply(decoder.decode_oversize(rest, b"", len(rest)))
        digest.skip()
        return _Head(digest, [])
    before_prompt: int | None = None
    for number, line in enumerate(lines):
        for events in decoder.decode_all(line) if line.strip() else ():
            digest.apply(events)
            if before_prompt is None:
                kinds = {type(event) for event in events}
                if Prompt in kinds:
                    before_prompt = number + 1
                elif ToolStarted in kinds or Text in kinds:
                    before_prompt = number
        if is_brief and before_prompt is not None:
            break
    digest.skip()
    return _Head(digest, lines[:before_prompt])


def _read_tail(fd: int, begin: int, size: int, head: _Head) -> tuple[Read, bool]:
    """Read the whole lines after an offset, and return whether they show the present activity."""
    digest, decoder, begin = *_continued(head), max(begin, sum(map(len, head.start)))
    lines, rest = lines_between(fd, line_end_after(fd, begin - 1, size), size)
    has_boundary = apply_lines(digest, decoder, lines)
    offset = size - len(rest) if lines else begin
    return Read(digest, decoder, offset), has_boundary or len(lines) >= _MANY_LINES


def _read_long_line(fd: int, size: int, head: _Head) -> Read:
    start, length = next(lines_from_end(fd, _LINE_BYTES), (size, 0))
    if not length:
        return Read(*_continued(head), size)
    before = _TAIL_BYTES[0]
    found, _ = _read_tail(fd, max(start - before, 1), start, head)
    first, last = ends_of_line(fd, start, length)
    found.digest.apply(found.decoder.decode_oversize(first, last, length))
    return found._replace(offset=size)


def _continued(head: _Head) -> tuple[Digest, Decoder]:
    digest = _copy(head.digest)
    decoder = decoder_for(digest)
    for line in filter(bytes.strip, head.start):
        decoder.decode(line)
    decoder.take_redecoded()
    return digest, decoder


def _copy(digest: Digest) -> Digest:
    course = Course(has_line_times=digest.course.has_line_times)
    uses = None if digest.uses is None else Uses(by_request=False)
    return replace(digest, open_calls={}, usage=UsageCounts(), uses=uses, course=course)


_WHOLE_BYTES = 1 << 20
"""A file of this size is read whole, in 5 to 20 ms."""
_MOST_APPENDED = 1 << 22
"""If more was appended since the last reading, the file is read like a new one."""
_SILENT_MS = 5_000
"""After this time without a new line, a turn whose end nothing but silence shows has ended."""
_FINAL_MS = 600_000
"""After this time without a new line, nothing more is expected."""


class _Version(NamedTuple):
    device: int
    inode: int
    size: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> _Version:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @property
    def changed_ms(self) -> int:
        """Return the time of the last change, in milliseconds since the epoch."""
        return self.changed_ns // 10**6


class Tail:
    """Reads one session for a list. No file makes it raise, and none stays open. If `is_brief`, only the
    beginning and the end are read, even if they do not show the present activity."""

    def __init__(self, found: SessionEntry, *, is_brief: bool = False) -> None:
        self.is_brief = is_brief
        self.found = found
        self.digest: Digest | None = None
        """It is None for a session of which only the metadata are known."""
        agent = format_of(found)
        if found.reach is not Reach.LISTED:
            self.digest = digest_of(found, agent)
        self._is_decoded = self.digest is not None and (agent is not None or found.agent == OWN)
        self._stored = StoredLines() if found.reach is Reach.STORE else None
        self._decoder: Decoder | None = None
        """It is None if the next reading must begin again."""
        self._seen: _Version | None = None
        self._offset = 0
        self._before = b""
        self._exchange: Exchange | None = None
        """Merges the directions of a recording that has both."""
        self._problem: OSError | None = None
        self._held: list[Event] | None = None
        """Events to apply if the file stays silent; None until requested."""
        self._is_at_once = False
        """Whether it was read in one go: lines that are appended may be applied in another way."""

    @property
    def final(self) -> Digest | None:
        """The digest, if reading the file again as it was found would give the same."""
        seen, found = self._seen, self.found
        if not self._is_at_once or self._decoder is not None or self._held != [] or self.problem is not None:
            return None
        if self._stored is not None:
            return None if self._stored.is_behind(found) else self.digest
        is_found = seen is not None and (seen.size, seen.changed_ns) == (found.size, found.changed_ns)
        return self.digest if is_found else None

    @property
    def problem(self) -> OSError | None:
        return self._problem if self._stored is None else self._stored.problem

    @property
    def is_behind(self) -> bool:
        """Whether a store has changed that could not be read again yet."""
        return self._is_decoded and self._stored is not None and self._stored.is_behind(self.found)

    @property
    def is_due(self) -> bool:
        return self._stored is None or self._stored.is_due

    def update(self) -> bool:
        """Return whether the digest may have changed."""
        if not self._is_decoded:
            return False
        if self._stored is not None:
            return self._read_store(self._stored)
        try:
            version = _Version.of(os.stat(self.found.path, follow_symlinks=False))
            if version == self._seen:
                return False
            self._problem = None
            if self.found.agent == OWN and (files := open_both(self.found.path)) is not None:
                with closing(files):
                    return self._read_both(files)
            with open(open_own(self.found.path), "rb", buffering=0) as file, reading(self.found.path):
                return self._read(file.fileno())
        except OSError as error:
            self._problem = error
            return False

    def pass_time(self, now_ms: int) -> bool:
        """Apply what follows from the time without a new line; return whether that is anything."""
        return self.is_silent(now_ms) and self.settle()

    def _silent_ms(self, digest: Digest, now_ms: int) -> int:
        seen_ms = digest.seen_ms if digest.course.ends_in_title else None
        return now_ms - (self._changed_ms if seen_ms is None else min(seen_ms, self._changed_ms))

    def _ends_well(self, decoder: Decoder) -> bool:
        if self._held is None:
            self._held = decoder.end()
        return all(
            isinstance(event, TurnEnded) and event.outcome is Outcome.SUCCEEDED for event in self._held
        )

    def is_silent(self, now_ms: int) -> bool:
        """Whether `pass_time` would apply something."""
        if self.digest is None or self._decoder is None or self._held == []:
            return False
        silent_ms = self._silent_ms(self.digest, now_ms)
        if silent_ms < _SILENT_MS:
            return False
        return (self._ends_well(self._decoder) or silent_ms >= _FINAL_MS) and self._held != []

    @property
    def _changed_ms(self) -> int:
        if self._seen is not None:
            return self._seen.changed_ms
        changed_ms = self.found.metadata.changed_ms
        return self.found.changed_ns // 10**6 if changed_ms is None else changed_ms

    def settle(self) -> bool:
        """Apply what follows if nothing more is written; return whether that is anything."""
        if self.digest is None or self._decoder is None:
            return False
        if self._held is None:
            self._held = self._decoder.end()
        held, self._held = self._held, []
        if not held:
            return False
        seen_ms = self.digest.seen_ms
        self.digest.apply(held if seen_ms is None else [LineTime(seen_ms), *held])
        self._decoder = None
        return True

    def release(self) -> None:
        """Free what only the next lines need. If the file grows, its tail is read again."""
        self._decoder, self._before, self._held = None, b"", []
        if self.digest is not None:
            self.digest.course = Course()

    def _read_store(self, stored: StoredLines) -> bool:
        read = stored.read(self.found)
        if read is not None:
            self.digest, self._decoder = read
            self._held, self._is_at_once = None, True
        return read is not None

    def _read(self, fd: int) -> bool:
        version = _Version.of(os.fstat(fd))
        size, changed_ms, known = version.size, version.changed_ms, self._known(version)
        settled = _said(self.digest) if self._decoder is None and self._held == [] else None
        is_longer = 0 <= size - self._offset <= _MOST_APPENDED
        if known is not None and is_longer and self._continues(fd):
            self._is_at_once = False
            self._append(fd, size, *known, changed_ms)
        else:
            self._begin(fd, size, changed_ms)
        self._held, self._seen = None, version
        is_as_before = settled is not None and settled == _said(self.digest)
        if is_as_before and self._decoder is not None and self._ends_well(self._decoder):
            self.settle()  # a title was added, say
        return True

    def _known(self, version: _Version) -> tuple[Digest, Decoder] | None:
        """Return None if it is another file, or must be read again."""
        is_other = self._seen is None or self._seen[:2] != version[:2]
        if is_other or self._held or self.digest is None or self._decoder is None:
            return None
        return self.digest, self._decoder

    def _read_both(self, files: Files) -> bool:
        (one, other), before = (_Version.of(os.fstat(fd)) for fd in files[:2]), self._seen
        version = other._replace(size=one.size + other.size, changed_ns=max(one[3], other[3]))
        if version == before:
            return False
        is_longer = before is not None and 0 <= version.size - before.size <= _MOST_APPENDED
        known = self._known(version)
        if known is not None and is_longer and self._exchange is not None:
            self._is_at_once = False
            lines, _ = split_lines(b"".join(data for _, data in self._exchange.read(files)))
            apply_lines(*known, lines, version.changed_ms)
        else:
            self._begin_both(files, version.size, version.changed_ms)
        self._held, self._seen = None, version
        return True

    def _begin_both(self, files: Files, size: int, changed_ms: int) -> None:
        self._exchange, most = Exchange(), _TAIL_BYTES[-1]
        fd = nameless_file()
        try:
            if size > most + HEAD_BYTES:
                head = self._exchange.take(files, fd, HEAD_BYTES)
                self._exchange.skip(files, most)
                os.ftruncate(fd, head + most)  # the file is not read whole: it has a hole
                os.write(fd, b"\n")
            self._exchange.take(files, fd)
            self._begin(fd, os.fstat(fd).st_size, changed_ms)
        finally:
            os.close(fd)

    def _continues(self, fd: int) -> bool:
        return not self._before or bytes_before(fd, self._offset) == self._before

    def _begin(self, fd: int, size: int, changed_ms: int) -> None:
        self._is_at_once = True
        start = digest_of(self.found, format_of(self.found))
        found = read_briefly(fd, size, start) if self.is_brief else None
        found = found or (read_whole if size <= _WHOLE_BYTES else read_ends)(fd, size, start)
        self.digest, self._decoder, self._offset = found
        self._append(fd, size, found.digest, found.decoder)
        if found.digest.seen_ms is None and size:
            found.digest.seen_ms = changed_ms

    def _append(self, fd: int, size: int, digest: Digest, decoder: Decoder, at_ms: int | None = None) -> None:
        """Apply the lines after the last reading; the last one may not have been written whole yet."""
        lines, rest = lines_between(fd, self._offset, size)
        if rest.rstrip().endswith(b"}") and object_of(rest) is not None:  # only its line end is missing
            lines, rest = [*lines, rest], b""
        began_ms = digest.began_ms
        apply_lines(digest, decoder, lines, at_ms)
        if self._offset and not digest.course.has_line_times:
            digest.began_ms = began_ms  # the file had lines before, which have no time
        self._offset += sum(map(len, lines))
        self._before = bytes_before(fd, self._offset)


def _said(digest: Digest | None) -> tuple[object, ...] | None:
    """What a new line of a conversation changes, and a title does not."""
    if digest is None:
        return None
    return digest.seen_ms, digest.turns, digest.calls, digest.last_prompt, digest.last_text
