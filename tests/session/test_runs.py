"""A run compares its text with its result when one of them has changed, and not each time it is asked."""

from __future__ import annotations

import pytest

from agentwatch.agents import Decoder
from agentwatch.session import runs
from agentwatch.session.call import Place
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.session.storage import GrowingText, is_joined
from tests.builders.lines import final, init, result, segment, user


def apply(read: Session, decoder: Decoder, *lines: bytes) -> None:
    """Apply lines to a session that goes on."""
    for line in lines:
        apply_line(read, decoder.decode(line.rstrip(b"\n")), Place(0, len(line), None), 1)


def test_the_text_is_compared_once_with_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked at each frame, a run compares again only when text was added or another result came."""
    compared = 0

    def counted(whole: GrowingText, pieces: list[GrowingText]) -> bool:
        nonlocal compared
        compared += 1
        return is_joined(whole, pieces)

    monkeypatch.setattr(runs, "is_joined", counted)
    read, decoder = Session(), Decoder()
    apply(read, decoder, init(), segment("a"), result("ab"))
    assert [read.run.text_matches_result for _ in range(3)] == [False] * 3
    assert compared == 1
    apply(read, decoder, final("b"))
    assert [read.run.text_matches_result for _ in range(3)] == [True] * 3
    assert compared == 2
    apply(read, decoder, result("xy"))
    assert [read.run.text_matches_result for _ in range(3)] == [False] * 3
    assert compared == 3


def test_a_run_describes_itself() -> None:
    """In a notebook a run shows its format, its outcome and the number of its turns."""
    read, decoder = Session(), Decoder()
    apply(read, decoder, init(), user("Go."), segment("Done."), result("Done."))
    assert repr(read.run) == "<Run of cursor: succeeded, 1 turn>"
