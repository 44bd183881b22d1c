"""Each text of a rollout is shown once, although it comes twice, and only the user's are prompts."""

from __future__ import annotations

from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.codex.lines import (
    META,
    Json,
    completed,
    event,
    function,
    item,
    message,
    notes,
    output,
    read,
)
from tests.conftest import case

START, END = event("task_started"), event("task_complete", duration_ms=5)
CONTEXT = "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"


def said(text: str, key: str | None = None) -> Json:
    """Return a message of the model."""
    own = {} if key is None else {"id": key}
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}], **own)


def heard(text: str) -> Json:
    """Return the event of a message of the model."""
    return event("agent_message", message=text)


def asked(text: str) -> Json:
    """Return the event of a prompt."""
    return event("user_message", message=text)


def answer(text: str, key: str) -> Json:
    """Return a message of the model in a paginated history."""
    return completed("AgentMessage", key, content=[{"type": "Text", "text": text}])


def entries(found: Session, kind: Kind) -> list[str]:
    """Return the texts of one kind."""
    return [entry.text for entry in found.transcript if entry.kind is kind]


def test_an_answer_is_shown_once() -> None:
    """Whichever copy comes first is shown, and its copy is not, even if it has more than what was shown."""
    cases: list[tuple[list[Json], str]] = [
        ([heard("a"), said("a")], "a"),
        ([said("a"), heard("a")], "a"),
        ([heard("a"), heard("b"), said("a"), said("b")], "ab"),
        ([said("a"), said("a")], "aa"),
        ([heard("a"), said("a"), heard("a"), said("a")], "aa"),
        ([heard("a"), said("a<oai-mem-citation>1</oai-mem-citation>")], "a"),
        ([heard("a"), function("x"), output("y"), said("b")], "ab"),
        ([heard("a"), END, START, said("b")], "ab"),
        ([answer("a", "m-1"), said("a", "m-1")], "a"),
        ([answer("a", "m-1"), said("a and more", "m-1")], "a"),
        ([answer("a", "m-1"), said("b", "m-2")], "ab"),
        ([said("a", "m-1"), answer("a", "m-1")], "a"),
        ([completed("Plan", text="# P"), said("<proposed_plan># P</proposed_plan>")], "# P"),
        (
            [
                heard("a"),
                completed("Plan", text="# P"),
                said("a<proposed_plan># P</proposed_plan>"),
                said("b"),
            ],
            "a# Pb",
        ),
        ([heard(""), said(""), answer("", "m"), completed("Plan")], ""),
    ]
    for lines, text in cases:
        with case(lines):
            assert read(META, START, asked("x"), *lines, END).text == text


def test_a_text_that_two_kinds_of_events_report_is_shown_once() -> None:
    """A completed item and an event of the older form report the same prompt and the same answer."""
    item_asked = completed("UserMessage", content=[{"type": "text", "text": "x"}])
    turn = [item_asked, asked("x"), answer("a", "m-1"), heard("a"), said("a", "m-1")]
    found = read(META, START, *turn, END, START, *turn, END)
    assert (found.runs[-1].turns, found.text) == (2, "aa")
    found = read(META, START, asked("x"), item_asked, heard("a"), said("a", "m-1"), answer("a", "m-1"), END)
    assert (found.runs[-1].turns, found.text) == (1, "a")
    assert read(META, START, asked("x"), heard("a"), asked("x"), heard("a"), END).runs[-1].turns == 2


def test_an_error_before_the_end_of_a_turn_without_an_answer_is_its_reason() -> None:
    """Older versions end a turn that failed without an error; one that has an answer went on after it."""
    failed = [asked("x"), event("error", message="no quota"), event("task_complete", last_agent_message=None)]
    found = read(META, START, *failed)
    assert (found.outcome, found.runs[-1].result) == (Outcome.FAILED, "no quota")
    assert read(META, START, *failed, START, asked("x"), END).outcome is Outcome.SUCCEEDED
    answered = [heard("a"), event("task_complete", last_agent_message="a")]
    assert read(META, START, asked("x"), failed[1], *answered).outcome is Outcome.SUCCEEDED
    aborted = [START, asked("x"), failed[1], event("turn_aborted"), START, asked("y"), END]
    assert read(META, *aborted).outcome is Outcome.SUCCEEDED


def test_a_turn_has_another_name_in_newer_sources() -> None:
    """`turn_started` and `turn_complete` are `task_started` and `task_complete`."""
    found = read(META, event("turn_started"), asked("x"), heard("a"), event("turn_complete"))
    assert (found.runs[-1].turns, found.outcome, found.lines.unknown) == (1, Outcome.SUCCEEDED, 0)


def test_reasoning_is_shown_once() -> None:
    """Its parts come as events of their own, as parts of one item, or as both."""
    parts = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}, 7]
    events = [
        event("agent_reasoning", text="a"),
        event("agent_reasoning", text="b"),
        event("agent_reasoning"),
    ]
    for lines in (
        [*events, item("reasoning", summary=parts)],
        [item("reasoning", summary=parts)],
        [completed("Reasoning", "r", summary_text=["a", "b"]), item("reasoning", summary=parts, id="r")],
        [completed("Reasoning", "r", raw_content=["a", "b"]), item("reasoning", content=parts, id="r")],
    ):
        assert entries(read(META, *lines), Kind.REASONING) == ["a", "b"]


