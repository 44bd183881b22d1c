"""Cases on which JSON readers disagree, after JSONTestSuite: y is JSON, n is not, i is up to the reader.

Each case is a line between the lines of a good session; all of them together are also one stream.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from agentwatch.output.summary import summary
from agentwatch.session.events import Malformed, Unknown
from agentwatch.session.session import Session
from tests.builders.lines import completed, delta, final, init, result, segment, session, started, user
from tests.conftest import case


class Case(NamedTuple):
    """A line and its expected classification."""

    name: str
    data: bytes
    is_object: bool
    """Whether it is an object, or becomes one when it is repaired."""


VALID: list[bytes | str] = [
    *(b"0", b"-0", b"1", b"-1", b"123", b"0.5", b"-0.5", b"1e5", b"1E5", b"1e+5", b"1E-5", b"1.5e3", b"0e1"),
    *(b"0e+1", b"20.1", b"-123.25", b"1e-320", b"123456789012345678", b"-9223372036854775808", b"0.0e0"),
    *(b"true", b"false", b"null", b"[]", b"{}", b"[[]]", b"[{}]", b'{"":0}', b'{"b":1,"b":2}', b"[ ]"),
    *(b"{ }", b"[1 , 2]", b'[null,1,"1",{}]', b'{"b" : [1]}', b'{"\\u0000":1}', b"[0,0]", b"[\t1\r]"),
    *(b'""', b'"a"', b'" "', b'"\\""', b'"\\\\"', b'"\\/"', b'"/"', b'"\\b\\f\\n\\r\\t"', b'"\\u0041"'),
    *(b'"\\u0000"', b'"\\u001f"', b'"\\u007f"', b'"\x7f"', b'"\\ud83d\\ude00"', b'"\\uD834\\uDd1e"'),
    *(b'"\\uFFFF"', b'"\\uFFFE"', b'"\\ufdd0"', b'"\\u2028"', b'"\\\\u0041"', b'"\\\\n"', b'"a/*b*/c"'),
    *("é", "干", "\u2028", "\u2029", "\ufeff", "\U0001f600", "\u200b", "\x85", "\uffff", "\U0010ffff", "﷐"),
]
"""JSON values."""

INVALID: list[bytes | str] = [
    *(b"01", b"-01", b"+1", b".5", b"1.", b"1.e5", b"1e", b"1e+", b"--1", b"0x1", b"1_000", b"1e5.5", b"-"),
    *(b"++1", b"1a", b"Inf", b"nan", b"NAN", b"0e", b"0.e1", b"1 000", b"-.1", b"-a", b".-1", b"0.1.2"),
    *(b"0.3e", b"1eE2", b"- 1", b"1e-", b"2.e-3", b"1.2a-3", b"0x", b"-012", b"-2.", b"1+2", b"\xef\xbc\x91"),
    *(b"tru", b"True", b"TRUE", b"nul", b"None", b"undefined", b"fals", b"nulll", b"infinity", b"-infinity"),
    *(b"'a'", b"a", b"`a`", b'"a', b'a"', b'"\\"', b'"\\x41"', b'"\\a"', b'"\\u"', b'"\\u00"', b'"\\u004"'),
    *(b'"\\uZZZZ"', b'"\\u00G0"', b'"\\ "', b'"\\0"', b'"\t"', b'"\x00"', b'"\x1f"', b'"\x1b[2J"', b'"\\'),
    *(
        b'"\\\xff"',
        b'"\\U0041"',
        b'"\\ud83d\\u"',
        b'"\\ud83d\\"',
        b'"a" "b"',
        b'"a""b"',
        b"\\u0041",
        b'\\"a"',
    ),
    *(b"[1,]", b"[,1]", b"[1,,2]", b"[1 2]", b"[1;2]", b"[", b"]", b"[1", b"[1,", b"[[]", b'["a",', b"[}"),
    *(b'{"b"}', b'{"b":}', b"{b:1}", b"{'b':1}", b'{"b":1,}', b"{,}", b'{"b" 1}', b'{"b":1 "c":2}', b"{1:1}"),
    *(b'{"b"::1}', b'{"b":1,,"c":2}', b'{"b":1', b'{"b"', b"{", b"{]", b'{:"b"}', b"{null:1}", b'{"b",1}'),
    *(b'{"b":"c}', b'{"b":1]', b"{[]:1}", b'{"b"=1}', b"(1)", b"<a>", b"1//x", b"1/*x*/", b"#x", b"@", b"*"),
    *(b"\x0b1", b"\x0c1", b"\xc2\xa01", b"\xe2\x81\xa01", b"\xef\xbb\xbf1", b"\x001", b"1\x00", b"\xff", b""),
]
"""Text that is no JSON value in any position."""

LENIENT: list[bytes | str] = [
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e9999", b"1e-9999", b"0.4e00669999999999999999999999"),
    *(
        b"1" * 25,
        b"-" + b"2" * 100,
        b"9" * 5000,
        b"1." + b"0" * 5000,
        b"18446744073709551616",
        b"-1" + b"0" * 20,
    ),
    *(b'"\\ud83d"', b'"\\ude00"', b'"\\ude00\\ud83d"', b'"\\ud83d\\ud83d\\ude00"', b'"a\\ud83db"'),
    *(b'"\\ud800\\n"', b'"\\uDADA"', b'"\\ud888\\u1234"', b'{"\\ud83d":1}'),
    *(
        b'"\xff"',
        b'"\x80"',
        b'"\xe9"',
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
        b'"\xf4\xbf\xbf\xbf"',
        b'"\xfc\x83\xbf\xbf"',
    ),
    *(b'"\xe2\x82"', b'"\xf0\x9f\x98"', b"[" * 500 + b"]" * 500, b'{"b":' * 300 + b"1" + b"}" * 300),
]
"""Values that only some readers accept; agentwatch reads all of them."""

WHOLE = [
    Case("y object", b'{"a":1}', True),
    Case("y white space around", b' \t{"a":1} \r', True),
    Case("y empty object", b"{}", True),
    Case("i byte order mark", b'\xef\xbb\xbf{"a":1}', True),
    Case("n two byte order marks", b'\xef\xbb\xbf\xef\xbb\xbf{"a":1}', False),
    Case("n two objects", b"{}{}", False),
    Case("n text after", b"{} x", False),
    Case("n comma after", b"{},", False),
    Case("n brace after", b"{}}", False),
    Case("n comment after", b"{} // x", False),
    Case("n NUL after", b"{}\x00", False),
    Case("n form feed after", b"{}\x0c", False),
    Case("n no-break space before", b"\xc2\xa0{}", False),
    Case("n UTF-16", '{"a":1}'.encode("utf-16-le"), False),
    Case("n UTF-16 with its mark", '{"a":1}'.encode("utf-16"), False),
    Case("n UTF-32", '{"a":1}'.encode("utf-32-be"), False),
    Case("n open arrays", b"[" * 100_000, False),
    Case("n open objects", b'{"a":' * 100_000, False),
    Case("n deep arrays", b"[" * 100_000 + b"]" * 100_000, False),
]


def _cases() -> Iterator[Case]:
    """Yield each value alone, in an array and in an object, and whole lines."""
    for kind, values in (("y", VALID), ("n", INVALID), ("i", LENIENT)):
        for number, value in enumerate(values):
            data = value if isinstance(value, bytes) else f'"{value}"'.encode()
            is_object = kind != "n" and data.startswith(b"{")
            if data:
                yield Case(f"{kind} {number} alone", data, is_object)
            array = b"[" + data + b",1]"
            yield Case(f"{kind} {number} in an array", array, False)
            yield Case(f"{kind} {number} in an object", b'{"a":' + data + b"}", kind != "n")
    yield from WHOLE


CASES = list(_cases())
GOOD = [
    init(),
    user("Hi"),
    delta("a"),
    delta("b\nc"),
    segment("ab\nc"),
    started("read", path="x"),
    completed("read", result={"success": {}}),
    delta("d"),
    final("d"),
    result("ab\ncd"),
]


def check(read: Session) -> None:
    """Check that the good session is read as it would be alone."""
    assert read.run.text_matches_result
    assert (read.text, read.run.prompt, read.outcome) == ("ab\ncd", "Hi", "succeeded")
    assert [(call.target, call.outcome) for call in read.calls] == [("x", "succeeded")]
    assert b"".join(summary(read))


def test_there_are_as_many_cases_as_in_the_suite() -> None:
    """No class of cases is missing, and names are unique."""
    assert len(CASES) >= 318
    assert len({each.name for each in CASES}) == len(CASES)
    assert not [each.name for each in CASES if b"\n" in each.data or not each.data.strip()]


@pytest.mark.parametrize("kind", ["y", "n", "i"])
def test_a_case_is_a_line_of_its_own(kind: str) -> None:
    """An object is an unknown event, every other case is malformed, and the session around is unchanged."""
    of_a_kind = [each for each in CASES if each.name.startswith(kind)]
    assert of_a_kind
    for each in of_a_kind:
        lines = [*GOOD[:4], each.data + b"\n", *GOOD[4:]]
        read = session(*lines)
        check(read)
        [odd] = read.lines.odd
        assert isinstance(odd.event, Unknown if each.is_object else Malformed), each.name
        counted = (read.lines.events, read.lines.malformed, read.lines.unknown)
        assert counted == (10, int(not each.is_object), int(each.is_object)), each.name
        assert (odd.place.offset, odd.place.length) == (sum(map(len, GOOD[:4])), len(each.data))


@pytest.mark.parametrize("between", [False, True], ids=["one after the other", "a good line after each"])
def test_all_cases_are_one_stream(between: bool) -> None:
    """All cases in one recording are counted once each, and the session around them is unchanged."""
    aside = b'{"type":"connection","subtype":"reconnected","session_id":"s-1"}\n'
    odd = b"".join(each.data + b"\n" + (aside if between else b"") for each in CASES)
    read = session(*GOOD[:4], odd, *GOOD[4:])
    check(read)
    objects = sum(each.is_object for each in CASES)
    notices = len(CASES) if between else 0
    assert read.lines.total == len(CASES) + notices + len(GOOD)
    if between:
        assert (read.lines.malformed, read.lines.unknown) == (len(CASES) - objects, objects)


def test_a_case_may_come_first() -> None:
    """Before the agent is known, an object is unknown and every other case is malformed."""
    for whole in WHOLE:
        with case(whole.name):
            read = session(whole.data + b"\n", *GOOD)
            check(read)
            assert (read.lines.malformed, read.lines.unknown) == (
                int(not whole.is_object),
                int(whole.is_object),
            )
