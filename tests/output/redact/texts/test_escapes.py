"""The escapes of JSON strings."""

from __future__ import annotations

from agentwatch.output.redact.texts import text_of, unescaped
from tests.conftest import case

TEXTS = (
    rb"a\nb\tc\"d\\e\/f\u0041",
    rb"C:\src\new",
    rb'{"a":"b\\","c":"\"d"}',
    rb"\ud83d\ude00 and \ud83d alone",
    rb"\u0000 and \u001b",
    b"a\nline \\n and \xff\\t",
    b"a NUL \0 and \\n",
    b"\\",
    "naïve 日本語 \\u00ef".encode(),
)


def test_bytes_are_read_as_their_text() -> None:
    """Bytes that are no JSON string, such as a piece of a line, have the same text without escapes."""
    for data in TEXTS:
        with case(data):
            assert text_of(data) == unescaped(data.decode("utf-8", "surrogateescape"))


def test_the_escapes_of_a_json_string_are_removed() -> None:
    """An escaped backslash before an `n` is no line end."""
    assert text_of(rb"a\nb \\new \"c\" \u00ef \ud83d\ude00") == 'a\nb \\new "c" ï 😀'
