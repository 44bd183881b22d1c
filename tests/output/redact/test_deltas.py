"""A secret that is split over deltas is found, in the deltas of every agent and between other lines."""

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import case
from tests.output.redact.delta_lines import FORMS, Form
from tests.output.redact.planted import PASSWORDS, TOKEN, TOKENS, occurs, pieces
from tests.output.redact.redacting import redacted_bytes

CUTS = st.lists(st.integers(0, 200), min_size=1, max_size=30)
QUICK = settings(max_examples=40)
QUICK_FORMS = "claude", "cursor"
every_form = pytest.mark.parametrize(
    "form",
    [
        pytest.param(form, id=name, marks=() if name in QUICK_FORMS else pytest.mark.system)
        for name, form in FORMS.items()
    ],
)


def interleaved(form: Form, texts: list[list[str]], random: Random) -> tuple[list[bytes], list[int]]:
    """Return the deltas of blocks in any order, and the block of each."""
    left = [[*each] for each in texts]
    lines: list[bytes] = []
    blocks: list[int] = []
    while any(left):
        block = random.choice([number for number, each in enumerate(left) if each])
        blocks.append(block)
        lines.append(form.line(left[block].pop(0), block, len(lines)))
    return lines, blocks


def texts_of(form: Form, data: bytes, blocks: list[int]) -> list[str]:
    texts = [""] * (max(blocks) + 1)
    for line, block in zip(data.splitlines(), blocks, strict=True):
        texts[block] += form.text(line)
    return texts


@every_form
@QUICK
@given(TOKENS, CUTS, CUTS, st.integers())
def test_a_split_secret_is_masked(
    form: Form, secret: str, cuts: list[int], others: list[int], seed: int
) -> None:
    """A token that deltas split anywhere is masked, also between the deltas of another block."""
    texts = [pieces(f'I use "{secret}" here,\nand more.', cuts), pieces("another block " * 9, others)]
    lines, blocks = interleaved(form, texts, Random(seed))
    written, report = redacted_bytes(b"".join(lines))
    first, second = texts_of(form, written, blocks)
    assert first.startswith('I use "[secret:')
    assert first.endswith('" here,\nand more.')
    assert not occurs(secret, first.encode())
    assert second == "another block " * 9
    assert report.secrets.total() == 1


@every_form
@QUICK
@given(PASSWORDS, CUTS)
def test_a_password_is_masked_in_the_text_that_repeats_the_deltas(
    form: Form, secret: str, cuts: list[int]
) -> None:
    """The deltas and the result that repeats them are masked in the same way, and equal each other."""
    text = f"Set PASSWORD={secret} first.\nThen {secret} again: 'postgres://u:{secret}@db/x'."
    lines = [form.line(piece, 0, number) for number, piece in enumerate(pieces(text, cuts))]
    result = json.dumps({"type": "result", "result": text}).encode() + b"\n"
    written, _ = redacted_bytes(b"".join([*lines, result]))
    *deltas, last = written.splitlines()
    assert "".join(map(form.text, deltas)) == json.loads(last)["result"]
    assert secret not in json.loads(last)["result"]


@QUICK
@given(TOKENS, CUTS)
def test_a_secret_in_the_arguments_of_a_call_is_masked(secret: str, cuts: list[int]) -> None:
    """The deltas of arguments are JSON in JSON: their escapes hide where a token begins."""
    form = FORMS["claude arguments"]
    arguments = json.dumps({"command": f"export A=1\n{secret}\tls", "timeout": 5})
    lines = [form.line(piece, 1, number) for number, piece in enumerate(pieces(arguments, cuts))]
    written, report = redacted_bytes(b"".join(lines))
    command = json.loads("".join(map(form.text, written.splitlines())))["command"]
    assert command.startswith("export A=1\n[secret:")
    assert command.endswith("]\tls")
    assert report.secrets.total() == 1


