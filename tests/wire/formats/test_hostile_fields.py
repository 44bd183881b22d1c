"""Hostile text in every string field of every format acts on no terminal when it is printed."""

from __future__ import annotations

import json
import unicodedata

import pytest

from agentwatch.actions import action
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.integrity import integrity
from agentwatch.outputs.summary import summary
from agentwatch.session import Session
from agentwatch.wire import Decoder
from tests.builders.formats.poisoned import MARKS, MIXED, lines_of
from tests.builders.formats.samples import KNOWN, OF_A_FORMAT, every_sample, named, read
from tests.builders.payloads import PAYLOADS
from tests.conftest import SHARED

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SHARES = 8
TEXTS = [*sorted(PAYLOADS.values())[:: len(PAYLOADS) // _SHARES], MIXED]


def check(session: Session, name: str) -> None:
    """Check all that is printed about a session."""
    assert_safe(b"".join(summary(session)).decode())
    json.loads(b"".join(summary(session)))
    for call in session.calls:
        assert_safe(action(call))
    assert_safe(integrity(session).line())
    assert session.format == name


def assert_safe(text: str) -> None:
    """Check that a printed line has nothing that acts on a terminal or changes how the line reads."""
    bad = {f"U+{ord(char):04X}" for char in text if unicodedata.category(char) in _CONTROLS}
    assert not bad, bad


@pytest.mark.parametrize("keep", [MARKS, frozenset[str]()], ids=["contents", "everything"])
@every_sample
def test_what_is_printed_is_safe(data: bytes, name: str, keep: frozenset[str]) -> None:
    """Summary, actions and integrity line of hostile lines contain no control character."""
    for text in TEXTS:
        found = read(b"\n".join(lines_of(data, text, keep)), name)
        check(found, name)
        assert found.lines.malformed == 0


@every_sample
def test_the_detail_of_hostile_lines_can_be_made(data: bytes, name: str) -> None:
    """The blocks of hostile lines can be made into text."""
    decoder = Decoder(named(name))
    for line in lines_of(data, MIXED, MARKS):
        decoder.decode(line)
        for block in decoder.blocks(line, "x"):
            assert isinstance(block_text(block), str)


@pytest.mark.skipif(not SHARED.exists(), reason="the recordings of others are not here")
def test_every_format_has_a_sample() -> None:
    """Each format is tried, except the one for lines that several formats share."""
    tried = {name for _, _, name in OF_A_FORMAT}
    assert KNOWN - tried <= {"claude-family"}
