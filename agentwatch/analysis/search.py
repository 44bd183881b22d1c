"""Searches a session: its texts, and the action lines, arguments and results of its calls.

Payloads are in the recording. The raw bytes of a line are searched first, at a gigabyte per second. Only a
line that may contain the query is decoded; then the text that the detail pane shows of it is searched.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Generator, Iterator
from enum import IntEnum
from time import perf_counter
from typing import NamedTuple

from agentwatch.analysis.block_text import block_text
from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import MOST_LINE_BYTES
from agentwatch.session.actions import action, shown_tool, target
from agentwatch.session.blocks import Block
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.safe import SafeText, cut, exact_text, safe_line, safe_text

_MARKS = "*_`~[]\\"
"""Markdown characters that may occur between two characters of a text and are not shown."""
_MOST_MARKS = 16
_MOST_BLANKS = 64
_MOST_INDENT = 512
"""Limits for what is skipped inside a match, in characters. Without them, and with repetitions that give
characters back, a query such as `**` would take cubic time in a line of asterisks.
"""
_WORD = re.compile(r"[0-9A-Za-z_]+")
_PIECE = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z]")
_ESCAPED_WORD = re.compile(rb"\\u00[3-7]")
"""A JSON escape of a letter, a digit or `_`."""
_CODE_POINT = re.compile("[uU0-9a-fA-F]+")
"""Text that may be part of a replacement by `safe_text`: `<U+202E>`, `<9B>`."""


class Query:
    """A search query: plain words, in order, separated by any white space.

    The search is case-sensitive if the query contains an upper-case letter. There is no pattern syntax: `.`
    and `*` match only themselves. In the assistant's text, Markdown marks that are not shown are ignored.

    Example:
        >>> bool(Query("exit 1").pattern.search("failed: Exit\\n1"))
        True
        >>> bool(Query("Exit").pattern.search("exit"))
        False
        >>> bool(Query("run tests").markdown_pattern.search("**run** `tests`"))
        True
    """

    def __init__(self, text: str) -> None:
        self.words = text.split()
        self._is_exact = any(char.isupper() for char in text)
        self.pattern = self._compiled(r"\s++".join(_in_order(word) for word in self.words))
        """Finds the query in plain text."""
        marked = [
            _marked_gap(word) * bool(nth) + _in_order(word, _MARKS) for nth, word in enumerate(self.words)
        ]
        self.markdown_pattern = self._compiled("".join(marked))
        """Finds the query in Markdown, and ignores marks that are not shown."""
        self.reach = 4 * len(text) + 64
        """The number of characters that are searched beyond the end of a chunk. No match is longer."""
        pieces = _WORD.findall(text)
        self.needles = frozenset((piece if self._is_exact else piece.lower()).encode() for piece in pieces)
        """The ASCII words of the query. The bytes of a matching line contain them, unless it escapes them."""
        self._may_be_code_point = any(map(_CODE_POINT.fullmatch, pieces))

    def pattern_in(self, kind: Kind) -> re.Pattern[str]:
        """Return the pattern for the text of an entry of this kind."""
        return self.markdown_pattern if kind in (Kind.ANSWER, Kind.RESULT) else self.pattern

    def shown_pattern(self) -> re.Pattern[str]:
        """Return a pattern for wrapped lines, where a line break may be inside a long word. A long word
        continues in the next row, after its indent. An indent has no line break: otherwise a text of many
        short rows would be read again for each of its characters."""
        words: list[str] = []
        for word in self.words:
            gap = _skipped("▌↳", word[0], most=_MOST_INDENT, blanks=True, least=1) if words else ""
            wraps = (
                rf"(?:[^\S\n]*+\n{_skipped(' ▌↳', char, most=_MOST_INDENT)})?{re.escape(char)}"
                for char in word[1:]
            )
            words.append(gap + re.escape(word[0]) + "".join(wraps))
        return self._compiled("".join(words))

    def missing(self, needles: frozenset[bytes], data: bytes) -> frozenset[bytes]:
        """Return the needles that a part of a line does not contain; empty if they may be escaped."""
        searched = data if self._is_exact else data.lower()
        missing = frozenset(needle for needle in needles if needle not in searched)
        if missing and b"\\u" in data and _ESCAPED_WORD.search(data) is not None:
            return frozenset()
        if missing and self._may_be_code_point and (b"\\u" in data or not data.isascii()):
            return frozenset()
        return missing

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, 0 if self._is_exact else re.IGNORECASE)


def _in_order(word: str, marks: str = "") -> str:
    """Return a pattern for a word that allows `marks` before and after punctuation and non-ASCII characters.
    ASCII characters match only themselves. Otherwise `k` would match the Kelvin sign, which the search
    through the raw bytes does not find."""
    pattern = ""
    for piece in _PIECE.findall(word):
        gap = _skipped(marks, piece[0]) if marks and pattern else ""
        pattern += gap + (f"(?a:{re.escape(piece)})" if piece.isascii() else re.escape(piece))
    return pattern


def _marked_gap(word: str) -> str:
    """Return a pattern for the white space in Markdown before a word, with list and quote marks in it. A word
    of marks alone ends the gap where it first occurs. Before any other word, the gap extends to the last
    white space, so that `*` of a list item is not taken for the first mark of `**word**`."""
    marks = f">{_MARKS}"
    if not word.strip(marks):
        return rf"{_skipped(_MARKS)}\s{_skipped(marks, word[0], most=_MOST_BLANKS, blanks=True)}"
    items = rf"(?:{_skipped(marks)}\s){{0,{_MOST_BLANKS}}}+"
    return rf"{_skipped(_MARKS)}\s{items}{_skipped(marks, word[0])}"


def _skipped(
    chars: str, following: str = "", *, most: int = _MOST_MARKS, blanks: bool = False, least: int = 0
) -> str:
    """Return a pattern for some characters before the character `following`. It never backtracks, so its cost
    is linear in its length."""
    space = r"\s" if blanks else ""
    return f"[{space}{re.escape(chars.replace(following, '') if following else chars)}]{{{least},{most}}}+"


_CHUNK = 1 << 16
"""The number of characters of a text that are searched in one step."""
_PIECE_BYTES = 1 << 20
"""The number of bytes of a line that are searched in one step."""


class Side(IntEnum):
    TEXT = 0
    ARGUMENTS = 1
    RESULT = 2


class Match(NamedTuple):
    """One match. Matches sort in transcript order."""

    entry: int
    side: Side
    start: int
    """The character offset of the match in a text. In a payload, its ordinal, counted from 0."""


class Matcher:
    """Finds the matches of a query in one entry. A generator yields None for each step without a match."""

    def __init__(self, feed: Feed, query: Query) -> None:
        self._feed = feed
        self._query = query

    def in_text(self, index: int, start: int, end: int) -> Generator[Match | None, None, int]:
        """Yield the matches that begin from `start` on and before `end`, in characters of an entry's text.
        Return where the last match ends; `start` without a match."""
        entry, query = self._feed.session.transcript[index], self._query
        pattern = query.pattern_in(entry.kind)
        at = resume = start
        while at < end:
            last = min(at + _CHUNK, end)
            source = text_of(entry, at, last + query.reach)
            shown = safe_text(source)
            for hit in pattern.finditer(shown):
                begin = at + _source_offset(source, shown, hit.start())
                if begin >= last:
                    break
                is_new = begin >= resume  # one source character may be shown as several and match twice
                resume = max(at + _source_offset(source, shown, hit.end()), begin + 1)
                yield Match(index, Side.TEXT, begin) if is_new else None
            at = max(last, resume)
            yield None
        return resume

    def in_call(self, index: int, call: Call) -> Iterator[Match | None]:
        pattern = self._query.pattern
        shown = "\n".join((safe_line(call.tool), action(call), safe_line(call.call_id)))
        yield None if pattern.search(shown) is None else Match(index, Side.TEXT, 0)
        repeated = len(pattern.findall(target(call)))
        for match in self.in_payload(index, Side.ARGUMENTS, call, call.arguments_place):
            yield None if match is not None and match.start < repeated else match

    def in_payload(self, index: int, side: Side, call: Call, place: Place | None) -> Iterator[Match | None]:
        """Yield the matches in the payload of a line; none without a place or in an oversize line."""
        if place is None or place.length > MOST_LINE_BYTES or not (yield from self._may_contain(place)):
            return
        ordinal = 0
        for block in self._feed.blocks(place, call.call_id):
            for _ in self._query.pattern.finditer(exact_text(block_text(block))):
                yield Match(index, side, ordinal)
                ordinal += 1
            yield None

    def _may_contain(self, place: Place) -> Generator[None, None, bool]:
        """Return whether a line may contain the query, by searching its raw bytes one megabyte per step."""
        at, missing = 0, self._query.needles
        while missing and at < place.length:
            length = min(_PIECE_BYTES, place.length - at)
            data = self._feed.line_at(place._replace(offset=place.offset + at, length=length))
            missing = self._query.missing(missing, data)
            if missing and self._feed.searchable_text_differs(data):
                return True
            at += _PIECE_BYTES - self._query.reach if length == _PIECE_BYTES else length
            yield
        return not missing


def _length_of(entry: Entry) -> int:
    return len(entry.content) if entry.result is None else len(_result(entry))


def text_of(entry: Entry, start: int, end: int) -> str:
    """Return the characters from `start` to `end` of the text that an entry shows."""
    return entry.content.part(start, end) if entry.result is None else _result(entry)[start:end]


def _result(entry: Entry) -> str:
    result = entry.result
    return "" if result is None or result.is_streamed else result.text or ""


def _source_offset(source: str, shown: str, offset: int) -> int:
    """Return the offset in `source` of a character of its safe text, which has the same lines."""
    if source == shown:
        return offset
    start = 0
    for _ in range(shown.count("\n", 0, offset)):
        start = source.find("\n", start) + 1
    line = source[start:].partition("\n")[0]
    column = offset - (shown.rfind("\n", 0, offset) + 1)
    return start + bisect_right(range(1, len(line)), column, key=lambda length: len(safe_text(line[:length])))


MOST_MATCHES = 10_000
"""The number of matches collected per batch. Without it, a very common word would fill the memory."""
_PLACE_COLUMNS = 60
_KINDS = {Kind.ANSWER: "text", Kind.REASONING: "thinking"}
_Work = Iterator[Match | None]


class Search:
    """Searches forwards and backwards from a position, one time slice at a time. `found` has no gaps."""

    def __init__(self, feed: Feed, text: str, entry: int = 0, offset: int = 0) -> None:
        """Prepare a search. `advance` does the work. The query must not be blank."""
        self.query = Query(text)
        self.found: list[Match] = []
        self.is_complete = False
        """Whether everything was searched, or the search has paused because the batch is full."""
        self._feed = feed
        self._matcher = Matcher(feed, self.query)
        self._begin = Match(entry, Side.TEXT, offset)
        self._most = MOST_MATCHES
        self._ahead = (entry, offset)
        self._searched_length = 0
        self._left_behind = entry + 1
        """The number of entries that the backward search has left, including the entry at the start."""
        self._is_ahead_done = self._is_behind_done = False
        self._awaited: list[tuple[int, Call]] = []
        self._work_ahead: _Work = iter(())
        self._work_behind: _Work = iter(())
        self._found_behind: deque[Match] = deque(maxlen=MOST_MATCHES)
        """The last 10,000 matches in the entry that the backward search is reading."""
        self._has_dropped_matches = False

    @property
    def is_full(self) -> bool:
        """Whether there may be more matches than those found, because the batch is full."""
        return self._has_dropped_matches or len(self.found) >= self._most

    def advance(self, seconds: float | None = None) -> None:
        """Search for about `seconds`, or to the end; a complete search continues with what was added."""
        until = None if seconds is None else perf_counter() + seconds
        self.is_complete = False
        while len(self.found) < self._most:
            self._is_ahead_done = not self._go_ahead()
            self._is_behind_done = not self._go_back()
            if self._is_ahead_done and self._is_behind_done:
                break
            if until is not None and perf_counter() >= until:
                return
        self.is_complete = True

    def first(self) -> Match | None:
        """Return the first match after the start, or else the last before it; None without one so far."""
        ahead = bisect_left(self.found, self._begin)
        if ahead < len(self.found):
            return self.found[ahead]
        return self.found[-1] if self.found and self._is_ahead_done else None

    def step(self, match: Match, direction: int) -> Match | None:
        """Return the match after (1) or before (-1) a match, also around the ends; None while unknown."""
        index = bisect_left(self.found, match) + direction
        if not 0 <= index < len(self.found):
            if self.is_complete and len(self.found) >= self._most:
                self._most = len(self.found) + MOST_MATCHES
                self.is_complete = False
            if not self.is_complete:
                return None
        return self.found[index % len(self.found)]

    def number(self, match: Match) -> int | None:
        """Return the number of a match, counted from 1; None until everything before it was searched."""
        is_known = self._is_behind_done and not self._has_dropped_matches
        return bisect_left(self.found, match) + 1 if is_known else None

    def call(self, match: Match) -> Call | None:
        """Return the call that contains a match; None if it is in a text."""
        return self._feed.session.transcript[match.entry].call

    def place(self, match: Match, width: int = _PLACE_COLUMNS) -> SafeText:
        """Return where a match is, in at most `width` columns: `#12 edit src/app.py, result`."""
        entry = self._feed.session.transcript[match.entry]
        if entry.call is None:
            return SafeText(_KINDS.get(entry.kind, str(entry.kind)))
        side = f", {match.side.name.lower()}" if match.side else ""
        named = safe_line(f"#{entry.call.number} {shown_tool(entry.call.tool)} {target(entry.call)}".rstrip())
        least = len(f"#{entry.call.number}")
        return SafeText(cut(named, max(min(width, _PLACE_COLUMNS) - len(side), least + 1)) + side)

    def block(self, match: Match) -> tuple[Block | None, int]:
        """Return the block that contains a match, and the number of matches before it in that block. The
        match must be in a payload; otherwise the block is None."""
        call, nth = self.call(match), match.start
        place = call and (call.arguments_place if match.side is Side.ARGUMENTS else call.result_place)
        for block in self._feed.blocks(place, call.call_id) if call and place else ():
            count = sum(1 for _ in self.query.pattern.finditer(exact_text(block_text(block))))
            if nth < count:
                return block, nth
            nth -= count
        return None, 0

    def _go_ahead(self) -> bool:
        """Do one step of the forward search; return whether there was work to do."""
        found = next(self._work_ahead, self)
        if found is self:
            work = self._next_ahead()
            self._work_ahead = iter(()) if work is None else work
            return work is not None
        if isinstance(found, Match):
            insort(self.found, found)
        return True

    def _go_back(self) -> bool:
        """Search one entry before the starting point from its beginning; return whether one was left."""
        found = next(self._work_behind, self)
        if isinstance(found, Match):
            self._has_dropped_matches |= len(self._found_behind) == MOST_MATCHES
            self._found_behind.append(found)
        if found is not self:
            return True
        self.found[:0] = self._found_behind
        self._found_behind.clear()
        if not self._left_behind:
            return False
        self._left_behind -= 1
        self._work_behind = self._search_behind(self._left_behind)
        return True

    def _next_ahead(self) -> _Work | None:
        """Return the next step of the forward search: a result that has arrived since, else a later entry."""
        for waiting, (index, call) in enumerate(self._awaited):
            if call.outcome is not Outcome.RUNNING:
                del self._awaited[waiting]
                return self._matcher.in_payload(index, Side.RESULT, call, call.result_place)
        transcript = self._feed.session.transcript
        while self._ahead[0] < len(transcript):
            index, offset = self._ahead
            entry = transcript[index]
            if entry.call is not None:
                self._ahead = index + 1, 0
                return self._search_call(index, entry.call)
            if (length := _length_of(entry)) > max(self._searched_length, offset):
                self._searched_length = length
                return self._search_ahead(index, offset, length)
            if entry.is_open:
                break
            self._ahead, self._searched_length = (index + 1, 0), 0
        return None

    def _search_ahead(self, index: int, start: int, end: int) -> _Work:
        """Search a growing text. The next search starts `reach` characters before the text's present end."""
        resume = yield from self._matcher.in_text(index, start, end)
        self._ahead = index, max(resume, end - self.query.reach, start)

    def _search_behind(self, index: int) -> _Work:
        transcript = self._feed.session.transcript
        if index >= len(transcript):
            return iter(())
        entry, is_begin = transcript[index], index == self._begin.entry
        if entry.call is None:
            return self._matcher.in_text(index, 0, self._begin.start if is_begin else _length_of(entry))
        return iter(()) if is_begin else self._search_call(index, entry.call)

    def _search_call(self, index: int, call: Call) -> _Work:
        yield from self._matcher.in_call(index, call)
        if call.outcome is Outcome.RUNNING:
            self._awaited.append((index, call))
        else:
            yield from self._matcher.in_payload(index, Side.RESULT, call, call.result_place)
