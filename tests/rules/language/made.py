"""A vocabulary, and readers of values in a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentwatch.rules.language.conditions import Readers, Test, Value
from agentwatch.rules.language.parser import parse
from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary

FIELDS = (
    Field("tool", Measure.NAME, "the tool", example="tool:edit"),
    Field("kind", Measure.NAME, "the kind", ("read", "edit", "execute"), is_closed=True),
    Field("text", Measure.TEXT, "a text", example="text:word"),
    Field("path", Measure.PATH, "a path"),
    Field("size", Measure.COUNT, "a count", example="size>3"),
    Field("duration", Measure.DURATION, "a time", example="duration>50s"),
    Field("share", Measure.PERCENT, "a share"),
)
VOCABULARY = Vocabulary.of(
    FIELDS, ("failed", "rejected"), {"calls": "--on and check"}, synonyms={"took": "duration"}
)
Values = Mapping[str, Value]


def _reader(name: str) -> Callable[[Values], Value]:
    return lambda values: values.get(name)


def _word(word: str) -> Test[Values]:
    return lambda values: word in str(values.get("words", "")).split()


READERS: Readers[Values] = Readers({field.name: _reader(field.name) for field in FIELDS}, _word, {})


def says(rule: str, values: Values, *, allows_patterns: bool = False) -> bool | None:
    """Return what a rule says about values; a field without a value is unknown."""
    return parse(rule, VOCABULARY, allows_patterns=allows_patterns).bind(READERS)(values)
