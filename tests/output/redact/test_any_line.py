"""Whatever a recording contains, its redaction is valid, has the same structure, and none of the secrets."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import case
from tests.output.redact.planted import PASSWORDS, TOKEN, TOKENS, occurs
from tests.output.redact.redacting import redacted_bytes

TEXTS = st.text(st.characters(), max_size=12) | st.sampled_from(
    [
        "password=",
        "token: ",
        "\n",
        "\\",
        '"',
        "\\n",
        "C:\\new\\table",
        "/home/ada/x",
        "a@b.co",
        "\ud83d",
        "é",
        "{",
        "text",
    ]
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(10**30)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
QUICK = settings(max_examples=300)


def dumped(value: Any, *, is_ascii: bool) -> bytes:
    """Return a value as a line; half a surrogate pair may be in it, as raw bytes too."""
    return json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass") + b"\n"


def shape(value: Any) -> Any:
    """Return a value without its strings."""
    if isinstance(value, dict):
        return ["{}", *map(shape, value.values())]
    if isinstance(value, list):
        return [*map(shape, value)]
    return "" if isinstance(value, str) else (type(value), value)


def loaded(line: bytes) -> Any:
    """Return the value of a line; an object as its pairs, as a key may occur twice."""
    return json.loads(line.decode("utf-8", "surrogatepass"), object_pairs_hook=_Pairs)


class _Pairs(dict[str, Any]):
    """The values of an object in order, also those of equal keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__({str(number): value for number, (_, value) in enumerate(pairs)})


@pytest.mark.system
@QUICK
@given(st.lists(VALUES, min_size=1, max_size=5), st.booleans())
def test_a_line_of_json_stays_one(values: list[Any], is_ascii: bool) -> None:
    """Each line of JSON is one afterwards, with the same structure and the same numbers."""
    data = b"".join(dumped(value, is_ascii=is_ascii) for value in values)
    written, _ = redacted_bytes(data)
    lines = written.splitlines(keepends=True) if is_ascii else written.split(b"\n")[:-1]
    assert len(lines) == len(values)
    for value, line in zip(data.split(b"\n"), lines, strict=False):
        assert shape(loaded(value)) == shape(loaded(line))


@pytest.mark.system
@QUICK
@given(st.lists(VALUES, min_size=1, max_size=5), TOKENS | PASSWORDS, st.booleans())
def test_redacting_twice_changes_nothing_more(values: list[Any], secret: str, is_ascii: bool) -> None:
    """A redacted recording has nothing to mask."""
    values = [
        *values,
        {"text": f"password={secret}"},
        {"note": secret},
        {"a": "/home/ada/x ada@lovelace.org"},
    ]
    once, _ = redacted_bytes(b"".join(dumped(value, is_ascii=is_ascii) for value in values))
    twice, report = redacted_bytes(once)
    assert once == twice
    assert str(report.words()) == "nothing to mask"


@pytest.mark.system
@QUICK
@given(st.binary(max_size=200), st.sampled_from([b"\n", b"", b"\r\n"]), TOKENS)
def test_any_bytes_are_redacted(junk: bytes, end: bytes, secret: str) -> None:
    """Bytes that are no JSON and no text stay as they are; a secret between them does not."""
    data = junk + b" " + secret.encode() + b" " + junk + end
    written, _ = redacted_bytes(data)
    assert written.count(b"\n") == data.count(b"\n")
    assert secret.encode() not in written
    plain, _ = redacted_bytes(junk.replace(b"@", b"").replace(b"/", b""))
    assert plain == junk.replace(b"@", b"").replace(b"/", b"")


def planted(value: Any, secret: str, places: list[int]) -> Any:
    """Return a value in which a secret stands somewhere: in a string, in a key, or in JSON in a string."""
    place = places.pop() if places else 0
    if isinstance(value, dict) and value:
        key = [*value][place % len(value)]
        if place % 3 == 0:
            return {(f"{each} {secret} x" if each == key else each): inner for each, inner in value.items()}
        return {
            each: planted(inner, secret, places) if each == key else inner for each, inner in value.items()
        }
    if isinstance(value, list) and value:
        at = place % len(value)
        return [
            planted(inner, secret, places) if number == at else inner for number, inner in enumerate(value)
        ]
    inner = json.dumps({"cmd": f"export A={secret}\nls", "b": [f'"{secret}"']}, ensure_ascii=place % 2 == 0)
    return [
        f"a\n{secret}\tb",
        inner,
        json.dumps({"arguments": inner}),
        f"{value}\n\n{secret}",
        f'"{secret}"',
    ][place % 5]


@pytest.mark.system
@QUICK
@given(VALUES, TOKENS, st.lists(st.integers(0, 100), max_size=6), st.booleans())
def test_a_planted_secret_is_masked(value: Any, secret: str, places: list[int], is_ascii: bool) -> None:
    """A token in a value, a key, or in JSON in a string is masked, however it is escaped."""
    written, report = redacted_bytes(dumped(planted(value, secret, places), is_ascii=is_ascii))
    assert not occurs(secret, written)
    assert report.secrets.total() > 0


@pytest.mark.system
@QUICK
@given(VALUES, PASSWORDS, st.lists(st.integers(0, 100), max_size=6), st.booleans(), st.booleans())
@example(value=[], secret="K7ü-pässw-93Qxü", places=[], is_ascii=True, is_before=True)
def test_a_password_is_masked_without_its_label(
    value: Any, secret: str, places: list[int], is_ascii: bool, is_before: bool
) -> None:
    """A password that has a label once is masked everywhere: also in the lines before, however escaped."""
    lines = [
        dumped(planted(value, secret, places), is_ascii=is_ascii),
        dumped({"a": f"PASSWORD={secret}"}, is_ascii=True),
    ]
    written, _ = redacted_bytes(b"".join(lines if is_before else reversed(lines)))
    assert not occurs(secret, written)


def test_what_has_nothing_to_mask_is_copied() -> None:
    """A line keeps its bytes, also if another program would write its numbers in another way."""
    for line in (
        b'{"a":1e400,"a":0.10,"b":1.0,"c":-0,"d":123456789012345678901234567890}',
        b'["\\ud83d"]',
        b"{}",
    ):
        with case(repr(line)):
            assert redacted_bytes(line + b"\n")[0] == line + b"\n"
            assert redacted_bytes(line)[0] == line
    # Around a mask each byte stays: spaces, escapes, equal keys and the way in which numbers are written.
    line = b'{ "a" : 1.50, "a":"\\u0041\\/ %s \\u00e9", "n":1e5 }\n'
    written, _ = redacted_bytes(line % TOKEN.encode())
    start, _, end = line.partition(b"%s")
    assert written.startswith(start)
    assert written.endswith(end)
