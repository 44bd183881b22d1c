"""The search of many texts, and of the JSON that they contain."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from urllib.parse import quote

from agentwatch.output.redact.secrets.scanner import find
from agentwatch.output.redact.texts import Hit, Search, Unit, hits_in, text_of, unescaped
from tests.builders.redaction.templates import planted
from tests.conftest import case
from tests.output.redact.redacting import redacted_bytes


def unit_of(text: str) -> Unit:
    """Return a text that is searched."""
    unit = Unit()
    unit.add(0, text.encode())
    return unit


class Searched:
    """Finds `key`, and keeps the texts that were searched and what was found."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.found: list[list[int]] = []

    def find(self, text: str) -> Iterator[Hit]:
        """Yield each `key` of a text."""
        self.texts.append(text)
        at = text.find("key")
        while at >= 0:
            yield Hit(at, at + 3, "key", "key")
            at = text.find("key", at + 3)

    def take(self, unit: Unit, hits: Sequence[Hit]) -> None:
        """Keep where a text has hits."""
        self.found.append([hit.start for hit in hits])


def test_a_text_is_searched_once() -> None:
    """A text that occurs again is not searched again, and has the hits that it had."""
    searched = Searched()
    search = Search(searched.find, searched.take)
    for _ in range(3):
        search.add(unit_of("nothing"))
        search.finish()
    assert searched.texts == ["nothing"]
    assert searched.found == [[], [], []]
    # What was found in a text is found wherever the text occurs, also beside texts without a hit.
    searched = Searched()
    search = Search(searched.find, searched.take)
    for _ in range(2):
        search.add(unit_of("nothing"))
        search.add(unit_of("a key"))
        search.finish()
    assert sorted(searched.found) == [[], [], [2], [2]]
    # A path such as `C:\src` is the same without escapes.
    searched = Searched()
    hits_in("C:\\src\\key", searched.find)
    assert searched.texts == ["C:\\src\\key"]
    # The other lines of the text are not searched again.
    searched = Searched()
    hits = hits_in("C:\\src\na\\nkey", searched.find)
    assert searched.texts == ["C:\\src\na\\nkey", "a\nkey"]
    assert {hit.start for hit in hits} == {10}
    # Bytes that are no JSON string, such as a piece of a line, have the same text without escapes. An escaped
    # backslash before an `n` is not a line end.
    for data in TEXTS:
        with case(data):
            assert text_of(data) == unescaped(data.decode("utf-8", "surrogateescape"))
    assert text_of(rb"a\nb \\new \"c\" \u00ef \ud83d\ude00") == 'a\nb \\new "c" ï 😀'
    # A home folder, a user name and an address are masked in an address with escapes.
    rows = [
        {"cwd": "/home/adal/src"},
        {"a": "uri=%2Fhome%2Fadal%2Fsrc file%3A%2F%2F%2Fhome%2Fbobby%2Fx"},
        {"a": "?to=adal%40lovelace.org&p=%252Fhome%252Fadal C%3A%5CUsers%5Cbobby%5Cx"},
    ]
    written, _ = redacted_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    assert b"adal" not in written
    assert b"bobby" not in written
    assert b"~%2Fsrc" in written


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


VALUES: list[str] = [
    "https://a.blob.core.windows.net/c?sv=1&sig=«<an:9>%2F<an:12>%2B<an:20>%3D»&se=2026",
    "https://a.blob.core.windows.net/c?sig=«%2F<an:42>%3D»&se=2026",
    "https%3A%2F%2Fh%2Fc%3Fsv%3D1%26sig%3D«<an:9>%252F<an:33>%253D»%26se%3D2026",
    *("Authorization: Bearer «<an:9>%2F<an:28>%3D%3D»", "Authorization%3A%20Bearer%20«<an:36>»%22%2C%22a%22"),
    "connect.sid=s%3A«<url:32>.<an:9>%2F<an:20>%2B<an:12>»",
    "https://h/x?access_token=«<an:9>%2F<an:12>%3D»&x=1",
    "https://h/x?access_token=«<an:9>%26<an:12>%20<an:3>»&x=1",
    "postgres://bob:«<an:4>%2F<an:6>»@db:5432/x",
    "amqp://bob:«<an:4>%40<an:2>%3A<an:2>%23<an:2>%20y»@db:5432/x",
    *("redis://:«<an:2>%26<an:2>%22<an:3>»@h:6379", "https://h/?password=«<an:6>%262x9%3Dq»&u=1"),
    "https://h/?next=%2Flogin%3Fpassword%3D«<an:6>2x9»%26u%3D1",
    *("%7B%22password%22%3A%22«<an:6>2x9»%22%7D", "https://ci:«glpat%2D<url:20>»@gitlab.com/x"),
    *("https%3A%2F%2F«ghp_<an:36>»%40github.com%2F", "client_secret=«<an:9>%2B<an:12>%3D»&grant_type=x"),
    *("SharedAccessKey=«<an:9>%2F<an:30>%3D»;EntityPath=x", "curl -u bob:«p%2F<an:4>9w%3Ard» https://h"),
    *("https://hooks.slack.com%2Fservices%2F«T<up:8>%2FB<up:8>%2F<an:24>»", "api_key%3D«<an:20>»"),
]


def test_a_value_with_escapes_is_found_and_masked() -> None:
    """A value with escapes is found whole, whether the address around it is escaped or not. What stands for a
    password does so with escapes, too. A value that was found with escapes is masked without them, and the
    other way round.
    """
    for template in VALUES:
        for seed in range(5):
            made = planted(template, Random(seed))
            with case(made.text):
                found = [(each.start, each.end) for each in find(made.text)]
                assert (made.start, made.end) in found
    for value in ("{{ password }}", "${PASSWORD}", "<your-password>"):
        with case(value):
            assert find(f"https://h/?password={quote(value, safe='')}&u=1") == []
    secret = "a8Kd7/Q6a9s+Zf7as"
    rows = [f"password={quote(secret, safe='')}", f"the usual {secret} one", f"q={quote(secret, safe='')}&b"]
    for order in (rows, rows[::-1]):
        data = b"".join(json.dumps({"note": row}).encode() + b"\n" for row in order)
        written, report = redacted_bytes(data)
        assert report.secrets == {"password": 3}
        masks = {line.partition(b"[")[2].partition(b"]")[0] for line in written.splitlines()}
        assert len(masks) == 1
