"""Searches the contents of sessions in short steps and bounded pieces, the newest sessions first.

The bytes of a session are searched at a gigabyte per second. Only a session that may contain the words is
decoded, and what its calls and texts say is compared.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import threading
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from heapq import heappop, heappush
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from agentwatch.agents.opening import saved_source, store_for
from agentwatch.agents.session_entry import OWN, Key
from agentwatch.base.faults import Fault, reading
from agentwatch.base.helper_process import cores
from agentwatch.catalog.find_query import Part, Query, is_text, part_readers
from agentwatch.catalog.hits import Found, Hit, Searched, searched_row, text_around, with_addresses
from agentwatch.catalog.repository import Repositories
from agentwatch.recording.saved import open_lines
from agentwatch.recording.store import open_own
from agentwatch.rules.language.conditions import Condition, Several, Word
from agentwatch.session.transcript import Kind

if TYPE_CHECKING:
    from agentwatch.catalog.row import Row
    from agentwatch.feed.feed import Feed
    from agentwatch.session.call import Pieces, Place
    from agentwatch.session.session import Session

_PIECE_BYTES = 1 << 20
_MOST_LINE_BYTES = 1 << 22
"""A line that is longer is passed over. The longest ones that are known contain images."""
_MOST_STORED_BYTES = 1 << 24
"""Only this beginning of a session in a store is read, and a larger document is not opened."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class Piece(NamedTuple):
    offset: int
    """The offset in bytes from the beginning of the session."""
    lines: bytes
    """Whole lines. The last one may have no line end."""
    left: str = ""
    """What of the session is not read."""


_LEFT = Piece(0, b"", "larger than is searched")
_LONG_LINE = "with a line longer than is searched"


def pieces(path: Path) -> Generator[Piece]:
    """Yield the parts of the session at a path, in their order. Raise `OSError` if it cannot be read."""
    try:
        fd = open_lines(path)
    except NotADirectoryError:  # a session in a database: opencode.db/ses_…
        os.close(open_own(path.parent))
    except OSError:
        from agentwatch.catalog.places import own_folder

        if own_folder(os.fspath(path), os.geteuid()) is None:  # a session may be a folder
            raise
    else:
        try:
            if path.suffix != ".json" and os.pread(fd, len(_ZSTANDARD), 0) != _ZSTANDARD:
                yield from _in_file(fd)
                return
            if os.fstat(fd).st_size > _MOST_STORED_BYTES:
                yield _LEFT
                return
        finally:
            os.close(fd)
    store, offset = store_for(path), 0
    if store is None:
        raise OSError(errno.EINVAL, "it holds no session", str(path))
    with closing(store):
        while offset <= _MOST_STORED_BYTES and (data := b"".join(store.new_lines())):
            yield Piece(offset, data)
            offset += len(data)
    if offset > _MOST_STORED_BYTES:
        yield _LEFT


def _in_file(fd: int) -> Generator[Piece]:
    """The file is read as long as it is now."""
    size = os.fstat(fd).st_size
    rest, at = b"", 0
    is_passed_over = False
    while at < size and (read := os.pread(fd, min(_PIECE_BYTES, size - at), at)):
        at += len(read)
        end = read.rfind(b"\n") + 1
        if is_passed_over:
            begin = read.find(b"\n") + 1
            is_passed_over = not begin
            yield Piece(at - len(read) + begin, read[begin:end])
        elif end:
            yield Piece(at - len(read) - len(rest), rest + read[:end])
        else:
            rest += read
            is_passed_over = len(rest) > _MOST_LINE_BYTES
            rest = b"" if is_passed_over else rest
            yield Piece(at, b"", _LONG_LINE if is_passed_over else "")
            continue
        rest = b"" if is_passed_over else read[end:]
    if rest:
        yield Piece(at - len(rest), rest)


_LEAST_RUN = 3
"""From this length on, a run of plain characters is searched for instead of a word that has others too."""
_RUN = re.compile(rb"[^\x00- \"'&,/:<>\\\x7f-\xff]+")
"""Matches characters that no writer of JSON escapes, and that are not put between values that are shown."""
_UNSAID = (b'"type":"api-request', b'"type":"attachment"', b'"type":"session_meta"')
"""What marks lines that repeat the vendor's instructions in every session: whole requests and their
attachments in transcripts of Claude Code (since 2.1.330), the first line of Codex's rollouts."""
_UNSAID_WITHIN = 1 << 10
"""The first bytes of a line, in which its type is. Claude Code writes it behind the ids."""


