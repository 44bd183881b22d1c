"""Completes the last word of a rule while the user types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agentwatch.rules.language.parser import MOST_CHARACTERS
from agentwatch.rules.language.vocabulary import Field, Vocabulary

_FIELD = re.compile(r"([A-Za-z_]{1,40})(:|>=|<=|>|<)(.*)", re.DOTALL)
_NEEDS_QUOTES = re.compile(r"[\s\"()]")
_MOST_OFFERED = 50
_LEAST_WITHIN = 2
"""The number of letters from which values are searched anywhere; one letter must be their beginning."""


class Offer(NamedTuple):
    """A word with which a rule can continue."""

    text: str
    """The whole rule with this word at its end."""
    word: str
    """The word as it is shown: a field or a value."""
    about: str = ""
    field: str = ""
    """The field of a value."""


class Value(NamedTuple):
    word: str
    about: str = ""


Values = Callable[[str], Iterable[Value]]
"""Returns the values that a field has now."""


def offers(text: str, vocabulary: Vocabulary, values: Values = lambda _field: ()) -> list[Offer]:
    """Return completions of the last word of a rule: fields, outcomes, or values of its field.

    `text` is the rule up to the cursor. `values` returns values of a field beside those that the vocabulary
    names. Return at most 50 completions; none if the last word is empty or has no completion.

    Example:
        >>> from agentwatch.rules.language.vocabulary import Field, Measure
        >>> fields = Vocabulary.of([Field("tool", Measure.NAME, "the tool", ("edit", "read"))])
        >>> [offer.text for typed in ("-to", "tool:e") for offer in offers(typed, fields)]
        ['-tool:', 'tool:edit']
    """
    if len(text) > MOST_CHARACTERS:
        return []
    start = _last_word(text)
    before, word = text[:start], text[start:]
    typed = _FIELD.fullmatch(word)
    if typed is None:
        return _word_offers(before, word.lower(), vocabulary)
    field = vocabulary.fields.get(typed[1].lower())
    if field is None or typed[2] != ":" or field.measure.is_number:
        return []
    return _values(f"{before}{typed[1]}:", typed[3].removeprefix('"').lower(), field, values)


def _last_word(text: str) -> int:
    """Return the offset of the last word, after its `-` and `(`."""
    start, is_quoted = 0, False
    for at, char in enumerate(text):
        if char == '"':
            is_quoted = not is_quoted
        elif not is_quoted and (char.isspace() or (char in "-(" and at == start)):
            start = at + 1
    return start


def _word_offers(before: str, word: str, vocabulary: Vocabulary) -> list[Offer]:
    if not word:
        return []
    names = [field for name, field in vocabulary.fields.items() if name.startswith(word)]
    fields = [
        Offer(f"{before}{each.name}{_sign(each)}", each.name + _sign(each), each.about) for each in names
    ]
    others = [each for each in sorted(vocabulary.alternatives) if each.startswith(word) and each != word]
    return fields + [Offer(before + each, each) for each in others]


def _sign(field: Field) -> str:
    return ">" if field.measure.is_number else ":"


def _values(before: str, typed: str, field: Field, values: Values) -> list[Offer]:
    known = {each.word: each for each in (*values(field.name), *map(Value, field.values)) if each.word}
    begin, contain = list[Value](), list[Value]()
    for each in known.values():
        if each.word.lower().startswith(typed):
            begin.append(each)
        elif len(typed) >= _LEAST_WITHIN and typed in f"{each.word} {each.about}".lower():
            contain.append(each)
    return [
        Offer(before + _quoted(each.word), each.word, each.about, field.name)
        for each in [*begin, *contain][:_MOST_OFFERED]
        if each.word.lower() != typed
    ]


def _quoted(word: str) -> str:
    if not _NEEDS_QUOTES.search(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
