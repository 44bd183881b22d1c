"""A part that repeats its id replaces its text: it has grown, or it is another text."""

from __future__ import annotations

from typing import Any

from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.agents.opencode.lines import session_line, stored
from tests.builders.lines import session


def written(text: str, part_id: str = "prt_1", **part: Any) -> bytes:
    """Return the line of a text that may still grow."""
    return stored("text", id=part_id, text=text, **part)


def answers(found: Session) -> list[str]:
    """Return the texts of the answer as the transcript shows them."""
    return [str(entry.content) for entry in found.transcript if entry.kind is Kind.ANSWER]


def test_a_text_grows() -> None:
    """Each line has the whole text so far, of which only the new part is added."""
    found = session(session_line(), written("He"), written("Hello"), written("Hello", time={"end": 5}))
    assert (found.text, answers(found)) == ("Hello", ["Hello"])


def test_a_text_may_grow_after_another_entry() -> None:
    """What is added after a call, or after the text has ended, is an entry of its own."""
    tool = stored("tool", id="prt_9", tool="glob", callID="c", state={"status": "running"})
    found = session(session_line(), written("He"), tool, written("Hello"))
    assert (found.text, answers(found)) == ("Hello", ["He", "llo"])
    found = session(session_line(), written("He", time={"end": 1}), written("Hello", time={"end": 2}))
    assert (found.text, answers(found)) == ("Hello", ["He", "llo"])


def test_the_last_text_can_be_replaced() -> None:
    """A text that is not continued replaces the one before; a shorter one too."""
    found = session(session_line(), written("Hallo"), written("Hello you"), written("Hello"))
    assert found.text == "Hello"
    assert "the agent replaced the text above" in [str(entry.content) for entry in found.transcript]


def test_an_earlier_text_is_not_replaced() -> None:
    """Only the last text of the answer can be taken back; reasoning cannot."""
    found = session(session_line(), written("a"), written("b", "prt_2"), written("x"))
    assert found.text == "ab"
    thoughts = [stored("reasoning", id="prt_1", text=text) for text in ("Hm", "Well")]
    assert session(session_line(), *thoughts).transcript[-1].kind is Kind.REASONING
    assert len(session(session_line(), *thoughts).transcript) == 1


def test_texts_of_two_parts_do_not_run_together() -> None:
    """Two texts in a row are two entries, also without the end of the first; so are texts without an id."""
    found = session(session_line(), written("a"), written("b", "prt_2"))
    assert answers(found) == ["a", "b"]
    found = session(session_line(), written("a", ""), written("a", ""))
    assert answers(found) == ["a", "a"]


def test_texts_of_several_agents_do_not_mix() -> None:
    """The texts of a subagent are entries of their own between the main agent's."""
    child = stored("text", agent="call_x", id="prt_5", text="child")
    found = session(session_line(), written("a"), child, written("ab"))
    assert (found.text, answers(found)) == ("ab", ["a", "child", "b"])


def test_a_text_without_words_adds_nothing() -> None:
    """An empty text, and one of another type, is no entry."""
    found = session(session_line(), written(""), stored("text", id="prt_2", text=7, time={"end": 3}))
    assert len(found.transcript) == 0


def test_only_the_newest_texts_are_compared() -> None:
    """The lengths of 64 texts are kept; an older one that is repeated counts as new."""
    many = [written("x", f"prt_{number}", time={"end": 1}) for number in range(65)]
    assert len(session(session_line(), *many, written("x", "prt_64")).text) == 65
    assert len(session(session_line(), *many, written("x", "prt_0")).text) == 66
