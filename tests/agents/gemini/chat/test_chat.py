"""The events of the messages in Gemini's chat files."""

from __future__ import annotations

from typing import Any

from tests.builders.formats.gemini_chat import (
    AT,
    CONTEXT,
    CONTEXT_TEXT,
    ONE,
    TOKENS,
    TWO,
    answer,
    call,
    facts,
    message,
    notes,
    prompt,
    replaced,
    response,
    whole,
)
from tests.builders.formats.wrong_types import outcomes
from tests.conftest import case


def test_a_chat_has_its_session_folder_model_turns_and_text() -> None:
    """The first line, the context and the messages make the run."""
    found = whole(replaced(CONTEXT), *ONE, answer("B", "a2", model="pro", tokens=TOKENS))
    run = found.run
    assert (run.session_id, run.cwd, run.model, run.prompt) == ("s-1", "/home/dev/proj", "pro", "Ask.")
    assert facts(found) == ("AB", 1, "succeeded")
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (1000, 400, 25)


def test_a_message_that_is_written_again_is_not_doubled() -> None:
    """An answer is written without its calls, and again with them."""
    first = answer("A", "a1", tokens=TOKENS, thoughts=[{"subject": "Plan", "description": "d"}])
    found = whole(prompt("Ask.", "p1"), first, first | {"toolCalls": [call()]}, answer("B", "a2"))
    assert facts(found) == ("AB", 1, "succeeded")
    assert found.run.tokens.input == 1000
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["Plan\n\nd"]
    assert outcomes(found) == {"c-1": "succeeded"}
    assert sum(entry.kind == "result" for entry in found.transcript) == 1


def test_what_comes_later_to_a_message_is_added() -> None:
    """Tokens and thoughts may come with a later copy; only what is new in them counts."""
    thoughts = [{"description": "a"}, {"subject": "b"}, 1]
    first = answer("A", "a1", tokens=None, thoughts=thoughts[:1])
    more = TOKENS | {"input": 1500}
    found = whole(*ONE[:1], first, first | {"tokens": TOKENS}, first | {"tokens": more, "thoughts": thoughts})
    assert (found.run.tokens.input, found.run.tokens.output) == (1500, 25)
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["a", "b"]


def test_an_answer_with_another_text_replaces_the_first() -> None:
    """The text of the last copy counts, also if other answers follow; those stay."""
    assert facts(whole(*ONE, answer("AA", "a1")))[0] == "AA"
    assert facts(whole(*ONE, *TWO, answer("AA", "a1")))[0] == "AAB"
    assert facts(whole(*ONE[:1], answer("", "a1"), answer("A", "a1")))[0] == "A"


def test_a_prompt_is_written_once() -> None:
    """A copy of a prompt is no other turn."""
    assert facts(whole(ONE[0], ONE[0] | {"content": "Other"}, ONE[1])) == ("A", 1, "succeeded")


def test_what_the_agent_says_in_the_users_name_is_no_prompt() -> None:
    """The context, a summary and the results of calls start no turn."""
    cases: list[str] = [
        CONTEXT_TEXT,
        f"{CONTEXT_TEXT}\n\nMy setup is complete. I will provide my first command in the next turn.",
        "<state_snapshot>x",
        "<hook_context>x",
        "System: Please continue.",
        "Here is the user's editor context as a JSON object",
        "",
    ]
    for text in cases:
        with case(text):
            assert facts(whole(prompt(text, "x"))) == ("", 0, "unfinished")
            assert facts(whole(message("user", response(output="x"), "x"), *ONE)) == ("A", 1, "succeeded")


