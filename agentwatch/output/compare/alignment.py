"""Aligns the calls of two runs: pairs each call of one run with the matching call of the other."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from agentwatch.session.session import Session
from agentwatch.text.paths import is_windows, named, without_private

# `difflib` comes first: it prefers consecutive matches, which are the easiest to read. It takes quadratic
# time or more if an item occurs often, so its steps are counted in advance. Beyond the limit, the rest is
# matched by the longest common subsequence, a row of bits at a time. If the rest is too large for that, equal
# items are paired in the order in which they occur.

_MOST_STEPS = 8_000_000
"""Comparisons that difflib may make: 0.8 s."""
_STEPS_PER_ITEM = 400
"""Comparisons for each item of the shorter sequence. Two runs of 1,000 calls need 150 each."""
_MOST_BITS = 200_000_000
"""The size of the table of the longest common subsequence: 25 MB, as for two runs of 14,000 calls; 0.2 s."""


class Matching(NamedTuple):
    pairs: list[tuple[int, int]]
    """The indices of equal items, ascending in both sequences."""
    is_exact: bool
    """Whether a better match is very unlikely; False if long sequences repeat the same few items."""


def matching(a: Sequence[Hashable], b: Sequence[Hashable], most_steps: int = _MOST_STEPS) -> Matching:
    """Return the items that two sequences have in common, in the same order. `most_steps` is the number of
    comparisons for the accurate part.

    Example:
        >>> matching("abcd", "bxd").pairs
        [(1, 0), (3, 2)]
    """
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(item, len(numbers)) for item in a]
    second = [numbers.setdefault(item, len(numbers)) for item in b]
    head, tail = _equal_ends(first, second)
    pairs = [(at, at) for at in range(head)]
    most_steps = min(most_steps, _STEPS_PER_ITEM * min(len(a), len(b)))
    middle, is_exact = _middle(first[head : len(a) - tail], second[head : len(b) - tail], most_steps)
    pairs += ((at + head, other + head) for at, other in middle)
    pairs += ((len(a) - left, len(b) - left) for left in range(tail, 0, -1))
    return Matching(pairs, is_exact)


def _equal_ends(a: list[int], b: list[int]) -> tuple[int, int]:
    most = min(len(a), len(b))
    head = next((at for at in range(most) if a[at] != b[at]), most)
    most -= head
    return head, next((at for at in range(most) if a[-1 - at] != b[-1 - at]), most)


def _middle(a: list[int], b: list[int], most_steps: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the pairs of equal items, and whether all of them were found by difflib."""
    if not a or not b:
        return [], True
    counts = Counter(b)
    steps = [0, *accumulate(1 + counts[item] for item in a)]
    """The comparisons that difflib makes for the items before each index, at most."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    pairs: list[tuple[int, int]] = []
    is_exact, ranges = True, deque([(0, len(a), 0, len(b))])
    while ranges:  # the largest parts first: difflib improves them most
        from_a, to_a, from_b, to_b = ranges.popleft()
        most_steps -= steps[to_a] - steps[from_a]
        if most_steps < 0:
            if (to_a - from_a) * (to_b - from_b) <= _MOST_BITS:
                pairs += _by_bits(a, b, range(from_a, to_a), range(from_b, to_b))
            else:
                is_exact = False
                pairs += _by_occurrence(a, b, range(from_a, to_a), range(from_b, to_b))
            continue
        at, other, size = matcher.find_longest_match(from_a, to_a, from_b, to_b)
        if not size:
            continue
        pairs += ((at + nth, other + nth) for nth in range(size))
        if from_a < at and from_b < other:
            ranges.append((from_a, at, from_b, other))
        if at + size < to_a and other + size < to_b:
            ranges.append((at + size, to_a, other + size, to_b))
    pairs.sort()
    return pairs, is_exact


def _by_bits(a: list[int], b: list[int], of_a: range, of_b: range) -> Iterator[tuple[int, int]]:
    """Yield the pairs of the longest common subsequence, the last first. A row of the table of lengths is one
    integer with a 0 where the length grows (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004)."""
    masks: dict[int, int] = defaultdict(int)
    for column, other in enumerate(of_b):
        masks[b[other]] |= 1 << column
    row = every = (1 << len(of_b)) - 1
    rows = [row]
    for at in of_a:
        equal = row & masks.get(a[at], 0)
        row = ((row + equal) | (row - equal)) & every
        rows.append(row)
    left, column = len(of_a), len(of_b)
    while left and column:
        if rows[left] >> (column - 1) & 1:
            column -= 1
            continue
        left -= 1
        if rows[left] >> (column - 1) & 1:
            column -= 1
            yield of_a[left], of_b[column]


def _by_occurrence(a: list[int], b: list[int], of_a: range, of_b: range) -> list[tuple[int, int]]:
    """Pair the nth occurrence of each item with the nth of the other; return the longest ascending part."""
    places: dict[int, deque[int]] = defaultdict(deque)
    for other in of_b:
        places[b[other]].append(other)
    return ascending([(at, places[a[at]].popleft()) for at in of_a if places.get(a[at])])


def ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs that ascends in the second index; the first ascends already.

    Example:
        >>> ascending([(0, 5), (1, 1), (2, 2), (3, 0)])
        [(1, 1), (2, 2)]
    """
    last: list[int] = []
    """The smallest second index that ends a part of each length."""
    ends: list[int] = []
    before = [-1] * len(pairs)
    for at, (_, other) in enumerate(pairs):
        length = bisect_left(last, other)
        before[at] = ends[length - 1] if length else -1
        if length == len(last):
            last.append(other)
            ends.append(at)
        else:
            last[length], ends[length] = other, at
    found, at = [], ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