def test_only_messages_of_the_user_are_prompts() -> None:
    """An event proves a prompt; without one, an item is a prompt unless Codex wrote it for the user."""
    cases: list[tuple[list[Json], list[str]]] = [
        ([message("user", "x"), asked("x"), heard("y")], ["x"]),
        ([asked("x"), message("user", "x"), heard("y")], ["x"]),
        ([message("user", CONTEXT), message("user", "# AGENTS.md instructions for /x"), heard("y")], []),
        ([message("user", "[redacted]"), message("user", "[x]"), asked("x"), heard("y")], ["x"]),
        ([message("user", "x"), said("y"), message("user", "z"), function("f")], ["x", "z"]),
        ([message("user", "x"), said("y"), asked("x")], ["x"]),
        ([message("user", "x")], ["x"]),
        ([message("user", "x"), END], ["x"]),
        ([message("user", "<x>"), heard("y")], ["<x>"]),
        ([asked("x"), heard("y"), message("user", "<x>"), message("user", "z"), heard("y")], ["x", "z"]),
        ([START, message("user", "the summary"), END], []),
        ([START, message("user", "x"), heard("y"), END], ["x"]),
        ([message("user", "a", "b"), heard("y")], ["a", "b"]),
        ([message("developer", "x"), message("system", "x"), heard("y")], []),
        ([asked("")], ["[image]"]),
        ([completed("UserMessage", content=[{"text": "x"}, {"type": "image"}])], ["x"]),
        (
            [
                message(
                    "user",
                    "x",
                    internal_chat_message_metadata_passthrough={"content_item_kinds": ["generic.y"]},
                )
            ],
            [],
        ),
        (
            [
                message(
                    "user",
                    "x",
                    internal_chat_message_metadata_passthrough={"content_item_kinds": ["user.text"]},
                )
            ],
            ["x"],
        ),
        ([item("message", role="user", content=[{"type": "input_image"}]), heard("y")], []),
    ]
    for lines, prompts in cases:
        with case(lines):
            assert entries(read(META, *lines), Kind.PROMPT) == prompts


def test_turns_are_those_of_the_user() -> None:
    """The start of a turn may come after its prompt; a turn without a prompt counts if it has an answer."""
    assert read(META, START, asked("x"), said("y"), END).run.turns == 1
    assert read(META, asked("x"), START, said("y"), END).run.turns == 1
    assert read(META, START, said("y"), END, START, said("z")).run.turns == 2
    review = event("entered_review_mode", user_facing_hint="changes")
    found = read(
        META, START, review, event("exited_review_mode", review_output={"overall_explanation": "ok"})
    )
    assert (found.run.turns, notes(found)) == (1, ["review: changes", "review ended: ok"])


def test_a_compaction_is_no_turn() -> None:
    """Three lines report one compaction, in a turn of its own that changes no outcome."""
    compacted = {"type": "compacted", "payload": {"message": ""}}
    lines = [START, compacted, event("context_compacted"), completed("ContextCompaction"), END]
    found = read(META, START, asked("x"), said("y"), event("task_complete", error={"message": "no"}), *lines)
    assert (found.run.turns, found.outcome, notes(found)) == (1, Outcome.FAILED, ["context compacted"])
    assert notes(read(META, *lines, START, asked("x"), said("y"), END, *lines)) == ["context compacted"] * 2
    failed = event("task_complete", error={"message": "no room"})
    assert read(META, START, asked("x"), said("y"), END, START, failed).outcome is Outcome.FAILED


def test_the_end_of_a_turn_may_be_a_failure() -> None:
    """A turn that failed is complete too, with an error; without an end nobody knows."""
    cases: list[tuple[Json, Outcome, str | None]] = [
        (event("task_complete", last_agent_message="y"), Outcome.SUCCEEDED, None),
        (event("task_complete", error=None), Outcome.SUCCEEDED, None),
        (event("task_complete", error={}), Outcome.SUCCEEDED, None),
        (event("task_complete", error={"message": '{"error": {"message": "no"}}'}), Outcome.FAILED, "no"),
        (event("task_complete", error="no"), Outcome.FAILED, "no"),
        (event("task_complete", error=[7]), Outcome.FAILED, "the turn failed"),
        (event("turn_aborted", reason="interrupted"), Outcome.CANCELLED, None),
        (said("y"), Outcome.UNFINISHED, None),
    ]
    for end, outcome, result in cases:
        with case((end, outcome)):
            found = read(META, START, asked("x"), said("y"), end)
            assert (found.outcome, found.run.result) == (outcome, result)


def test_the_user_may_go_back() -> None:
    """Turns that were rolled back are no part of the text; their calls stay."""
    turns = [asked("x"), said("a"), function("f"), output("x"), END, asked("y"), said("b"), END]
    found = read(META, *turns, event("thread_rolled_back", num_turns=1))
    assert (found.text, found.run.turns, len(found.calls)) == ("a", 1, 1)
    assert read(META, *turns, event("thread_rolled_back")).run.turns == 2