def forms_in(condition: Condition) -> tuple[bytes, ...]:
    """Byte strings, one of which is in a line of each call or text that the condition selects, once the ASCII
    letters of the line are small. Empty if there may be none."""
    match condition:
        case Word(text, is_quoted) if is_text(text, is_quoted=is_quoted):
            return _forms_of(text.split())
        case Several(parts, is_any):
            found = list(map(forms_in, parts))
            if is_any:
                return () if () in found else tuple(dict.fromkeys(chain.from_iterable(found)))
            return max(filter(None, found), key=lambda forms: min(map(len, forms)), default=())
    return ()


def _lines_with(forms: tuple[bytes, ...], data: bytes) -> Iterator[int]:
    """Yield the offsets of the lines that contain a form. `data` are whole lines."""
    lowered = data.lower()
    if len(forms) > 1:  # most data are ASCII, and few have escapes
        is_ascii, has_escapes = lowered.isascii(), b"\\u" in lowered
        forms = tuple(
            form for form in forms if (form.isascii() or not is_ascii) and (has_escapes or b"\\u" not in form)
        )
    places = {form: lowered.find(form) for form in forms}
    while found := [place for place in places.values() if place >= 0]:
        first = min(found)
        begin = data.rfind(b"\n", 0, first) + 1
        end = data.find(b"\n", first)
        end = len(data) if end < 0 else end
        if not any(kind in data[begin : min(begin + _UNSAID_WITHIN, end)] for kind in _UNSAID):
            yield begin
        for form, place in places.items():
            if 0 <= place < end:
                places[form] = lowered.find(form, end)


def _forms_of(words: list[str]) -> tuple[bytes, ...]:
    """Byte strings, one of which is in each line with the words once its ASCII letters are small. It is the
    longest run of plain characters, or else all forms in which the longest word may be written."""
    runs = [run for word in words for run in _RUN.findall(word.encode("utf-8", "surrogatepass"))]
    longest = max(runs, key=len, default=b"")
    if len(longest) >= _LEAST_RUN or not words:
        return (longest,) if longest else ()
    word = max((word.strip(":,") or word for word in words), key=len)
    escaped = [
        json.dumps(cased, ensure_ascii=is_ascii)[1:-1] for cased in _cased(word) for is_ascii in (False, True)
    ]
    escaped += [form.replace("/", "\\/") for form in escaped]
    escaped += [form.translate(_FOR_WEB_PAGES) for form in escaped]
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogatepass").lower() for form in escaped))


_CAPITALS = {"å": "\u212b", "ß": "\u1e9e", "ω": "\u2126"}
"""Other capitals of a small letter than those that `upper` and `title` return."""
_MOST_CASED = 8


def _cased(word: str) -> list[str]:
    """The beginning of a word in small letters and in capitals, mixed: the whole word if few letters have
    both."""
    found = [""]
    for char in word:
        cases = dict.fromkeys((char, char.upper(), char.title(), _CAPITALS.get(char, char)))
        if char.isascii():
            cases = {char: None}  # the forms and the lines are compared in small letters
        if len(found) * len(cases) > _MOST_CASED:
            break
        found = [begun + each for begun in found for each in cases]
    return [*found, *(each.replace("i\u0307", "\u0130") for each in found)]


_FOR_WEB_PAGES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'"}
"""Characters that some writers of JSON escape."""


class _Times:
    """The observer of a feed that notes when the lines arrived with which the entries began."""

    def __init__(self, session: Session) -> None:
        self._transcript = session.transcript
        self.seen_ms: list[int | None] = []

    def applied(self, place: Place, _pieces: Pieces | None) -> None:
        self.seen_ms += [place.seen_ms] * (len(self._transcript) - len(self.seen_ms))

    def paused(self, _offset: int, _session: Session, _decoder: object) -> None:
        """Do nothing."""


_UNKNOWN = "of an unknown agent"
_STEP_SECONDS = 0.01
_MOST_COMPARED = 64
"""The parts of a session that are compared in one step."""


