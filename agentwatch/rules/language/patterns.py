"""Regular expressions that take linear time for any pattern and any text.

`re` may need exponential time for a pattern such as `(a+)+$`. These patterns run as a finite automaton, which
reads each character of a text once. They have no back references and no look-around.
"""

from __future__ import annotations

from agentwatch.rules.language.automaton import ACCEPT, Automaton, Place
from agentwatch.rules.language.errors import RuleError, quoted
from agentwatch.rules.language.letters import ANY, Letters, escaped_class, one, read_class
from agentwatch.rules.language.matchers import Matcher

MOST_TEXT = 4096
"""The first characters of a value are searched. The session keeps no longer values."""
_MOST_NODES = 300
"""The largest pattern: if all of it is active at each of 4,096 characters, a search takes 0.4 s."""
_MOST_REPEATS = 100
_MOST_DEPTH = 30
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def pattern_matcher(pattern: str, at: int = 0) -> Matcher:
    """Return whether a text contains a match of a regular expression. Upper and lower case are equal.

    Args:
        pattern: Characters, `.`, `[…]`, `\\d \\w \\s \\b`, `^`, `$`, `|`, `( )`, `* + ?` and `{m,n}`.
        at: The offset of the pattern in the rule, for the error.

    Raises:
        RuleError: The pattern has an unknown sign or is too large.

    Example:
        >>> matches = pattern_matcher(r"rm\\s+-[a-z]*r")
        >>> matches("sudo RM -fr /"), matches("rm file")
        (True, False)
    """
    automaton = Automaton(_MOST_NODES)
    start = _Reader(pattern, at, automaton).read()
    automaton.begin(start)
    return lambda text: automaton.finds(text[:MOST_TEXT].lower())


class _Reader:
    """Reads a pattern into an automaton, from left to right.

    The pattern becomes a tree. The automaton is built from the end of the pattern, so that the next node
    exists before each node.
    """

    def __init__(self, pattern: str, at: int, automaton: Automaton) -> None:
        self._pattern = pattern
        self._offset = at
        self._automaton = automaton
        self._at = 0

    def read(self) -> int:
        """Read the whole pattern, and return its first node."""
        tree = self._alternatives(0)
        if self._at < len(self._pattern):
            raise self._error('")" without "("')
        return self._built(tree, ACCEPT)

    def _alternatives(self, depth: int) -> _Tree:
        if depth > _MOST_DEPTH:
            raise self._error(f"parentheses are nested at most {_MOST_DEPTH} deep")
        branches = [self._sequence(depth)]
        while self._takes("|"):
            branches.append(self._sequence(depth))
        return branches[0] if len(branches) == 1 else _Tree("|", tuple(branches))

    def _sequence(self, depth: int) -> _Tree:
        parts: list[_Tree] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return _Tree("", tuple(parts))

    def _atom(self, depth: int) -> _Tree:
        char = self._pattern[self._at]
        self._at += 1
        match char:
            case "(":
                if self._takes("?") and not self._takes(":"):
                    raise self._error("only (?:…) may begin with (?")
                tree = self._alternatives(depth + 1)
                if not self._takes(")"):
                    raise self._error('"(" without ")"')
                return tree
            case "[":
                letters, self._at = read_class(self._pattern, self._at)
                if letters is None:
                    raise self._error('"[" without "]", or with a sign that is not supported')
                return _Tree("c", letters=letters)
            case ".":
                return _Tree("c", letters=ANY)
            case "^" | "$":
                return _Tree("p", place=Place.START if char == "^" else Place.END)
            case "\\":
                return self._escaped()
        if char in "*+?{":
            raise self._error(f'"{char}" has nothing to repeat')
        return _Tree("c", letters=one(char))

    def _escaped(self) -> _Tree:
        char = self._pattern[self._at : self._at + 1]
        self._at += 1
        if char in ("b", "B"):
            return _Tree("p", place=Place.EDGE if char == "b" else Place.NO_EDGE)
        letters = escaped_class(char)
        if letters is None:
            raise self._error(f'"\\{char}" is not supported')
        return _Tree("c", letters=letters)

    def _repeated(self, tree: _Tree) -> _Tree:
        char = self._pattern[self._at : self._at + 1]
        if not char or char not in "*+?{":
            return tree
        self._at += 1
        least, most = _QUANTIFIERS[char] if char in _QUANTIFIERS else self._bounds()
        self._takes("?")  # the shortest match is found as well as the longest
        return _Tree("*", (tree,), least=least, most=most)

    def _bounds(self) -> tuple[int, int | None]:
        end = self._pattern.find("}", self._at)
        least, comma, most = self._pattern[self._at : max(end, self._at)].partition(",")
        if end < 0 or not least.isdecimal() or not (most.isdecimal() or not most) or len(least + most) > 6:
            raise self._error("a repetition is {2}, {2,} or {2,5}")
        self._at = end + 1
        bounds = int(least), (int(most) if most else None) if comma else int(least)
        if max(bounds[0], bounds[1] or 0) > _MOST_REPEATS or (
            bounds[1] is not None and bounds[1] < bounds[0]
        ):
            raise self._error(f"a repetition is at most {_MOST_REPEATS} times")
        return bounds

    def _built(self, tree: _Tree, after: int) -> int:
        """Add the nodes of a tree that is followed by the node `after`; return its first node."""
        add = self._automaton
        if add.is_full:
            raise self._error("it is too large")
        match tree.sign:
            case "c":
                return add.letter(tree.letters, after)
            case "p":
                return add.place(tree.place, after)
            case "|":
                return add.fork(*(self._built(part, after) for part in tree.parts))
            case "*":
                return self._built_repeat(tree, after)
        for part in reversed(tree.parts):
            after = self._built(part, after)
        return after

    def _built_repeat(self, tree: _Tree, after: int) -> int:
        part = tree.parts[0]
        if tree.most is None:
            fork = self._automaton.fork(after)
            self._automaton.join(fork, self._built(part, fork))
            after = fork
        else:
            end = after
            for _ in range(tree.most - tree.least):
                after = self._automaton.fork(self._built(part, after), end)
        for _ in range(tree.least):
            before, after = after, self._built(part, after)
            if after == before:  # the part is empty: 100 times 100 times of nothing would take for ever
                break
        return after

    def _takes(self, sign: str) -> bool:
        if not self._pattern.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def _error(self, reason: str) -> RuleError:
        return RuleError(f"{quoted(f're:/{self._pattern}/')}: {reason}", self._offset)


class _Tree:
    """A piece of a pattern."""

    __slots__ = ("least", "letters", "most", "parts", "place", "sign")

    def __init__(
        self,
        sign: str,
        parts: tuple[_Tree, ...] = (),
        *,
        letters: Letters = ANY,
        place: Place = Place.START,
        least: int = 0,
        most: int | None = None,
    ) -> None:
        self.sign = sign
        """`c` for a character, `p` for a place, `|`, `*` for a repetition, empty for a sequence."""
        self.parts = parts
        self.letters = letters
        self.place = place
        self.least = least
        self.most = most
