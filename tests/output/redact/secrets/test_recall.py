"""Planted secrets are found, and ordinary material has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from agentwatch.output.redact.mask import Found
from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.kinds import KINDS, WITH_PREFIX, secrets
from tests.builders.redaction.ordinary import MATERIALS, material
from tests.builders.redaction.rare import rare
from tests.builders.redaction.second import second
from tests.builders.redaction.templates import Planted
from tests.builders.redaction.third import third
from tests.conftest import case

WANTED, WANTED_RARE, MOST_FALSE = 0.98, 0.95, 3
SIZE = 200_000


def covered(planted: Planted, found: list[Found]) -> bool:
    """Return whether what was found covers the whole secret."""
    at = planted.start
    for each in found:
        if each.start <= at < each.end:
            at = each.end
    return at >= planted.end


def test_there_are_45_kinds_and_a_third_has_no_prefix() -> None:
    """The corpus has 45 kinds of secrets, of which 14 have no prefix."""
    assert len(KINDS) == 45
    assert len(KINDS) - len(WITH_PREFIX) == 14


def test_planted_secrets_are_found() -> None:
    """At least 98 % of 450 planted secrets are found whole, and of each kind at least 8 of 10."""
    missed = Counter(kind for kind, planted in secrets() if not covered(planted, find(planted.text)))
    assert missed.total() <= len(KINDS) * 10 * (1 - WANTED)
    assert max(missed.values(), default=0) <= 2, missed


def test_escaped_secrets_are_found() -> None:
    """At least 98 % are found in the strings of JSON in JSON, which have their line ends as escapes."""
    missed = 0
    for _kind, planted in secrets(2):
        before, secret = planted.text[: planted.start], planted.text[planted.start : planted.end]
        shown = [
            part.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
            for part in (before, secret, planted.text[planted.end :])
        ]
        escaped = Planted("".join(shown), len(shown[0]), len(shown[0]) + len(shown[1]))
        missed += not covered(escaped, find(escaped.text))
    assert missed <= len(KINDS) * 10 * (1 - WANTED)


@pytest.mark.parametrize(("make", "wanted"), [(rare, WANTED_RARE), (second, WANTED_RARE), (third, WANTED)])
def test_rarer_secrets_are_found(make: Callable[[int], Iterator[tuple[str, Planted]]], wanted: float) -> None:
    """At least 95 % of the tokens of rarer vendors, and of secrets in rarer syntax, are found whole.

    Of what hid secrets once, such as colours and cells of a table, at least 98 % are found whole.
    """
    corpus = list(make(3))
    assert len(corpus) >= 120
    missed = [
        f"{vendor}: {planted.text!r}"
        for vendor, planted in corpus
        if not covered(planted, find(planted.text))
    ]
    assert len(missed) <= len(corpus) * (1 - wanted), missed


@pytest.mark.system
@pytest.mark.slow
def test_ordinary_material_has_no_secrets() -> None:
    """At most three places for each megabyte of ordinary material are taken for secrets."""
    for name in MATERIALS:
        with case(name):
            text = material(name, SIZE)
            found = [text[each.start - 20 : each.end] for each in find(text)]
            assert len(found) <= MOST_FALSE * SIZE / 1_000_000, found[:5]


def test_secrets_in_ordinary_material_are_found_at_every_place() -> None:
    """A secret is found wherever it begins in a long text, also where two pieces of it meet."""
    secret = "ghp_" + "aB3dE6gH9" * 4
    filler = material("git log", 24_000)
    for at in (*range(16_300, 16_400, 11), *range(20_440, 20_500, 9)):
        place = filler.rindex("\n", 0, at) + 1
        text = f"{filler[:place]}use {secret}\n{filler[place:]}"
        assert [text[each.start : each.end] for each in find(text)] == [secret]