# Calls of two runs with equal keys count as the same call. A key consists of the kind of the tool and the
# target, so it is the same for `Bash` of one agent and `shell` of another. Ids, hashes, temporary paths,
# numbers, the working directory and the home folder are levelled, because they differ between two runs of the
# same task.

_MOST_CHARACTERS = 2000
"""The part of a target that is compared. Longer targets are scripts, which seldom differ only later."""
_OF_FILES = frozenset((ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_TEMPORARY = re.compile(
    r"""(?<![\w.~-])(?:/private)?/(?:tmp|var/tmp|dev/shm|var/folders/[^/\s]{1,10}/[^/\s]{1,60}/T)"""
    r"""/[^\s"'`;|&<>()]{1,400}"""
    r"""|(?<!\w)[A-Za-z]:[\\/]Users[\\/][^\\/\s]{1,60}[\\/]AppData[\\/]Local[\\/]Temp[\\/][^\s"'`;|&<>()]{1,400}"""
)
_HOME = re.compile(r"""(?<![\w.~-])(?:/(?:home|Users)/[^/\s"'`;|&<>():]{1,64}|/root(?![\w.-]))""")
_OF_TEMPORARY = ("/tmp/", "/shm/", "/folders/", "AppData")  # noqa: S108 - no file
_OF_HOME = ("/home/", "/Users/", "/root")
"""Each text with such a path contains one of these."""
_MASK = re.compile(r"\[((?:secret:)?[a-z -]{1,40}) [0-9a-f]{4}\]|(user)-[0-9a-f]{4}(?![0-9A-Za-z])")
"""The mask of a secret in a redacted recording. Its digits differ from recording to recording."""
_NUMBER = re.compile(r"(?<![A-Za-z_0-9])[0-9]+")
_LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{5,20}(?![0-9])")
"""A number in the name of a file that is a time or a process; `0001.sql` and `0002.sql` are two files."""
_STAYS = re.compile(r"""cd[ ]["']?\.["']?[ ]?(?:&&|;)[ ]?""")
"""A `cd` to the current folder, after runs of spaces are joined."""
_NAME_OF_TEMPORARY = "tmp"
"""The beginning of random names by `tempfile` and `mktemp`."""


class Key(NamedTuple):
    tool: str
    """The kind of the tool; if the kind is unknown, also the name."""
    target: str
    subject: str
    """The main part of the target: the name of the file, or the program. Empty if unknown."""


def keys_of(session: Session, most: int) -> list[Key]:
    """Return the keys of the first calls of a session, at most `most`; 10 µs each."""
    found, known = [], dict[tuple[object, ...], Key]()
    for call in session.calls[:most]:
        facts = call.run, call.kind, call.tool, call.path, call.target
        key = known.get(facts)  # agents touch a file ten times, and repeat their commands
        if key is None:
            run = session.runs[call.run - 1] if 0 < call.run <= len(session.runs) else session.run
            key = known[facts] = key_of(call, run.cwd)
        found.append(key)
    return found


def key_of(call: Call, cwd: str | None) -> Key:
    tool = f"{call.kind} {call.tool.casefold()}" if call.kind is ToolKind.OTHER else str(call.kind)
    if call.kind in _OF_FILES and (path := call.path or call.target):
        target = levelled_path(path, cwd)
        return Key(tool, target, target.rpartition("/")[2])
    target = levelled(call.target or "", cwd)
    return Key(tool, target, target.partition(" ")[0] if call.kind is ToolKind.EXECUTE else "")


def levelled(text: str, cwd: str | None = None) -> str:
    """Return a command or another target with what differs from run to run levelled.

    Example:
        >>> levelled("cd /home/ada && kill 4711; cat /tmp/tmpx81k/out.txt", "/home/ada")
        'kill <n>; cat <tmp>/out.txt'
        >>> levelled("git show 3f9c2ab", None)
        'git show <hash>'
    """
    text = " ".join(_without(text[:_MOST_CHARACTERS], cwd).split())
    while (found := _STAYS.match(text)) is not None:
        text = text[found.end() :]
    return _NUMBER.sub("<n>", _level(text))


def levelled_path(path: str, cwd: str | None = None) -> str:
    """Return a path relative to the working directory, with random names levelled.

    Example:
        >>> levelled_path("/home/ada/src/../app.py", "/home/ada"), levelled_path("db/0001.sql", "/home/ada")
        ('app.py', 'db/0001.sql')
    """
    shown = named(path[:_MOST_CHARACTERS], cwd)[1]
    if is_windows(path) or is_windows(cwd or ""):
        shown = _level(shown).replace("\\", "/")
    return _LONG_NUMBER.sub("<n>", _level(shown))


def _level(text: str) -> str:
    # A search for a literal takes a tenth of the time of a pattern.
    if "[" in text or "user-" in text:
        text = _MASK.sub(lambda found: f"<{found[1] or found[2]}>", text)
    if any(literal in text for literal in _OF_TEMPORARY):
        text = _TEMPORARY.sub(_temporary, text)
    if any(literal in text for literal in _OF_HOME):
        text = _HOME.sub("~", text)
    if "-" in text:
        text = _UUID.sub("<uuid>", text)
    return _HASH.sub(_hash, text)


def _temporary(found: re.Match[str]) -> str:
    name = found[0].replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "<tmp>" if name.startswith(_NAME_OF_TEMPORARY) else f"<tmp>/{name}"


def _hash(found: re.Match[str]) -> str:
    """Return the replacement of a possible hash. Only a mix of digits and letters is a hash."""
    return found[0] if found[0].isdigit() or found[0].isalpha() else "<hash>"


def _without(text: str, cwd: str | None) -> str:
    """Return a text in which paths below the working directory are relative, and the directory is `.`."""
    whole = (cwd or "").rstrip("/\\")
    for folder in dict.fromkeys((whole, without_private(whole))):
        if len(folder) > 1 and folder in text:
            text = _joined(text.split(folder), folder)
    return text


def _joined(pieces: list[str], folder: str) -> str:
    """Join the pieces of a text around a folder, which is removed where it is a path of its own."""
    words = [pieces[0]]
    for before, piece in itertools.pairwise(pieces):
        is_start = not (before[-1:].isalnum() or before[-1:] in ("_", "-", ".", "/"))
        if is_start and piece[:1] in ("/", "\\") and piece[1:2].strip():
            words.append(piece[1:])
        elif is_start and not (piece[:1].isalnum() or piece[:1] in ("_", "-", ".")):
            words.append(f".{piece}")
        else:
            words.append(f"{folder}{piece}")
    return "".join(words)


_MOST_REPLACED = 50
"""The calls of one side that are paired at a time where the runs differ; 50 by 50 take 0.6 ms."""
_SAME_TOOL, _SAME_SUBJECT = 2, 1


class Match(StrEnum):
    EQUAL = "equal"
    """Both calls have the same key, at the same place."""
    MOVED = "moved"
    REPLACED = "replaced"
    """Both calls have the same tool at the same place, and different targets."""
    ONLY_A = "only_a"
    ONLY_B = "only_b"


class Step(NamedTuple):
    """A call of one run, or a pair of matching calls."""

    match: Match
    a: int | None
    """The index of the call of the first run; None if it has no such call."""
    b: int | None
    """The index of the call of the second run; None if it has no such call."""


class Alignment(NamedTuple):
    """The calls of two runs side by side."""

    steps: list[Step]
    """The steps in the order of both runs. A moved call is at the earlier of its two places."""
    is_exact: bool
    """Whether the alignment is accurate; very repetitive runs are aligned by a simpler rule."""


def aligned(a: Sequence[Key], b: Sequence[Key]) -> Alignment:
    """Align the calls of two runs by their keys.

    Two runs of 1,000 calls take 20 ms, two of 10,000 at most 0.5 s, two of 100,000 1.5 s, whatever the calls
    are.

    Example:
        >>> read, edit, test = (Key(tool, "a.py", "a.py") for tool in ("read", "edit", "execute"))
        >>> [step.match.value for step in aligned([read, test], [read, edit, test]).steps]
        ['equal', 'only_b', 'equal']
    """
    found = matching([key[:2] for key in a], [key[:2] for key in b])
    return Alignment([*_Steps(a, b, found.pairs).all()], found.is_exact)


class _Steps:
    """Adds the other calls between the equal ones."""

    def __init__(self, a: Sequence[Key], b: Sequence[Key], pairs: list[tuple[int, int]]) -> None:
        self._a, self._b, self._pairs = a, b, pairs
        self._to_b: dict[int, int] = {}
        """The calls that were moved."""
        self._to_a: dict[int, int] = {}
        self._is_placed: set[int] = set()
        """The indices in the first run of the moved calls that already have a step."""

    def all(self) -> Iterator[Step]:
        self._find_moved()
        next_a = next_b = 0
        for at, other in (*self._pairs, (len(self._a), len(self._b))):
            yield from self._between(range(next_a, at), range(next_b, other))
            if at < len(self._a):
                yield Step(Match.EQUAL, at, other)
            next_a, next_b = at + 1, other + 1

    def _find_moved(self) -> None:
        """Pair the calls without a partner that have the same key; the nth such call with the nth."""
        paired_a, paired_b = {at for at, _ in self._pairs}, {other for _, other in self._pairs}
        places: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
        for other, key in enumerate(self._b):
            if other not in paired_b:
                places[key[:2]].append(other)
        for at, key in enumerate(self._a):
            if at not in paired_a and (found := places.get(key[:2])):
                other = found.popleft()
                self._to_b[at], self._to_a[other] = other, at

    def _between(self, of_a: range, of_b: range) -> Iterator[Step]:
        next_a, next_b = of_a.start, of_b.start
        for at, other in (*self._replaced(of_a, of_b), (of_a.stop, of_b.stop)):
            yield from (step for left in range(next_a, at) for step in self._alone_a(left))
            yield from (step for left in range(next_b, other) for step in self._alone_b(left))
            if at < of_a.stop:
                yield Step(Match.REPLACED, at, other)
            next_a, next_b = at + 1, other + 1

    def _alone_a(self, at: int) -> Iterator[Step]:
        if at not in self._to_b:
            yield Step(Match.ONLY_A, at, None)
        elif at not in self._is_placed:
            self._is_placed.add(at)
            yield Step(Match.MOVED, at, self._to_b[at])

    def _alone_b(self, other: int) -> Iterator[Step]:
        at = self._to_a.get(other)
        if at is None:
            yield Step(Match.ONLY_B, None, other)
        elif at not in self._is_placed:
            self._is_placed.add(at)
            yield Step(Match.MOVED, at, other)

    def _replaced(self, of_a: range, of_b: range) -> Iterator[tuple[int, int]]:
        left_a = [at for at in of_a if at not in self._to_b]
        left_b = [other for other in of_b if other not in self._to_a]
        for start in range(0, min(len(left_a), len(left_b)), _MOST_REPLACED):
            some_a, some_b = left_a[start : start + _MOST_REPLACED], left_b[start : start + _MOST_REPLACED]
            keys_a, keys_b = [self._a[at] for at in some_a], [self._b[other] for other in some_b]
            yield from ((some_a[row], some_b[column]) for row, column in _best_pairs(keys_a, keys_b))


def _best_pairs(a: list[Key], b: list[Key]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of the same tool, ascending, with as many equal subjects as possible."""
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    """The best sum of pairs of the calls from each pair of indices on."""
    for row in range(len(a) - 1, -1, -1):
        here, below, key = best[row], best[row + 1], a[row]
        for column in range(len(b) - 1, -1, -1):
            score = max(below[column], here[column + 1])
            if (alike := _alike(key, b[column])) and (paired := below[column + 1] + alike) > score:
                score = paired
            here[column] = score
    row = column = 0
    while row < len(a) and column < len(b):
        alike = _alike(a[row], b[column])
        if alike and best[row][column] == best[row + 1][column + 1] + alike:
            yield row, column
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1


def _alike(a: Key, b: Key) -> int:
    if a.tool != b.tool:
        return 0
    return _SAME_TOOL + (_SAME_SUBJECT if a.subject and a.subject == b.subject else 0)
