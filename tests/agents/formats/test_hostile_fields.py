"""Hostile text in every string field of every format acts on no terminal when it is printed."""

from __future__ import annotations

import json
import unicodedata

import pytest

from agentwatch.agents import Decoder
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.integrity import integrity
from agentwatch.output.summary import summary
from agentwatch.session.actions import action
from agentwatch.session.session import Session
from tests.builders.captures import OURS, Captures
from tests.builders.formats.poisoned import MARKS, MIXED, lines_of
from tests.builders.formats.samples import KNOWN, named, of_a_format, read
from tests.builders.payloads import PAYLOADS
from tests.conftest import case

pytestmark = pytest.mark.slow
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


@pytest.mark.system
@pytest.mark.parametrize("texts", [TEXTS[-1:], pytest.param(TEXTS, marks=pytest.mark.system)], ids=len)
def test_what_is_printed_is_safe(captures: Captures, texts: list[str]) -> None:
    """Summary, actions and integrity line of hostile lines contain no control character."""
    for title, data, name in of_a_format(captures):
        for text in texts:
            for keep in (MARKS, frozenset[str]()):
                with case(f"{title}, {text!r}, {len(keep)} fields kept"):
                    found = read(b"\n".join(lines_of(data, text, keep)), name)
                    check(found, name)
                    assert found.lines.malformed == 0


@pytest.mark.system
def test_the_detail_of_hostile_lines_can_be_made(captures: Captures) -> None:
    """The blocks of hostile lines can be made into text."""
    made = 0
    for title, data, name in of_a_format(captures):
        decoder = Decoder(named(name))
        with case(title):
            for line in lines_of(data, MIXED, MARKS):
                decoder.decode(line)
                for block in decoder.blocks(line, "x"):
                    assert isinstance(block_text(block), str)
                    made += 1
    assert made


def test_every_format_has_a_sample() -> None:
    """Each format is tried, except the one for lines that several formats share."""
    tried = {name for _, _, name in of_a_format(OURS)}
    assert KNOWN - tried <= {"claude-family"}
