"""A whole text adds to its deltas what they lack, and replaces them if it differs."""

from __future__ import annotations

from agentwatch.agents.pi.agent import AGENT
from agentwatch.agents.pi.stream import MessageText
from agentwatch.session.events import Channel, Text, TextEnded, TextRetracted
from tests.agents.pi.lines import agent_end, assistant, delta, end, text, thought, update
from tests.builders.agents.decoded import session_of

ANSWER, REASONING = Channel.ANSWER, Channel.REASONING


def test_a_message_without_deltas_is_said_by_its_end() -> None:
    """A stream that was cut, or that has no deltas, has the whole message."""
    seen = session_of(AGENT, end(assistant(thought("Hm."), text("One."), text("Two."))), agent_end())
    assert seen.text == "One.Two."
    assert [entry.text for entry in seen.transcript][:3] == ["Hm.", "One.", "Two."]
    assert session_of(AGENT, end({"role": "assistant", "content": "Old."})).text == "Old."


def test_the_end_of_a_block_completes_its_deltas() -> None:
    """What the deltas lack at their end is added, also to a thought that is not the last block."""
    seen = session_of(
        AGENT,
        delta("Hm", 0, "thinking"),
        delta("One", 1),
        update("thinking_end", 0, content="Hm."),
        update("text_end", 1, content="One."),
        update("text_end", 2, content="Two."),
        end(assistant(thought("Hm."), text("One."), text("Two."))),
    )
    assert seen.text == "One.Two."
    cut = [delta("Hm", 0, "thinking"), delta("One", 1), update("thinking_end", 0, content="Hm.")]
    seen = session_of(AGENT, *cut, update("text_end", 1, content="One."))
    assert [entry.text for entry in seen.transcript] == ["Hm", "One", ".", "."]


def test_a_message_that_differs_from_its_deltas_replaces_them() -> None:
    """The answers from the first that differs on are said again; what came before stays."""
    seen = session_of(
        AGENT,
        end(assistant(text("Before."))),
        *(delta("One.", 0), delta("Tow.", 1), delta("Three.", 2)),
        update("text_end", 1, content="Two."),
        end(assistant(text("One."), text("Two."), text("Three."))),
    )
    assert seen.text == "Before.One.Two.Three."
    lacking = session_of(AGENT, delta("Two.", 1), end(assistant(text("One."), text("Two."))))
    assert lacking.text == "One.Two."


def test_a_text_is_only_retracted_if_it_was_said() -> None:
    """A block that no delta had is new; an end without texts leaves the deltas as they are."""
    message = MessageText()
    assert message.add(0, ANSWER, "A") == [Text(ANSWER, "A")]
    assert message.end([(0, ANSWER, "A"), (1, ANSWER, "B")]) == [
        TextEnded(ANSWER),
        Text(ANSWER, "B"),
        TextEnded(ANSWER),
    ]
    message.add(0, ANSWER, "A")
    assert message.end([]) == [TextEnded(ANSWER)]
    message.add(0, ANSWER, "A")
    assert message.end([(0, ANSWER, "B")])[1] == TextRetracted(1)


def test_an_older_block_waits_for_the_end_of_its_message() -> None:
    """The end of an answer that is not the last block adds nothing; an empty block adds nothing either."""
    message = MessageText()
    message.add(0, ANSWER, "A")
    assert message.add(1, ANSWER, "B") == [TextEnded(ANSWER), Text(ANSWER, "B")]
    assert message.end_block(0, ANSWER, "AA") == []
    assert message.end_block(1, ANSWER, "C") == message.end_block(2, ANSWER, "") == []


def test_only_the_last_blocks_of_a_message_are_kept() -> None:
    """Of a hundred blocks the first are forgotten; the last are still compared."""
    message = MessageText()
    for index in range(100):
        message.add(index, REASONING, "x")
    assert message.end_block(99, REASONING, "xy") == [Text(REASONING, "y")]
    assert message.end_block(0, REASONING, "x") == [TextEnded(REASONING), Text(REASONING, "x")]


def test_half_an_emoji_is_replaced_by_the_whole_message() -> None:
    """Deltas that split an emoji are shown with a mark until the message repeats them whole."""
    seen = session_of(AGENT, delta("go \ud83d"), delta("\ude80"), end(assistant(text("go 🚀"))))
    assert seen.text == "go 🚀"
