"""A whole message adds to its deltas what they lack, and each thought is shown once."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from tests.agents.copilot.lines import delta, line, message, passing, user
from tests.builders.agents.decoded import session_of


def answer(*lines: dict[str, Any]) -> str:
    """Return the text of a session."""
    return session_of(AGENT, user("Go"), *lines).text


def thoughts(*lines: dict[str, Any]) -> list[str]:
    """Return the thoughts of a session, in order."""
    transcript = session_of(AGENT, user("Go"), *lines).transcript
    return [entry.text for entry in transcript if entry.kind.value == "reasoning"]


def think(words: str, thought: str = "t") -> dict[str, Any]:
    """Return a delta of a thought."""
    return passing("assistant.reasoning_delta", {"reasoningId": thought, "deltaContent": words})


def thought(words: Any, number: str = "t") -> dict[str, Any]:
    """Return a whole thought."""
    return passing("assistant.reasoning", {"reasoningId": number, "content": words})


def test_a_message_that_repeats_its_deltas_is_one_text() -> None:
    """It may also be longer than its deltas, or differ from them."""
    assert answer(delta("Do"), delta("ne."), message("Done.")) == "Done."
    assert answer(delta("Do"), message("Done.")) == "Done."
    assert answer(delta("Dune"), message("Done.")) == "Done."
    assert answer(message("Before."), delta("Dune"), message("Done.")) == "Before.Done."
    assert answer(message("Done."), message("Done.")) == "Done.Done."
    assert answer(delta("Do", "m-1"), delta("More.", "m-2"), message("More.", messageId="m-2")) == "DoMore."
    assert answer(delta("Do", "m-1"), message("Other.", messageId="m-2")) == "DoOther."
    assert answer(delta("Do"), message(None)) == answer(delta("Do"), line("assistant.message_delta")) == "Do"


def test_the_chunks_of_a_streamed_message_add_nothing() -> None:
    """Without deltas, each chunk is a part of the text."""
    chunks = [message(words, chunkIndex=number, chunkCount=2) for number, words in enumerate(("Do", "ne."))]
    assert answer(*chunks) == "Done."
    assert answer(delta("Done."), chunks[0]) == "Done."


def test_a_thought_is_shown_once() -> None:
    """It comes as deltas, in the message that follows, and by itself after it."""
    whole = message("", reasoningText="Hm. Yes.")
    assert thoughts(think("Hm. "), think("Yes."), whole, thought("Hm. Yes.")) == ["Hm. Yes."]
    assert thoughts(whole, thought("Hm. Yes.")) == ["Hm. Yes."]
    assert thoughts(thought("Hm. Yes."), whole) == ["Hm. Yes."]
    assert thoughts(whole, whole) == ["Hm. Yes.", "Hm. Yes."]
    two = [think("Hm. ", "t-1"), think("Yes.", "t-2")]
    assert thoughts(*two, whole, thought("Hm. ", "t-1"), thought("Yes.", "t-2")) == ["Hm. Yes."]
    assert thoughts(thought("Hm. ", "t-1"), thought("Yes.", "t-2"), whole) == ["Hm. ", "Yes."]
    assert thoughts(thought(None), message(""), think("x"), thought("x")) == ["x"]


def test_the_thoughts_of_subagents_are_kept_apart() -> None:
    """Their deltas are held back; only the newest agents and thoughts are compared."""
    own = {"agentId": "a"}
    sub = message("", agent="a", reasoningText="Sub.")
    assert thoughts(think("Ma"), {**think("Su"), **own}, think("in."), sub, {**thought("Sub."), **own}) == [
        "Main.",
        "Sub.",
    ]
    many = [{**thought("x", f"t{number}"), "agentId": f"a{number}"} for number in range(70)]
    assert len(thoughts(*many, many[0], many[69])) == 71
    ids = [thought(f"{number}", f"t{number}") for number in range(20)]
    assert len(thoughts(*ids, ids[0], ids[19], thought("x", "h" * 2000), thought("x", "h" * 2000))) == 23
