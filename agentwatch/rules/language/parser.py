"""Splits and reads a rule: words, `field:glob`, `field>number`, `-term`, `OR` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from agentwatch.rules.language.conditions import Comparison, Condition, Glob, Not, Several, TimesOfDay, Word
from agentwatch.rules.language.errors import RuleError, did_you_mean, meant_by, quoted
from agentwatch.rules.language.matchers import name_matcher, pattern_matcher
from agentwatch.rules.language.vocabulary import (
    Field,
    Measure,
    Vocabulary,
    is_time_of_day,
    number,
    seconds_of_day,
)

MOST_CHARACTERS = 4000
_HEAD = re.compile(r"([A-Za-z_][A-Za-z_0-9-]{0,40})(:|>=|<=|>|<)")
PATTERN = "re:/"
"""The beginning of a regular expression."""


class _Sign(Enum):
    OPEN = auto()
    CLOSE = auto()
    OR = auto()
    NOT = auto()
    TERM = auto()


class Token(NamedTuple):
    sign: _Sign
    at: int
    name: str = ""
    """The field of a term; empty for a word without a field."""
    operator: str = ""
    """`:`, `>`, `>=`, `<` or `<=`; empty for a word without a field."""
    value: str = ""
    is_quoted: bool = False
    is_pattern: bool = False
    """Whether the value is a regular expression: `re:/…/`."""


def tokens(text: str) -> list[Token]:
    """Split a rule. A parenthesis groups only at the beginning of a word: `f(x)` is a word. A word that
    begins with `--` is text. Raise `RuleError` for a rule that is too long or has an unclosed part."""
    if len(text) > MOST_CHARACTERS:
        raise RuleError(f"a rule has at most {MOST_CHARACTERS:,} characters, this one has {len(text):,}")
    found: list[Token] = []
    at = depth = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif char == "(":
            found.append(Token(_Sign.OPEN, at))
            depth += 1
            at += 1
        elif char == ")" and depth:
            found.append(Token(_Sign.CLOSE, at))
            depth -= 1
            at += 1
        elif char == "-" and text[at + 1 : at + 2] != "-":
            if not text[at + 1 : at + 2].strip():
                raise RuleError('"-" needs a term after it, without a blank', at)
            found.append(Token(_Sign.NOT, at))
            at += 1
        else:
            token, at = _term(text, at, depth)
            found.append(token)
    return found


def _term(text: str, start: int, depth: int) -> tuple[Token, int]:
    head = _HEAD.match(text, start)
    if head is None or _is_address(text, head.end(), head[1]) or text.startswith(PATTERN, start):
        value, end, is_quoted, is_pattern = _value(text, start, depth)
        if value == "OR" and not is_quoted:
            return Token(_Sign.OR, start), end
        return Token(_Sign.TERM, start, "", "", value, is_quoted, is_pattern), end
    if text.startswith("(", head.end()):
        raise RuleError(f"write ({head[1]}{head[2]}… OR {head[1]}{head[2]}…)", start)
    value, end, is_quoted, is_pattern = _value(text, head.end(), depth)
    return Token(_Sign.TERM, start, head[1].lower(), head[2], value, is_quoted, is_pattern), end


def _is_address(text: str, at: int, name: str) -> bool:
    """Return whether a colon belongs to a text: `https://…`, `C:\\src`."""
    return text.startswith("//", at) or (len(name) == 1 and text[at : at + 1] in ("\\", "/"))


def _value(text: str, start: int, depth: int) -> tuple[str, int, bool, bool]:
    """Return a value, the offset after it, and whether it is quoted, or a regular expression."""
    if text.startswith('"', start):
        value, end = _until(text, start + 1, '"', start)
        _ends_word(text, end, depth)
        return value, end, True, False
    if text.startswith(PATTERN, start):
        value, end = _until(text, start + len(PATTERN), "/", start)
        _ends_word(text, end, depth)
        return value, end, True, True
    end = start
    inner = 0
    while end < len(text) and not text[end].isspace():
        if text[end] == "(":
            inner += 1
        elif text[end] == ")":
            if not inner:
                break
            inner -= 1
        end += 1
    if not depth and text.startswith(")", end):
        raise RuleError('a ")" has no "("; quote a word with ")" in it', end)
    return text[start:end], end, False, False


def _ends_word(text: str, at: int, depth: int) -> None:
    """Check that nothing follows a quote: `"a"b` would be two words."""
    if at < len(text) and not text[at].isspace() and not (text[at] == ")" and depth):
        raise RuleError(f"{quoted(text[at:])} follows a quote without a blank", at)


def _until(text: str, at: int, sign: str, start: int) -> tuple[str, int]:
    r"""Return the text up to a sign, and the offset after it. `\` escapes the sign and `\`; a quote loses
    it."""
    pieces: list[str] = []
    while (char := text[at : at + 1]) != sign:
        if not char:
            what = "a quote" if sign == '"' else "a regular expression"
            raise RuleError(f"{what} has no end: {quoted(text[start:])}", start)
        if char == "\\" and (following := text[at + 1 : at + 2]) in (sign, "\\"):
            char = following if sign == '"' else char + following
            at += 1
        pieces.append(char)
        at += 1
    return "".join(pieces), at + 1


_MOST_DEPTH = 50
_OTHER_SIGNS = {
    **dict.fromkeys(("AND", "and", "&&", "&"), "terms that follow each other must all be true: leave it out"),
    **dict.fromkeys(("or", "||", "|"), "write OR"),
    **dict.fromkeys(("NOT", "not", "!"), "write -term"),
}
"""Signs of other languages, and what to write instead."""
_SIGN_AND_FIELD = re.compile(r"[!+-]{1,3}([A-Za-z_][A-Za-z_0-9]{0,40})[:<>]")
"""A field after a sign that rules do not have: `!tool:edit`, `--tool:edit`."""
_MOST_MISTAKES = 20


def parse(text: str, vocabulary: Vocabulary, *, allows_patterns: bool = False) -> Condition:
    """Read a rule.

    Terms that follow each other must all be true. `OR` has lower precedence: `a b OR c` is `(a b) OR c`.
    `allows_patterns` says whether the rule may contain regular expressions, as in files. Raise `RuleError` if
    the rule is empty or incomplete, or it uses a field or a value that does not exist.

    Example:
        >>> from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary
        >>> fields = Vocabulary.of([Field("tool", Measure.NAME, "the tool")])
        >>> sorted(parse("tool:edit OR -tool:read", fields).fields)
        ['tool']
    """
    return _Parser(tokens(text), vocabulary, allows_patterns=allows_patterns).parsed()


class _Parser:
    def __init__(self, found: Sequence[Token], vocabulary: Vocabulary, *, allows_patterns: bool) -> None:
        self._tokens = found
        self._at = 0
        self._vocabulary = vocabulary
        self._allows_patterns = allows_patterns

    def parsed(self) -> Condition:
        if not self._tokens:
            raise RuleError("the rule is empty")
        return self._alternatives(0)

    def _next(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _alternatives(self, depth: int) -> Condition:
        """Read conditions with `OR` between them, up to `)` or the end."""
        if depth > _MOST_DEPTH:
            raise RuleError(
                f"parentheses are nested at most {_MOST_DEPTH} deep", self._tokens[self._at - 1].at
            )
        parts = [self._conjunction(depth)]
        while (token := self._next()) is not None and token.sign is _Sign.OR:
            self._at += 1
            parts.append(self._conjunction(depth))
        return parts[0] if len(parts) == 1 else Several(tuple(parts), is_any=True)

    def _conjunction(self, depth: int) -> Condition:
        parts: list[Condition] = []
        alternatives: list[Condition] = []
        while (token := self._next()) is not None and token.sign not in (_Sign.OR, _Sign.CLOSE):
            part = self._factor(depth)
            words = self._vocabulary.alternatives
            is_alternative = isinstance(part, Word) and not part.is_quoted and part.text in words
            (alternatives if is_alternative else parts).append(part)
        if alternatives:
            parts.append(
                alternatives[0] if len(alternatives) == 1 else Several(tuple(alternatives), is_any=True)
            )
        if not parts:
            raise _missing(self._next(), self._tokens[self._at - 1] if self._at else None)
        return parts[0] if len(parts) == 1 else Several(tuple(parts), is_any=False)

    def _factor(self, depth: int) -> Condition:
        token = self._tokens[self._at]
        self._at += 1
        if token.sign is _Sign.NOT:
            following = self._next()
            if following is None or following.sign in (_Sign.OR, _Sign.CLOSE):
                raise RuleError('"-" needs a term after it', token.at)
            return Not(self._factor(depth))
        if token.sign is not _Sign.OPEN:
            return self._term(token)
        part = self._alternatives(depth + 1)
        if self._next() is None:
            raise RuleError('a "(" has no ")"', token.at)
        self._at += 1
        return part

    def _term(self, token: Token) -> Condition:
        if token.is_pattern and not self._allows_patterns:
            raise RuleError("re:/…/ is allowed only in rule files", token.at)
        if not token.name:
            if token.is_pattern:
                raise RuleError("re:/…/ needs a field: command:re:/…/", token.at)
            if not token.value:
                raise RuleError('"" is empty', token.at)
            self._check_word(token)
            if not token.is_quoted and (found := _times_of_day(token)) is not None:
                return found
            is_text = token.is_quoted and self._vocabulary.quotes_text
            return Word(token.value.lower(), is_text, cost=self._vocabulary.word_cost)
        field = self._field(token)
        if not token.value:
            raise RuleError(f'"{token.name}{token.operator}" needs a value{_for_example(field)}', token.at)
        if field.measure.is_number:
            if token.is_pattern:
                raise RuleError(f"{field.name} is a number{_for_example(field)}", token.at)
            return Comparison(field, token.operator, number(token.value, field.measure, field.name, token.at))
        if token.operator != ":":
            raise RuleError(f'{field.name} is compared with ":"{_for_example(field)}', token.at)
        if token.is_pattern:
            begin = token.at + len(f"{token.name}:{PATTERN}")
            return Glob(field, token.value, pattern_matcher(token.value, begin))
        if field.is_closed and not any(map(name_matcher(token.value), field.values)):
            hint = did_you_mean(token.value, field.values) or f": it is {', '.join(field.values)}"
            raise RuleError(f"{field.name} is never {quoted(token.value)}{hint}", token.at)
        is_part = field.measure is Measure.TEXT and any(token.value.lower() in each for each in field.values)
        if not token.is_quoted and not is_part and (meant := meant_by(token.value, field.values)):
            raise RuleError(
                f"{field.name} is never {quoted(token.value)} (did you mean {meant}?); if it is, quote it",
                token.at,
            )
        if field.measure is Measure.NAME and "," in token.value and not token.is_quoted:
            each = " OR ".join(f"{field.name}:{value}" for value in token.value.split(",", 2)[:2])
            raise RuleError(f"{field.name} has one value: write ({each})", token.at)
        return Glob(field, token.value)

    def _check_word(self, token: Token) -> None:
        """Check that a word without a field is not a sign of another language."""
        if token.is_quoted:
            return
        following = self._next()
        is_between = self._at > 1 and following is not None and following.sign is not _Sign.CLOSE
        negates = following is not None and (following.name or following.sign is not _Sign.TERM)
        if token.value in _OTHER_SIGNS and (is_between or _is_not(token.value, negates=bool(negates))):
            raise RuleError(f'{_OTHER_SIGNS[token.value]}, or quote it: "{token.value}"', token.at)
        before = self._tokens[self._at - 2] if self._at > 1 else None
        if token.value[0] in ":<>" and before is not None and before.value.lower() in self._vocabulary.fields:
            raise RuleError(f"write {before.value}{token.value[0]}… without a blank", before.at)
        head = _SIGN_AND_FIELD.match(token.value)
        if head is not None and head[1].lower() in self._vocabulary.fields:
            raise RuleError(f'write -{head[1]}…, or quote it: "{token.value}"', token.at)
        name, sign, _ = token.value.partition("=")
        field = self._vocabulary.fields.get(name.rstrip("!~=").lower())
        if sign and field is not None:
            raise RuleError(f'{field.name} is not compared with "="{_for_example(field)}', token.at)

    def _field(self, token: Token) -> Field:
        field = self._vocabulary.fields.get(token.name)
        if field is not None:
            return field
        where = self._vocabulary.elsewhere.get(token.name)
        if where is not None:
            raise RuleError(f'"{token.name}" is a field of {where}', token.at)
        also = self._vocabulary.synonyms.get(token.name)
        if token.name == "time" or is_time_of_day(token.value):
            range_ = token.value if _TIMES.fullmatch(token.value) else "09:00..09:10"
            also = f"{also}, or {range_}" if also else range_
        known = f" (did you mean {also}?)" if also else did_you_mean(token.name, self._vocabulary.fields)
        hint = known or f'; quote a word with "{token.operator}" in it'
        raise RuleError(f'unknown field "{token.name}"{hint}', token.at)


_TIMES = re.compile(r"([0-9:]{0,8})\.\.([0-9:]{0,8})")


def _times_of_day(token: Token) -> TimesOfDay | None:
    """Return the times of `09:00..09:10`, of which one may be left out; None for another word. Raise
    `RuleError` if a time is out of range."""
    found = _TIMES.fullmatch(token.value)
    if found is None or ":" not in token.value:
        return None
    times = [seconds_of_day(words or other) for words, other in zip(found.groups(), _DAY, strict=True)]
    for words, time in zip(found.groups(), times, strict=True):
        if time is None:
            raise RuleError(f"{quoted(words)} is not a time of day, such as 09:00 or 09:00:30", token.at)
    first, last = (time or 0 for time in times)
    return TimesOfDay(first, last)


_DAY = ("00:00", "23:59:59")


def _is_not(word: str, *, negates: bool) -> bool:
    """Return whether a word is the negation of another language: `not tool:edit`; `not found` is a text."""
    return word == "NOT" or (word in ("not", "!") and negates)


def _for_example(field: Field) -> str:
    return f", for example {field.example}" if field.example else ""


def _missing(following: Token | None, before: Token | None) -> RuleError:
    if before is not None and before.sign is _Sign.OR:
        return RuleError("OR needs a term after it", before.at)
    if following is not None and following.sign is _Sign.OR:
        return RuleError("OR needs a term before it", following.at)
    return RuleError("parentheses need a term between them", before.at if before is not None else 0)


class Typed(NamedTuple):
    """The part of a rule that can be used."""

    words: str
    """The words before the first mistake."""
    condition: Condition | None
    """The condition of these words; None if there are no words."""
    problem: RuleError | None = None
    """The first mistake; None without one."""


def typed(text: str, vocabulary: Vocabulary) -> Typed:
    """Return the part of a rule before its first mistake: `failed` for `failed duration>5`."""
    problem, words = None, text
    for _ in range(_MOST_MISTAKES):
        if not words.strip():
            break
        try:
            return Typed(words, parse(words, vocabulary), problem)
        except RuleError as error:
            problem, words = problem or error, words[: error.at].rstrip()
    return Typed("", None, problem)
