"""Lines that are long, oversize or no JSON are redacted, and so is what belongs to the user."""

import json
import re
from random import Random

import pytest

from agentwatch.output.redact.mask import E_MAIL, HOME, USER, Found, Masks, joined
from agentwatch.output.redact.secrets.scanner import find
from agentwatch.recording import lines as recording_lines
from tests.builders.redaction.templates import key_block
from tests.conftest import case
from tests.output.redact.delta_lines import FORMS
from tests.output.redact.planted import TOKEN
from tests.output.redact.redacting import redacted_bytes

WORDS = "some words of the output \\n\\u00e9 \\\\ 日本語 "


def test_a_key_that_stderr_shows_is_masked_line_by_line() -> None:
    """A private key in lines of plain text is masked in each of them, also between lines of JSON."""
    block = key_block(Random(1), "\n")
    noise = b'{"type":"thinking","subtype":"delta","text":"Hm.","session_id":"s"}\n'
    data = noise.join(line + b"\n" for line in f"$ cat key\n{block}\n$ ls".encode().splitlines())
    written, report = redacted_bytes(data)
    assert written.count(b"\n") == data.count(b"\n")
    assert b"$ cat key\n" in written
    assert written.endswith(b"$ ls\n")
    assert not any(line in written for line in block.encode().splitlines()[1:-1])
    assert written.count(noise) == data.count(noise)
    assert report.secrets == {"private key": 1}
    # Deltas that split a path show no user name.
    form = FORMS["cursor"]
    lines = [
        form.line(text, 0, at)
        for at, text in enumerate(["see /ho", "me/ad", "a/src", "/x of a", "da@lovel", "ace.org"])
    ]
    written, report = redacted_bytes(b'{"cwd":"/home/ada/src"}\n' + b"".join(lines))
    text = "".join(map(form.text, written.splitlines()[1:]))
    assert text.startswith("see ~/src/x of [e-mail ")
    assert report.personal == {"home folder": 2, "e-mail": 1}
    # The last letters of the message before, which has the same shape, do not hide where a token begins.
    form = FORMS["claude"]
    between = b'{"type":"assistant","message":{"content":[]}}\n'
    lines = [form.line("All", 0, 0), form.line(" done", 0, 1), between]
    lines += [form.line(TOKEN[:9], 0, 3), form.line(TOKEN[9:], 0, 4), between, form.line("ok", 0, 6)]
    written, _ = redacted_bytes(b"".join(lines))
    rows = [line for line in written.splitlines() if b"stream_event" in line]
    assert "".join(map(form.text, rows[:2])) == "All done"
    assert "".join(map(form.text, rows[2:4])).startswith("[secret:")
    assert TOKEN not in "".join(map(form.text, rows))
    # Hundreds of values are found again in text without labels, each by a few of its bytes.
    random = Random(2)
    values = [
        "".join(random.choices("abcdefghkmnpqrstuvwxyz23456789ABC", k=8 + at % 20)) + "7" for at in range(300)
    ]
    labelled = b"".join(json.dumps({"env": f"DB_PASSWORD={value}"}).encode() + b"\n" for value in values)
    again = b"".join(
        json.dumps({"note": "x" * at + f" {value} y"}).encode() + b"\n" for at, value in enumerate(values)
    )
    written, _ = redacted_bytes(again + labelled)
    found = redacted_bytes(labelled)[1].secrets.total()
    assert found > 290
    assert sum(value.encode() in written for value in values) == len(values) - found
    # Characters between its letters that are drawn as nothing, and escapes of Markdown, do not hide a secret.
    for char in ("\u200b", "\ufe0f", "\U000e0101", "\U0001f3fb", "\U000e0041" * 99, "\\_"):
        split = TOKEN.replace("_", char) if char == "\\_" else f"{TOKEN[:9]}{char}{TOKEN[9:]}"
        for is_ascii in (True, False):
            with case(f"{char!r}, {is_ascii}"):
                texts = {
                    "text": f"It is {split}.",
                    "stdout": f"{split}\n",
                    "input": json.dumps({"a": f"x {split}"}),
                }
                written, _ = redacted_bytes(json.dumps(texts, ensure_ascii=is_ascii).encode() + b"\n")
                assert written.count(b"[secret:github ") == 3
                assert not any(part in written for part in (TOKEN[-9:].encode(), TOKEN[:9].encode()))
    # A password that is a word stays in other texts, and the structure of lines does too.
    common = [
        {"type": "assistant", "text": "psql postgres://app:assistant@db/x"},
        {"type": "assistant", "text": "ok"},
    ]
    written, _ = redacted_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in common))
    first, second = map(json.loads, written.splitlines())
    assert first["type"] == second["type"] == "assistant"
    assert "app:[secret:" in first["text"]


