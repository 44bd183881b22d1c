"""Cards: they fit into their limit whatever is in them, and are read as data whoever has written them."""

import json
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.card import Card, decode, encode
from agentwatch.remote.chunk import CARD_BYTES
from agentwatch.session.limits import Reported
from tests.conftest import case

TEXTS = [each.name for each in fields(Card) if each.type == "str"]
NUMBERS = [each.name for each in fields(Card) if each.name not in (*TEXTS, "limits")]
LETTERS = 'abc 019é漢😀"\\{}[]\x00\x1b\x7f\ud800\udfff\u202e\n'
"""One of each kind. All of Unicode takes a second to load on a busy machine."""
ANY_TEXT = st.builds(str.__mul__, st.text(LETTERS, max_size=8), st.sampled_from([1, 10, 100]))
"""Long texts are short ones many times: generating 400 characters for each of the keys took seconds."""
CARDS = st.builds(
    lambda texts, numbers: Card(**texts, **numbers),
    st.dictionaries(st.sampled_from(TEXTS), ANY_TEXT),
    st.dictionaries(st.sampled_from(NUMBERS), st.integers(-1, 1 << 54)),
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
ANY_VALUE = (
    PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(LETTERS, max_size=5), PLAIN, max_size=3)
)


@pytest.mark.system
@given(CARDS)
def test_any_card_fits(card: Card) -> None:
    """A card of any texts and numbers has at most 2 KiB, and is read as a card."""
    data = encode(card)
    assert len(data) <= CARD_BYTES
    assert decode(data) is not None


def test_a_card_is_read_as_it_was_written() -> None:
    """A card of usual length comes back whole. A reader that knows them has them; they are the first to give
    way, and other values are none.
    """
    card = Card(host="build1", agent="claude", prompt="fix it", state="working", bytes=10, shipped=5, exit=0)
    assert decode(encode(card)) == card
    assert decode(encode(Card())) == Card()
    windows = (Reported("5h", 62.7, 9_000, 5_000), Reported("7d opus", None, None, None))
    card = Card(state="limited", until_ms=9_000, limits=windows)
    assert decode(encode(card)) == replace(card, limits=(windows[0]._replace(used_percent=62), windows[1]))
    full: dict[str, Any] = dict.fromkeys(TEXTS, "a" * 200)
    found = decode(encode(Card(**full, limits=(windows[0],) * 8)))
    assert found is not None
    assert (found.limits, found.cwd) == ((), "a" * 200)
    for wrong in (5, "5h", {"name": "5h"}, ["x", {"name": 5}, {"used_percent": 5}], None):
        with case(wrong):
            assert decode(orjson.dumps({"v": 1, "limits": wrong})) == Card()
    many = decode(orjson.dumps({"v": 1, "limits": [{"name": f"{n}h", "more": 1} for n in range(99)]}))
    assert many is not None
    assert len(many.limits) == 8
    # What is cut first is what describes; the state and the digest stay while they can.
    long: dict[str, Any] = dict.fromkeys(TEXTS, "\x01" * 200) | {"state": "working", "sha256": "0" * 64}
    cut = decode(encode(Card(**long)))
    assert cut is not None
    assert (cut.state, cut.sha256) == ("working", "0" * 64)
    # With every text full of one letter and every number the largest, a card has at most 2 KiB.
    for letter in ("a", "é", "漢", "😀", '"', "\\", "\x00", "\x7f", "\ud800", "\n"):
        with case(repr(letter)):
            whole: dict[str, Any] = dict.fromkeys(TEXTS, letter * 1000) | dict.fromkeys(
                NUMBERS, (1 << 53) - 1
            )
            data = encode(Card(**whole))
            assert len(data) <= CARD_BYTES
            large = decode(data)
            assert large is not None
            assert [getattr(large, name) for name in NUMBERS] == [(1 << 53) - 1] * len(NUMBERS)
            if letter == "a":
                assert large.prompt != ""


NOT_CARDS = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"1",
    b"NaN",
    b"{}",
    b'{"v":2}',
    b'{"v":"1"}',
    b'{"v":1,"calls":NaN}',
    b'{"v":1,"host":"\\ud800"}',
    b'{"v":1,"host":"\xff"}',
    b'{"v":1}' + b" " * 4096,
    b"[" * 4000,
    b'{"a":' * 700,
    b'{"v":1' + b"1" * 4000 + b"}",
]


@given(st.dictionaries(st.sampled_from([*TEXTS, *NUMBERS, "v", "more"]), ANY_VALUE))
def test_values_of_any_type_are_no_error(values: dict[str, Any]) -> None:
    """A value of another type than its key's is the empty one; numbers are in range, texts bounded."""
    data = json.dumps(values | {"v": 1}).encode()[:4096]
    card = decode(data)
    try:
        orjson.loads(data)
    except ValueError:
        assert card is None
        return
    assert card is not None
    for name in TEXTS:
        assert isinstance(getattr(card, name), str)
        assert len(getattr(card, name)) <= 200
    for name in NUMBERS:
        number = getattr(card, name)
        assert number is None or (type(number) is int and 0 <= number < 1 << 53)


VALUES: list[object] = ["1", 1.0, True, -1, 1 << 53, 10**30, [], {}, None]


def test_what_a_card_cannot_say_is_left_out() -> None:
    """A number of another type or out of range is unknown, and 0 where there must be one. An object with a
    key twice is a card. A card of a later version of the program that adds keys is read.
    """
    for value in VALUES:
        with case(repr(value)):
            card = decode(json.dumps({"v": 1, "calls": value, "bytes": value}).encode())
            assert card is not None
            assert (card.calls, card.bytes) == (None, 0)
    card = decode(b'{"v":1,"host":"a","host":"b"}')
    assert card is not None
    assert card.host == "b"
    card = decode(orjson.dumps({"v": 1, "host": "a", "more": {"deep": [1]}}))
    assert card == Card(host="a")
    # Other content than an object of this version is not a card, and no error.
    for data in NOT_CARDS:
        with case(f"{data[:60]!r}"):
            assert decode(data) is None
