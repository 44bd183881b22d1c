"""Splits the text of a shell command into words and signs, by the rules of POSIX shells and bash."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple

_PLAIN = re.compile(r"[^\s'\"\\;|&<>()`$]+")
_PLAIN_IN_QUOTES = re.compile(r'[^"\\`$]+')
_REDIRECTION = re.compile(r"[0-9]{0,3}(?:(&>>?|>>|>\||<>)|(<<<)|(<<-?)|[<>]&[0-9-]+|([<>]&?))")
_SEPARATOR = re.compile(r"&&|\|\||;;|[;|&)]")
_MOST_NESTED = 20
SUBSTITUTED: Final = "$"
"""The placeholder in a word for the text that a substitution would insert."""


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    """A word without its quotes."""
    FILE = auto()
    """The target of a redirection."""
    DOCUMENT = auto()
    """The text of a here-document or a here-string."""
    SEPARATOR = auto()
    """`;`, `|`, `&`, `&&`, `||`, a line end, or `)` without `(`."""
    OPEN = auto()
    """The beginning of a group or a substitution: `(`, `$(`, `<(` or a backquote."""
    CLOSE = auto()


class ShellToken(NamedTuple):
    """A word or a sign."""

    kind: Kind
    text: str


def shell_tokens(text: str) -> list[ShellToken]:
    """Split a command. Comments and arithmetic are left out.

    Example:
        >>> [token.text for token in shell_tokens("grep 'a b' x | wc")]
        ['grep', 'a b', 'x', '|', 'wc']
    """
    scanner = _Scanner(text)
    scanner.read()
    return scanner.found


class _Scanner:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.found: list[ShellToken] = []
        self._text = text
        self._at = 0
        self._word: str | None = None
        self._kind = Kind.WORD
        self._depth = 0
        self._documents: list[str] = []
        """The last lines of the here-documents that begin after this line."""

    def read(self, until: str = "") -> None:
        """Read up to a sign, or to the end."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == until:
                self._at += 1
                break
            if char == "\n":
                self._end_line()
            elif char.isspace():
                self._end_word()
                self._at += 1
            elif char == "#" and self._word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif not self._quote(char) and not self._group(char) and not self._sign():
                plain = _PLAIN.match(text, self._at)
                self._add(plain[0] if plain else char)
                self._at += len(plain[0]) if plain else 1
        self._end_word()

    def _quote(self, char: str) -> bool:
        """Read a quote or a character after `\\`, if one is next."""
        text, at = self._text, self._at
        if char == "'":
            end = text.find("'", at + 1)
            end = len(text) if end < 0 else end
            self._add(text[at + 1 : end])
            self._at = end + 1
        elif char == "\\":
            self._at += 2
            if text[at + 1 : at + 2] != "\n":
                self._add(text[at + 1 : at + 2])
        elif char == '"':
            self._at += 1
            self._add("")
            self._read_quoted()
        else:
            return False
        return True

    def _read_quoted(self) -> None:
        """Read up to the end of a double quote."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == '"':
                self._at += 1
                return
            if char == "\\":
                following = text[self._at + 1 : self._at + 2]
                kept = following if following in '"\\$`' else char + following
                self._add("" if following == "\n" else kept)
                self._at += 2
            elif not self._group(char):
                plain = _PLAIN_IN_QUOTES.match(text, self._at)
                self._add(plain[0] if plain else char)
                self._at += len(plain[0]) if plain else 1

    def _group(self, char: str) -> bool:
        """Read a substitution or a variable, if one is next; outside of quotes also `( )`."""
        text, at = self._text, self._at
        if char == "`":
            self._nested("`", "`")
        elif text.startswith("$((", at):
            self._skip_to("))")
            self._add(SUBSTITUTED)
        elif text.startswith("${", at):
            self._skip_to("}")
            self._add(text[at : self._at])
        elif text.startswith("$(", at):
            self._nested("$(", ")")
        elif char == "$":
            self._at += 1
            if text[at + 1 : at + 2] != "'":  # $'…' is a quote
                self._add(char)
        else:
            return False
        return True

    def _sign(self) -> bool:
        """Read a parenthesis, a redirection or a separator, if one is next."""
        text, at = self._text, self._at
        if text.startswith(("<(", ">("), at):
            self._nested(text[at : at + 2], ")")
        elif text[at] == "(":
            self._open()
        elif (self._word is None or text[at] in "<>&") and (found := _REDIRECTION.match(text, at)):
            self._end_word()
            self._at = found.end()
            if found[1] or found[4]:
                self._kind = Kind.FILE
            elif found[2]:
                self._kind = Kind.DOCUMENT
            elif found[3]:
                self._kind = Kind.SEPARATOR  # the word that ends a here-document
        elif found := _SEPARATOR.match(text, at):
            self._end_word()
            self.found.append(ShellToken(Kind.SEPARATOR, found[0]))
            self._at = found.end()
        else:
            return False
        return True

    def _open(self) -> None:
        """Read `(…)`: a subshell, arithmetic, the `()` of a function, or the words of an array."""
        if self._text.startswith("((", self._at):
            self._skip_to("))")
        elif self._word is not None and self._word.endswith("="):
            self._skip_to(")")
        else:
            self._end_word()
            self._nested("(", ")")

    def _nested(self, sign: str, until: str) -> None:
        """Read a group up to its end. A group that is nested too deeply is read without its parentheses."""
        self._at += len(sign)
        if self._depth >= _MOST_NESTED:
            self.found.append(ShellToken(Kind.SEPARATOR, sign))
            return
        before = self._word, self._kind
        self._word, self._kind = None, Kind.WORD
        self._depth += 1
        self.found.append(ShellToken(Kind.OPEN, sign))
        self.read(until)
        self.found.append(ShellToken(Kind.CLOSE, until))
        self._depth -= 1
        self._word, self._kind = before
        if sign != "(":
            self._add(SUBSTITUTED)
        else:  # `f() {` defines a function; a group is the end of a command anyway
            self.found.append(ShellToken(Kind.SEPARATOR, until))

    def _skip_to(self, end: str) -> None:
        found = self._text.find(end, self._at)
        self._at = len(self._text) if found < 0 else found + len(end)

    def _add(self, text: str) -> None:
        self._word = (self._word or "") + text

    def _end_word(self) -> None:
        word, kind = self._word, self._kind
        if word is None:
            return
        self._word, self._kind = None, Kind.WORD
        if kind is Kind.SEPARATOR:
            self._documents.append(word)
        else:
            self.found.append(ShellToken(kind, word))

    def _end_line(self) -> None:
        """Read the end of a line, and the here-documents that follow it."""
        self._end_word()
        self._at += 1
        for last in self._documents:
            lines = []
            while self._at < len(self._text):
                line, newline, _ = self._text[self._at :].partition("\n")
                self._at += len(line) + len(newline)
                if line.lstrip("\t") == last:
                    break
                lines.append(line)
            self.found.append(ShellToken(Kind.DOCUMENT, "\n".join(lines)))
        self._documents.clear()
        self.found.append(ShellToken(Kind.SEPARATOR, "\n"))