@pytest.mark.parametrize("size", [1 << 10, 1 << 17, pytest.param(1 << 20, marks=pytest.mark.system)])
@pytest.mark.parametrize("is_json", [True, False])
def test_a_secret_in_a_long_line_is_masked(size: int, *, is_json: bool) -> None:
    """A token anywhere in a long line is masked, and the rest of the line stays as it is."""
    random = Random(size)
    tokens: list[str] = []
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        tokens.append("ghp_" + "".join(random.choices("abcdefghkmnpqrstuvwxyz23456789ABC", k=36)))
        parts.append(WORDS * random.randrange(40) + f' \\"{tokens[-1]}\\"')
    text = "".join(parts)
    data = (f'{{"a":"{text}","b":1.50}}' if is_json else text).encode() + b"\n"
    written, report = redacted_bytes(data)
    assert not [token for token in tokens if token.encode() in written]
    assert report.secrets.total() == len(tokens)
    pieces = [part.partition(b"]")[2] if b"[secret:" in data else part for part in written.split(b"[secret:")]
    unmasked = b"[secret:".join(pieces)
    assert unmasked.count(WORDS.encode()) == data.count(WORDS.encode())
    if is_json:
        json.loads(written)
        assert written.endswith(b',"b":1.50}\n')


HOMES: list[tuple[str, str, str]] = [
    ("/home/ada/src", "in /home/ada/src/x.py, of ada.", "in ~/src/x.py, of user-"),
    ("/Users/ada.l/src", "~ /Users/ada.l -Users-ada.l-src", "~ ~ ~-src"),
    ("C:\\Users\\ada\\src", "C:\\Users\\ada\\x c:/Users/ada/x", "~\\x ~/x"),
    ("/home/jürgen/x", "/home/jürgen/x/y", "~/x/y"),
    ("/home/user/x", "/home/user/x/y and user", "~/x/y and user"),
    ("/srv/app", "/home/bob/x /home/bob/y", "~/x ~/y"),
]


def test_an_oversize_line_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long to be parsed is searched and copied in pieces."""
    # The home folder becomes `~` in paths of any system, in JSON in JSON, and in the name of a folder.
    for cwd, text, expected in HOMES:
        for is_ascii in [True, False]:
            with case(f"{cwd} {is_ascii}"):
                inner = json.dumps({"path": text}, ensure_ascii=is_ascii)
                rows = [{"note": text}, {"type": "system", "cwd": cwd}, {"arguments": inner}]
                data = b"".join(json.dumps(row, ensure_ascii=is_ascii).encode() + b"\n" for row in rows)
                noted, _, last = map(json.loads, redacted_bytes(data)[0].splitlines())
                assert noted["note"].startswith(expected)
                assert json.loads(last["arguments"])["path"].startswith(expected)
    monkeypatch.setattr(recording_lines, "MOST_LINE_BYTES", 1 << 19)
    line = json.dumps({"a": "x y " * 200_000 + TOKEN + "\nä" * 100_000, "b": f"/home/ada/{TOKEN}"}).encode()
    written, report = redacted_bytes(b'{"cwd":"/home/ada"}\n' + line + b"\n{}\n")
    first, second, third = written.splitlines()
    assert (first, third) == (b'{"cwd":"~"}', b"{}")
    assert TOKEN.encode() not in second
    assert json.loads(second)["a"].count("ä") == 100_000
    assert json.loads(second)["b"].startswith("~/[secret:")
    assert report.secrets.total() == 2


def test_places_do_not_overlap_and_equal_values_have_equal_masks() -> None:
    """Overlapping places are joined, and the kind is that of the one that was found first. A place within
    another one of a better kind leaves it as it is. A secret is masked with its kind and 4 hexadecimal
    digits. One value reads the same everywhere in an export, and other values read differently.
    """
    found = [Found(5, 9, "jwt"), Found(20, 22, "key"), Found(3, 12, "token"), Found(0, 3, "user name")]
    assert joined(found) == [Found(0, 3, "user name"), Found(3, 12, "jwt"), Found(20, 22, "key")]
    assert joined([Found(0, 9, "jwt"), Found(2, 4, "key")]) == [Found(0, 9, "jwt")]
    assert joined([Found(2, 4, "key"), Found(0, 9, "jwt")]) == [Found(0, 9, "key")]
    assert re.fullmatch(r"\[secret:github [0-9a-f]{4}\]", Masks().mask("value", "github"))
    masks = Masks()
    assert masks.mask("one", "key") == masks.mask("one", "key")
    assert len({masks.mask(f"value {number}", "key") for number in range(20)}) > 15
    # The masks of two exports have nothing in common. A home folder becomes `~`, a user a name that a path
    # can have, and an address says what it was. A value with lone surrogates has a mask as well. What is
    # masked is not masked again, whatever label stands before it.
    values = [f"value {number}" for number in range(8)]
    one, other = Masks(), Masks()
    assert [one.mask(value, "key") for value in values] != [other.mask(value, "key") for value in values]
    masks = Masks(b"key")
    assert masks.mask("/home/ada", HOME) == "~"
    assert re.fullmatch("user-[0-9a-f]{4}", masks.mask("ada", USER))
    assert re.fullmatch(r"\[e-mail [0-9a-f]{4}\]", masks.mask("ada@lovelace.io", E_MAIL))
    assert Masks().mask("\ud800", "key").startswith("[secret:key ")
    mask = Masks().mask("hunter22", "password")
    for text in (f"PASSWORD={mask}", f'"api_key": "{mask}"', f"curl -u a:{mask}", f"://a:{mask}@host"):
        assert find(text) == []