class Search:
    """Finds calls and texts. What a fork or a recording repeats is found once. One thread uses it."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self.forms = forms_in(query.condition)
        self._repositories = Repositories()
        self._seen: set[tuple[object, ...]] = set()
        self.not_searched: Counter[str] = Counter()
        """The number of sessions by the reason."""

    def hits(self, one: Searched, most: int | None = None) -> Generator[list[Hit]]:
        """Yield what is found in a session in short steps, the newest first, at most `most` hits."""
        if one.reason:
            self.not_searched[one.reason] += 1
        elif not self._excludes(one):
            try:
                with reading(one.path):
                    if not self.forms or (yield from self._may_contain(one.path)):
                        yield from self._decoded(one, most)
            except Fault as fault:
                self.not_searched[str(fault).removeprefix(f"cannot open {one.path}: ")] += 1
            except FileNotFoundError:
                self.not_searched["deleted"] += 1
            except OSError as error:
                self.not_searched[(error.strerror or str(error)).lower()] += 1

    def _excludes(self, one: Searched) -> bool:
        return self._query.excludes("" if one.key[0] == OWN else one.key[0], one.changed_ms)

    def lacks(self, one: Searched) -> bool:
        """Whether nothing is in a session, and there is nothing to report about it."""
        if one.reason or self._excludes(one):
            return not one.reason
        with suppress(OSError, Fault), closing(pieces(one.path)) as found:  # `hits` reports the error
            return not any(piece.left or self._has_form(piece) for piece in found)
        return False

    def _has_form(self, piece: Piece) -> bool:
        return next(_lines_with(self.forms, piece.lines), None) is not None

    def _may_contain(self, path: Path) -> Generator[list[Hit], None, bool]:
        left = set[str]()
        with closing(pieces(path)) as found:
            for piece in found:
                if self._has_form(piece):
                    return True  # `_candidates` reads it again
                left.add(piece.left)
                yield []
        self.not_searched.update(filter(None, left))
        return False

    def _decoded(self, one: Searched, most: int | None) -> Generator[list[Hit]]:
        from agentwatch.feed.feed import Feed
        from agentwatch.rules.calls.facts import CallFacts

        with closing(saved_source(one.path)) as source:
            feed = Feed(source.reader)
            feed.takes_agent_times = True
            feed.observer = times = _Times(feed.session)
            while not feed.is_over:
                feed.advance(_STEP_SECONDS)
                yield []
            if feed.session.format is None:
                self.not_searched[_UNKNOWN] += 1
            numbers: Sequence[int] = range(len(feed.session.transcript))
            if self.forms:
                numbers = yield from self._candidates(feed, source.reader.fd)
            test = self._query.condition.bind(part_readers(CallFacts(feed)))
            session, found = feed.session, 0
            times.seen_ms += [None] * (len(session.transcript) - len(times.seen_ms))  # from the end of it
            agent = (session.agent_name or "") if one.key[0] == OWN else one.key[0]
            cwd = session.run.cwd
            repo = self._repositories.of(cwd).name if cwd else ""
            for nth, number in enumerate(reversed(numbers)):
                part = Part(feed, session.transcript[number], times.seen_ms[number], agent, repo)
                is_wanted = part.call is not None or (
                    self._query.has_texts and part.entry.kind is not Kind.NOTICE
                )
                if is_wanted and test(part) is True and self._is_new(one.key, part):
                    yield [self._hit(one, feed, part)]
                    found += 1
                    if found == most:
                        return
                elif nth % _MOST_COMPARED == 0:
                    yield []

    def _candidates(self, feed: Feed, fd: int) -> Generator[list[Hit], None, list[int]]:
        """Return the numbers of the entries of the transcript that may contain the words."""
        session, offsets, left = feed.session, set[int](), set[str]()
        for piece in _in_file(fd):
            left.add(piece.left)
            offsets.update(piece.offset + at for at in _lines_with(self.forms, piece.lines))
            yield []
        self.not_searched.update(filter(None, left))
        calls = {
            call.number
            for call in session.calls
            for place in (call.started, call.described, call.ended)
            if place is not None and place.offset in offsets
        }
        yield []
        begins = session.transcript.offsets
        numbers = {
            number
            for offset in offsets
            for number in range(max(bisect_left(begins, offset) - 1, 0), bisect_right(begins, offset))
        }
        texts = {number for number in numbers if session.transcript[number].call is None}
        every = session.transcript if calls else ()
        return sorted(texts | {each.number for each in every if each.call_number in calls})

    def _is_new(self, session: Key, part: Part) -> bool:
        """A fork repeats the calls of a session with their ids and times, and its texts with their times. The
        same text without a time may have been written twice."""
        what = (part.kind, part.texts[0]) if part.call is None else (part.call.call_id,)
        key = (part.agent, session if part.at_ms is None else part.at_ms, *what)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _hit(self, one: Searched, feed: Feed, part: Part) -> Hit:
        session, call = feed.session, part.call
        first_ms, at_ms = session.first_seen_ms, part.at_ms
        return Hit(
            key=one.key,
            id=one.key[1],
            session_id=session.run.session_id or one.session_id,
            agent=part.agent,
            kind=part.kind,
            text=snippet(part.texts, self._query.words),
            at_ms=at_ms,
            call=call.number if call else None,
            tool=call.tool if call else "",
            outcome=call.outcome.value if call else "",
            title=one.title or session.run.title or session.run.prompt or "",
            repo=part.repo,
            path=one.path,
            changed_ms=one.changed_ms,
            into_ms=None if first_ms is None or at_ms is None else max(at_ms - first_ms, 0),
            entry=part.entry.number,
        )


def snippet(texts: Sequence[str], words: Sequence[str]) -> str:
    """The words together, or else the text that has the most of them, from the first of them on."""
    phrase = " ".join(words)
    best, text = 0, next(filter(None, texts[1:] or texts), "")
    for each in texts:
        lowered = each.lower()
        if phrase and (at := lowered.find(phrase)) >= 0:
            return text_around(each, at)
        if (held := sum(word in lowered for word in words)) > best:
            best, text = held, each
    lowered = text.lower()
    return text_around(text, min((at for word in words if (at := lowered.find(word)) >= 0), default=0))


def marked_words(words: str) -> list[str]:
    """What is marked in the texts that a search for words finds."""
    return Query(words, is_lenient=True).words if words.split() else []


_MOST_HITS = 3
"""The number of hits of a session in the list."""


class ContentsSearch:
    """The search in the list, in short steps, the newest sessions first."""

    def __init__(self, words: str, rows: Sequence[Row]) -> None:
        self.is_over = not words.split()
        self.total = 0 if self.is_over else len(rows)
        self.searched = 0
        """How many were searched, or skipped."""
        self._search = Search(Query(words.strip() or "-", is_lenient=True))
        self.not_searched = self._search.not_searched
        self._steps = self._all(sorted(rows, key=lambda row: -row.last_ms))

    def advance(self, seconds: float) -> list[Hit]:
        """Return what was found meanwhile. After `seconds`, no other piece of 1 MiB is begun."""
        until = time.monotonic() + seconds
        found: list[Hit] = []
        for hits in () if self.is_over else self._steps:
            found += hits
            if time.monotonic() >= until:
                return found
        self.is_over = True
        return found

    def close(self) -> None:
        self._steps.close()
        self.is_over = True

    def _all(self, rows: Sequence[Row]) -> Generator[list[Hit]]:
        for row in rows:
            yield from self._search.hits(searched_row(row), _MOST_HITS)
            self.searched += 1


_LEAST_HELPED = 200
"""The sessions that are worth a process, which takes 5 ms to begin."""
_MOST_HELPERS = 3
_LACKS = b"1"


@contextmanager
def _helped(search: Search, sessions: Sequence[Searched]) -> Iterator[Callable[[int], bool]]:
    """Yield a function that returns whether nothing is in the session at an index. It is called with each
    index in turn. Copies of this process search the bytes on other cores; one with threads is not copied."""
    is_worth = search.forms and len(sessions) >= _LEAST_HELPED and threading.active_count() == 1
    number = min(cores() - 1, _MOST_HELPERS) if is_worth and hasattr(os, "fork") else 0
    helpers: list[tuple[int, int]] = []
    try:
        with suppress(OSError):  # no more processes or files are allowed
            for nth in range(1, number + 1):
                theirs, ours = os.pipe()
                if not (pid := os.fork()):
                    _help(search, sessions[nth :: number + 1], ours)
                os.close(ours)
                helpers.append((pid, theirs))
        yield (
            lambda at: (
                0 < (nth := at % (number + 1)) <= len(helpers) and (os.read(helpers[nth - 1][1], 1) == _LACKS)
            )
        )
    finally:
        for pid, theirs in helpers:
            os.close(theirs)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _help(search: Search, sessions: Iterable[Searched], fd: int) -> NoReturn:
    """Write for each session whether it lacks the words. The reader searches those without an answer."""
    try:
        for one in sessions:
            os.write(fd, _LACKS if search.lacks(one) else b"0")
    finally:
        os._exit(0)


def find(words: str, sessions: Sequence[Searched], most: int = 100, skip: int = 0, path: str = "") -> Found:
    """Return the calls and texts of sessions that `words` select, in the language of rules: the newest `most`
    after the newest `skip`. Sessions that are older than these are not searched. `path` is a glob for the
    files of a call. Raise `RuleError` if the words are not a rule."""
    search = Search(Query(words, path=path))
    waiting: list[tuple[int, int, Hit]] = []
    hits: list[Hit] = []
    order = count()
    newest = sorted(sessions, key=lambda one: -one.changed_ms)
    ids, own = [one.key[1] for one in sessions], [one.path for one in sessions if one.key[0] == OWN]
    with _helped(search, newest) as lacks:
        for nth, one in enumerate(newest):
            while waiting and -waiting[0][0] >= one.changed_ms and len(hits) < skip + most:
                hits.append(heappop(waiting)[2])
            if len(hits) == skip + most:
                return Found(with_addresses(hits[skip:], ids, own), search.not_searched, True, ids)
            for hit in () if lacks(nth) else chain.from_iterable(search.hits(one)):
                heappush(waiting, (-hit.shown_ms, next(order), hit))
    room = skip + most - len(hits)
    hits += [hit for _, _, hit in sorted(waiting)[:room]]
    return Found(with_addresses(hits[skip:], ids, own), search.not_searched, len(waiting) > room, ids)
