"""Masks are equal for equal values, say what they hide, and cannot be tried without the key."""

from __future__ import annotations

import re

from agentwatch.output.redact.mask import E_MAIL, HOME, USER, Masks
from agentwatch.output.redact.secrets.scanner import find


def test_a_mask_has_the_kind_and_four_digits() -> None:
    """A secret is masked with its kind and 4 hexadecimal digits."""
    assert re.fullmatch(r"\[secret:github [0-9a-f]{4}\]", Masks().mask("value", "github"))


def test_equal_values_have_equal_masks_in_one_export() -> None:
    """One value reads the same everywhere in an export, and other values read differently."""
    masks = Masks()
    assert masks.mask("one", "key") == masks.mask("one", "key")
    assert len({masks.mask(f"value {number}", "key") for number in range(20)}) > 15


def test_each_export_has_a_key_of_its_own() -> None:
    """The masks of two exports have nothing in common."""
    values = [f"value {number}" for number in range(8)]
    one, other = Masks(), Masks()
    assert [one.mask(value, "key") for value in values] != [other.mask(value, "key") for value in values]


def test_personal_data_has_masks_that_fit_its_place() -> None:
    """A home folder becomes `~`, a user a name that a path can have, and an address says what it was."""
    masks = Masks(b"key")
    assert masks.mask("/home/ada", HOME) == "~"
    assert re.fullmatch("user-[0-9a-f]{4}", masks.mask("ada", USER))
    assert re.fullmatch(r"\[e-mail [0-9a-f]{4}\]", masks.mask("ada@lovelace.io", E_MAIL))


def test_any_text_can_be_masked() -> None:
    """A value with lone surrogates has a mask as well."""
    assert Masks().mask("\ud800", "key").startswith("[secret:key ")


def test_a_mask_is_no_secret() -> None:
    """What is masked is not masked again, whatever label stands before it."""
    mask = Masks().mask("hunter22", "password")
    for text in (f"PASSWORD={mask}", f'"api_key": "{mask}"', f"curl -u a:{mask}", f"://a:{mask}@host"):
        assert find(text) == []
