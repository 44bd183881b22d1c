"""Splits a command into words and signs as POSIX shells and bash do, and finds the programs in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Final, NamedTuple

_PLAIN = re.compile(r"[^\s'\"\\;|&<>()`$]+")
_FILES = frozenset("<>")
_PLAIN_IN_QUOTES = re.compile(r'[^"\\`$}]+')
_REDIRECTION = re.compile(r"[0-9]{0,3}(?:(&>>?|>>|>\||<>)|(<<<)|(<<-?)|[<>]&[0-9-]+|([<>]&?))")
_SEPARATOR = re.compile(r"&&|\|\||;;?&?|\|&?|[&)]")
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|[uU]([0-9a-fA-F]{1,8})|(.))", re.DOTALL)
_PLAIN_ANSI = re.compile(r"[^'\\]+")
_ANSI_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "E": "\x1b", "a": "\a", "b": "\b"}
_PARENTHESIS = re.compile("[()]")
_MOST_PARENTHESES = 16
"""Parentheses of arithmetic that are paired. `((` with more is read as two groups."""
_MOST_CODE = 0x10FFFF
MOST_NESTED: Final = 20
SUBSTITUTED: Final = "$"
"""The placeholder in a word for the text that a substitution would insert."""


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    """A word without its quotes."""
    OUTPUT = auto()
    """The file that a redirection writes."""
    INPUT = auto()
    """The file that a redirection reads."""
    DOCUMENT = auto()
    """The text of a here-document or a here-string, in the place of its `<<` and the word after it."""
    SEPARATOR = auto()
    """`;`, `|`, `&`, `&&`, `||`, a line end, or `)` without `(`; `|` stands for `|&` too."""
    OPEN = auto()
    """The beginning of a group or a substitution: `(`, `$(`, `<(`, `>(`, `=(` of an array, or a backquote."""
    CLOSE = auto()


class ShellToken(NamedTuple):
    """A word or a sign, and its place in the text."""

    kind: Kind
    text: str
    start: int
    end: int


class ShellText(NamedTuple):
    """The words and signs of a text."""

    tokens: list[ShellToken]
    is_whole: bool
    """Whether every quote, substitution and group has its end, and none is nested too deeply."""


def shell_tokens(text: str) -> ShellText:
    """Split a text, in linear time. Comments and arithmetic are left out.

    Example:
        >>> [token.text for token in shell_tokens("grep 'a b' x | wc").tokens]
        ['grep', 'a b', 'x', '|', 'wc']
    """
    scanner = _Scanner(text)
    scanner.read()
    return ShellText(scanner.found, scanner.is_whole)


class _Scanner:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.found: list[ShellToken] = []
        self.is_whole = True
        self._text = text
        self._at = 0
        self._word: list[str] | None = None
        """The parts of the present word."""
        self._start = 0
        """The beginning of the present word."""
        self._kind = Kind.WORD
        self._depth = 0
        self._sought = False, 0
        """The here-document whose last line is the next word: whether it has `<<-`, and its token."""
        self._documents: list[tuple[str, bool, int]] = []
        """The here-documents that begin after this line: the last line, `<<-`, and the token."""

    def read(self, until: str = "") -> None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            plain = None if char == "#" and self._word is None else _PLAIN.match(text, self._at)
            if plain is not None and not (
                text[plain.end() : plain.end() + 1] in _FILES and plain[0].isdigit()
            ):
                self._add(plain[0], len(plain[0]))
            elif char == until:
                self._end_word()
                self._at += 1
                return
            elif char == "\n":
                self._end_line()
            elif char.isspace():
                self._end_word()
                self._at += 1
            elif char == "#" and self._word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif not self._quote(char) and not self._group(char) and not self._sign():
                self._add(char, 1)
        self._end_word()
        self.is_whole = self.is_whole and not until

    def _quote(self, char: str) -> bool:
        """Read a quote or a character after `\\`, if one is next."""
        text, at = self._text, self._at
        if char == "'":
            end = text.find("'", at + 1)
            self.is_whole = self.is_whole and end >= 0
            end = len(text) if end < 0 else end
            self._add(text[at + 1 : end], min(end + 1, len(text)) - at)
        elif char == "\\":
            following = text[at + 1 : at + 2]
            if following == "\n":
                self._at += 2
            else:
                self._add(following, 1 + len(following))
        elif char == '"':
            self._add("", 1)
            self._read_quoted('"')
        elif text.startswith("$'", at):
            self._add("", 2)
            self._read_ansi()
        else:
            return False
        return True

    def _read_quoted(self, until: str) -> None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == until:
                self._at += 1
                return
            if char == "\\":
                following = text[self._at + 1 : self._at + 2]
                kept = following if following in '"\\$`' else char + following
                self._add("" if following == "\n" else kept, 1 + len(following))
            elif not self._group(char):
                plain = _PLAIN_IN_QUOTES.match(text, self._at)
                self._add(plain[0] if plain else char, len(plain[0]) if plain else 1)
        self.is_whole = False

    def _read_ansi(self) -> None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == "'":
                self._at += 1
                return
            found = _ANSI.match(text, self._at) if char == "\\" else _PLAIN_ANSI.match(text, self._at)
            part = char if found is None else found[0]
            self._add(_unescaped(found) if found and char == "\\" else part, len(part))
        self.is_whole = False

    def _group(self, char: str) -> bool:
        """Read a substitution or a variable, if one is next; outside of quotes also `( )`."""
        text, at = self._text, self._at
        if char == "`":
            self._nested("`", "`")
        elif char != "$":
            return False
        elif text.startswith("$((", at) and (end := self._arithmetic(at + 1)):
            self._add(SUBSTITUTED, end - at)
        elif text.startswith("${", at):
            self._variable()
        elif text.startswith("$(", at):
            self._nested("$(", ")")
        elif text.startswith('$"', at) and self._word is None:
            self._at += 1
        else:
            self._add(char, 1)
        return True

    def _variable(self) -> None:
        """Read `${…}`. It is kept as it is; its default may have substitutions."""
        if self._depth >= MOST_NESTED:
            self.is_whole = False
            self._add("${", 2)
            return
        self._depth += 1
        self._add("${", 2)
        self._read_quoted("}")
        self._add("}", 0)
        self._depth -= 1

    def _sign(self) -> bool:
        """Read a parenthesis, a redirection or a separator, if one is next."""
        text, at = self._text, self._at
        if text.startswith(("<(", ">("), at):
            self._nested(text[at : at + 2], ")")
        elif text[at] == "(":
            self._open()
        elif (self._word is None or text[at] in "<>&") and (found := _REDIRECTION.match(text, at)):
            self._end_word()
            self._redirect(found)
        elif found := _SEPARATOR.match(text, at):
            self._end_word()
            self._kind = Kind.WORD
            self._sign_found(Kind.SEPARATOR, "|" if found[0] == "|&" else found[0], at, found.end())
            self._at = found.end()
        else:
            return False
        return True

    def _redirect(self, found: re.Match[str]) -> None:
        self._at = found.end()
        if found[1] or found[4]:
            self._kind = Kind.INPUT if found[4] == "<" else Kind.OUTPUT
        elif found[2]:
            self._kind = Kind.DOCUMENT
        elif found[3]:
            self._kind = Kind.SEPARATOR  # the word that ends a here-document
            self._sought = found[3] == "<<-", len(self.found)
            self._sign_found(Kind.DOCUMENT, "", found.start(), found.end())

    def _open(self) -> None:
        """Read `(…)`: a subshell, arithmetic, the `()` of a function, or the words of an array."""
        if self._text.startswith("((", self._at) and (end := self._arithmetic(self._at)):
            self._at = end
        elif self._word and self._word[-1].endswith("="):
            self._nested("(", ")", "=(")
        else:
            self._end_word()
            self._nested("(", ")")

    def _arithmetic(self, at: int) -> int:
        """Return the end of `((…))`; 0 if it is two groups."""
        depth = 0
        for count, found in enumerate(_PARENTHESIS.finditer(self._text, at)):
            depth += 1 if found[0] == "(" else -1
            if depth == 1 and found[0] == ")":
                return found.end() + 1 if self._text.startswith(")", found.end()) else 0
            if count == _MOST_PARENTHESES:
                return 0
        return 0

    def _nested(self, sign: str, until: str, name: str = "") -> None:
        """Read a group up to its end. A group that is nested too deeply is read without its parentheses."""
        start = self._at
        self._at += len(sign)
        if self._depth >= MOST_NESTED:
            self.is_whole = False
            self._sign_found(Kind.SEPARATOR, sign, start, self._at)
            return
        before = self._word, self._kind, self._start, self._sought
        self._word, self._kind = None, Kind.WORD
        self._depth += 1
        self._sign_found(Kind.OPEN, name or sign, start, self._at)
        self.read(until)
        self._sign_found(Kind.CLOSE, until, self._at - 1, self._at)
        self._depth -= 1
        self._word, self._kind, self._start, self._sought = before
        if sign != "(":
            if self._word is None:
                self._start = start
            self._add(SUBSTITUTED, 0)
        elif not name:  # `f() {` defines a function; a group is the end of a command anyway
            self._sign_found(Kind.SEPARATOR, until, self._at, self._at)

    def _add(self, text: str, length: int) -> None:
        """Add a part of a word, which takes `length` characters of the text."""
        if self._word is None:
            self._word, self._start = [], (self._at if length else self._start)
        self._word.append(text)
        self._at += length

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, kind = "".join(self._word), self._kind
        self._word, self._kind = None, Kind.WORD
        if kind is Kind.SEPARATOR:
            is_indented, token = self._sought
            self._documents.append((word, is_indented, token))
            self.found[token] = self.found[token]._replace(end=self._at)
        else:
            self._sign_found(kind, word, self._start, self._at)

    def _sign_found(self, kind: Kind, text: str, start: int, end: int) -> None:
        self.found.append(ShellToken(kind, text, start, end))

    def _end_line(self) -> None:
        """Read the end of a line, and the here-documents that follow it."""
        self._end_word()
        self._kind = Kind.WORD
        self._sign_found(Kind.SEPARATOR, "\n", self._at, self._at + 1)
        text, self._at = self._text, self._at + 1
        for last, is_indented, token in self._documents:
            start = self._at
            while self._at < len(text):
                begin = self._at
                end = text.find("\n", begin)
                self._at = len(text) if end < 0 else end + 1
                line = text[begin : self._at].removesuffix("\n")
                if (line.lstrip("\t") if is_indented else line) == last:
                    break
            else:
                begin = len(text)
            self.found[token] = self.found[token]._replace(text=text[start:begin])
        self._documents.clear()


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[3]
    if digits or escape[2]:
        code = int(digits, 16) if digits else int(escape[2], 8)
        return chr(code) if code <= _MOST_CODE else ""
    return _ANSI_CHARACTERS.get(escape[4], escape[4])


# The programs in a command.

MOST_READ_CHARACTERS = 2000
MOST_CACHED = 256
"""Commands whose parts are kept: finding them takes 20 µs, and each is asked for twice or more."""
WRAPPERS = frozenset(
    (
        *("npx", "npm", "pnpm", "yarn", "bun", "bunx", "uv", "poetry", "pipenv", "hatch", "pdm"),
        *("env", "time", "command", "exec", "nice", "sudo", "run", "dlx", "python", "python3", "-m"),
        *("timeout", "gtimeout", "stdbuf", "unbuffer", "xvfb-run"),
    )
)
"""Words before the program proper: `uv run`, `python -m`, `npx`."""
_NUMBER = re.compile(r"[0-9.]{1,12}[smhd]?$")
"""The value of an option of a wrapper, such as the seconds of `timeout`."""
_BLANKS = re.compile(r"(?:\\\n|[\s()])+")
_LAST = ShellToken(Kind.SEPARATOR, ";", 0, 0)
_ASKS = frozenset(
    (
        *("--version", "--help", "-h", "-v", "-V", "--init", "--showConfig", "--print-config"),
        *("-n", "--dry-run", "--just-print", "--env-info"),
    )
)
"""Options with which tsc, eslint and make check and build nothing."""
READERS = frozenset(
    (
        *("cat", "head", "tail", "less", "more", "bat", "grep", "rg", "ag", "sed", "awk", "cut", "sort"),
        *("ls", "find", "fd", "wc", "diff", "echo", "printf", "jq", "git", "gh", "cd", "true", "tee"),
    )
)
"""Programs that print existing text. A closing line in their output is not that of a test of this call."""


class Part(NamedTuple):
    program: str
    before: str
    """The operator before it; empty for the first program."""
    after: str
    """The operator after it; empty for the last program."""
    words: str
    """The program and its arguments, with one blank between two words."""


@lru_cache(MOST_CACHED)
def parts_of(command: str) -> tuple[Part, ...]:
    """Return the programs of a command with the operators between them, from its first 2,000 characters.

    Comments, here-documents, and wrappers, assignments and options before a program are skipped.

    Example:
        >>> [part.program for part in parts_of("cd web && CI=1 npx tsc --noEmit | tail -3")]
        ['cd', 'tsc', 'tail']
    """
    parts: list[Part] = []
    for part in segments_of(command):
        if part.program:
            parts.append(part)
        elif parts:
            parts[-1] = parts[-1]._replace(after=part.after)
    return tuple(parts)


@lru_cache(MOST_CACHED)
def segments_of(command: str) -> tuple[Part, ...]:
    """Return the parts of a command as `parts_of` does, also those that name no program, such as `CI=1`."""
    text = command[:MOST_READ_CHARACTERS]
    segments: list[Part] = []
    program, before, words, at = "", "", "", 0
    for kind, word, start, end in (*_outside_substitutions(shell_tokens(text).tokens), _LAST):
        if kind is not Kind.SEPARATOR:
            program = program or (_program(word) if kind is Kind.WORD else "")
            gap = _BLANKS.sub(" ", text[at:start]) if words else ""
            words, at = words + gap + ("" if text.startswith("<<", start) else text[start:end]), end
        elif words:
            segments.append(Part(program, before, word, words.strip()))
            program, before, words = "", word, ""
        elif word != "\n" and segments:
            segments[-1], before = segments[-1]._replace(after=word), word
    if segments:
        segments[-1] = segments[-1]._replace(after="")
    return tuple(segments)


def _outside_substitutions(tokens: Sequence[ShellToken]) -> Iterator[ShellToken]:
    """Yield the tokens that are in no substitution and no array, without the parentheses of groups."""
    depth, opened = 0, list[str]()
    for token in tokens:
        if token.kind is Kind.OPEN:
            opened.append(token.text)
            depth += token.text != "("
        elif token.kind is Kind.CLOSE:
            depth -= opened.pop() != "("
        elif not depth and not (token.kind is Kind.SEPARATOR and token.text == ")"):
            yield token


def main_program(command: str) -> str:
    """Return the program that a command is about: the first that does not only print what exists already.

    Example:
        >>> main_program("cd web && CI=1 npx tsc --noEmit | tail -3"), main_program("ls -l | head")
        ('tsc', 'ls')
    """
    programs = [part.program for part in parts_of(command)]
    return next((each for each in programs if each not in READERS), programs[0] if programs else "")


def only_reads(parts: Sequence[Part]) -> bool:
    """Return whether all programs of a command only print text that exists already."""
    return bool(parts) and {part.program for part in parts} <= READERS


def decides_exit(parts: Sequence[Part], programs: frozenset[str]) -> str | None:
    """Return which of some programs surely succeeded if the command exited with 0: tsc in `tsc && echo done`.
    None for `tsc | tail -3`, `tsc || true`, `tsc; echo done`, and `tsc --version`, which checks nothing."""
    for at, part in enumerate(parts):
        if part.program not in programs or not _ASKS.isdisjoint(part.words.split(" ")):
            continue
        follow = [other.after for other in parts[at:-1]]
        if part.before != "||" and all(sign == "&&" for sign in follow):
            return part.program
    return None


def _program(word: str) -> str:
    """Return the program that a word names; empty for a wrapper, an option or an assignment."""
    name = word.rpartition("/")[2]
    is_other = word.startswith("-") or "=" in word or name in WRAPPERS or _NUMBER.match(name) is not None
    return "" if is_other else name


_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
_FOLDER = "cd"


def first_program(command: str) -> str | None:
    """Return the name of the first program of a command; None if it is not a plain name.

    Assignments before it are skipped. A `cd` is skipped if another program follows. The arguments of the
    program, which may contain anything, are never returned.

    Example:
        >>> first_program("cd web && CI=1 /usr/bin/npx tsc --noEmit | tail -3")
        'npx'
    """
    text = command[:MOST_READ_CHARACTERS]
    tokens, is_whole = shell_tokens(text)
    found, is_argument = None, False
    for kind, word, _, end in _outside_substitutions(tokens):
        if kind is Kind.SEPARATOR:
            is_argument = False
        elif not is_argument and kind is Kind.WORD and not _is_assignment(word):
            is_open = not is_whole and end == len(text)  # a quotation without its end
            found, is_argument = (found if is_open else word.rpartition("/")[2]), True
            if is_open or found != _FOLDER:
                break
    return found if found is not None and _PLAIN_NAME.fullmatch(found) else None


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