def test_a_prompt_is_what_the_user_typed() -> None:
    """The files that a prompt names are no part of it."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"content": "Ask."}, "Ask."),
        ({"content": ["As", {"text": "k."}, 1]}, "Ask."),
        ({"content": {"text": "Ask."}}, "Ask."),
        ({"content": "@a\n--- Content from referenced files ---\nx"}, "@a"),
        ({"content": "@a with content", "displayContent": "@a"}, "@a"),
        ({"content": f"{CONTEXT_TEXT}\nAsk."}, "Ask."),
    ]
    for fields, text in cases:
        with case(fields):
            assert whole(ONE[0] | fields).run.prompt == text


def test_the_folder_is_only_in_the_context() -> None:
    """The context may be before the prompt in the same message; the words of a user name no folder."""
    assert whole(ONE[0] | {"content": f"{CONTEXT_TEXT}\nAsk."}).run.cwd == "/home/dev/proj"
    assert whole(ONE[0] | {"content": "Workspace Directories:\n  - /elsewhere"}).run.cwd is None


def test_a_command_of_the_user_is_a_notice() -> None:
    """What the user ran is shown, once, and starts no turn."""
    line = message("user", "I ran the following shell command:\n```sh\nls\n```\n", "x")
    assert notes(whole(line, line)) == ["you ran ls"]
    assert notes(whole(message("user", "I ran the following shell command:", ""))) == ["you ran "]


def test_the_outcome_of_a_turn() -> None:
    """An answer without calls ends a turn well, an error ends it badly, and a cancellation ends it too."""
    cases: list[tuple[list[dict[str, Any]], str]] = [
        ([answer("A", "a1")], "succeeded"),
        ([answer("", "a1", call()), answer("A", "a2")], "succeeded"),
        ([answer("A", "a1", call())], "unfinished"),
        ([answer("", "a1")], "unfinished"),
        ([answer("A", "a1"), message("user", response(output="x"), "r")], "unfinished"),
        ([answer("A", "a1", call(status="cancelled"))], "cancelled"),
        ([answer("A", "a1", call(), call("c-2", status="cancelled"))], "unfinished"),
        ([answer("A", "a1"), message("info", "Request cancelled.", "i")], "cancelled"),
        ([answer("A", "a1"), message("info", "hi", "i")], "succeeded"),
        ([message("error", "API Error", "e")], "failed"),
        ([answer("A", "a1"), message("error", "API Error", "e")], "failed"),
        ([message("error", "x", "e"), message("error", "y", "f")], "failed"),
        ([message("info", "Request cancelled.", "i"), answer("A", "a1")], "succeeded"),
        ([message("warning", "w", "w")], "unfinished"),
        ([], "unfinished"),
    ]
    for lines, outcome in cases:
        with case(lines):
            assert whole(ONE[0], *lines).outcome == outcome


def test_a_turn_ends_once_and_the_next_continues_the_run() -> None:
    """Each turn has one end, and the outcome of the last is the run's."""
    found = whole(*ONE, message("error", "x", "e"), *TWO)
    assert facts(found) == ("AB", 2, "succeeded")
    assert sum(entry.kind == "result" for entry in found.transcript) == 2
    cancelled = answer("A", "a1", call(status="cancelled"))
    found = whole(ONE[0], cancelled, message("info", "Request cancelled.", "i"), cancelled)
    assert sum(entry.kind == "result" for entry in found.transcript) == 1
    assert whole(ONE[0], cancelled, TWO[0], cancelled).outcome == "unfinished"


def test_a_failed_turn_has_the_message_of_its_error() -> None:
    """The message of an error is the result of its turn; one of 50,000 characters is cut."""
    found = whole(ONE[0], message("error", [{"text": "x" * 50_000}], "e"))
    assert found.run.result == found.last_error == "x" * 4095 + "…"
    assert whole(ONE[0], message("error", "", "e")).run.result is None


def test_a_notice_is_written_once() -> None:
    """A copy of a notice adds nothing."""
    assert notes(whole(message("info", "hi", "i"), message("info", "hi", "i"))) == ["hi"]
    assert notes(whole(message("warning", "", "", displayContent="hi"))) == ["hi"]


def test_what_is_not_known_is_counted() -> None:
    """Unknown types of messages and changes are counted."""
    assert whole(message("weather", "x")).lines.unknown == 1
    assert whole({"$patch": {}}).lines.unknown == 1
    assert whole({"type": "model", "id": "x", "parts": [{"text": "Ok"}], "timestamp": AT}).text == "Ok"