def test_a_text_between_others_is_searched_alone() -> None:
    """A value at the begin or the end of a text is found, although the text has the form of a delta."""
    # Messages that repeat what was said so far do not show the first half of a token.
    secret = "ghp_" + Random(7).randbytes(18).hex()
    text = f"The token is {secret} and more."
    growing = [
        {"type": "update", "part": {"id": "p1", "text": text[:size]}} for size in range(1, len(text) + 1)
    ]
    written, _ = redacted_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in growing))
    shown = [json.loads(line)["part"]["text"] for line in written.splitlines()]
    assert all(secret[:8] not in each for each in shown)
    assert shown[5] == text[:6]
    # Whole texts in lines of one form are not joined: a value ends with its line.
    rows = [{"env": f"DB_PASSWORD=tul{at}x4be2z"} for at in range(9)]
    written, report = redacted_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    assert report.secrets == {"password": 9}
    assert written.count(b"DB_PASSWORD=[secret:password ") == 9
    texts = (TOKEN, f"password={TOKEN[8:20]}", f"Bearer {TOKEN[4:30]}")
    for key in ("text", "output", "content", "delta"):
        for text in texts:
            with case(f"{key} {text}"):
                rows = [{"type": "x", key: each} for each in ("done", text, " ok")]
                written, report = redacted_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
                assert report.secrets.total() == 1
                assert TOKEN[8:20].encode() not in written
                assert [json.loads(line)[key] for line in written.splitlines()][::2] == ["done", " ok"]


@QUICK
@given(CUTS)
def test_what_begins_as_a_secret_stays(cuts: list[int]) -> None:
    """A delta that ends with letters with which a secret begins, too, is not a part of the secret."""
    form, text = (
        FORMS["claude"],
        f"See https://hooks.example.org and {TOKEN[:10]}… and https://hooks.example.org",
    )
    secret = f"https://hooks.slack.com/services/T0{TOKEN[4:12].upper()}/B0{TOKEN[12:20].upper()}/{TOKEN[16:]}"
    lines = [form.line(piece, 0, number) for number, piece in enumerate(pieces(text, cuts))]
    last = json.dumps({"type": "result", "result": f"{secret} {TOKEN}"}).encode() + b"\n"
    written, report = redacted_bytes(b"".join([*lines, last]))
    assert "".join(map(form.text, written.splitlines()[:-1])) == text
    assert report.secrets.total() == 2


@pytest.mark.system
def test_a_long_block_is_searched_to_its_end() -> None:
    """A token is found wherever it is in a block of a megabyte, also at the borders of windows."""
    form, secrets, texts = FORMS["claude"], [], []
    random = Random(4)
    for _ in range(400):
        secrets.append("ghp_" + "".join(random.choices("abcdefABCDEF0123456789", k=36)))
        texts.append("some words " * random.randrange(1, 200) + secrets[-1] + " ")
    text = "".join(texts)
    cuts = sorted(random.randrange(len(text)) for _ in range(60_000))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    written, report = redacted_bytes(b"".join(form.line(part, 0, at) for at, part in enumerate(parts)))
    after = "".join(map(form.text, written.splitlines()))
    assert not [secret for secret in secrets if secret in after]
    assert after.count("[secret:") == report.secrets.total() == len(secrets)


UNKNOWN: dict[str, Callable[[str, int], dict[str, object]]] = {
    "an unknown key": lambda text, at: {"type": "d", "fragment": text, "at": at},
    "ids of events": lambda text, at: {"event_id": f"evt_{at * 7919}", "type": "d", "delta": text},
    "ids of messages": lambda text, at: {"id": f"msg-{at:04x}", "text": text},
    "times in another form": lambda text, at: {"ts": f"18:00:{at % 60:02}", "say": {"what": text}},
    "a chunk of an API": lambda text, at: {
        "id": "c-1",
        "choices": [{"index": 0, "delta": {"content": text}}],
    },
}


def test_a_secret_in_deltas_of_an_unknown_format_is_masked() -> None:
    """Lines that differ in a string alone are joined, whatever its key is, and although each has an id."""
    text = f"I use {TOKEN} here, password=tul9x4be2z now."
    for name, row in UNKNOWN.items():
        for size in (3, 7, 11):
            with case(f"{name} {size}"):
                parts = [text[at : at + size] for at in range(0, len(text), size)]
                data = b"".join(json.dumps(row(part, at)).encode() + b"\n" for at, part in enumerate(parts))
                written, report = redacted_bytes(data)
                assert report.secrets.total() == 2
                hidden = parts[len("I use ") // size + 1 : len(f"I use {TOKEN}") // size]
                assert not [part for part in hidden if f'"{part}"'.encode() in written]
                assert written.count(b"\n") == len(parts)
