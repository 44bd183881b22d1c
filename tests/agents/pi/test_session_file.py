"""The session files of Pi: branches, calls, turns, and the versions of the format."""

from __future__ import annotations

from agentwatch.agents.pi.agent import SESSION
from agentwatch.session.events import (
    Compaction,
    Notice,
    Outcome,
    Rewound,
    RunInfo,
    RunStarted,
    TurnEnded,
    Unknown,
)
from tests.agents.pi.lines import HEADER, assistant, call, entry, text, thought, user
from tests.builders.agents.decoded import events_of, ids_in, session_of
from tests.conftest import case

USAGE = {"input": 600, "output": 20, "cacheRead": 400, "cacheWrite": 0, "totalTokens": 1020}


def test_a_call_starts_with_its_message_and_ends_with_its_result() -> None:
    """Both have the time at which their line was written."""
    asked = assistant(
        thought("Hm."), text("I look."), call("c|1", "bash", command="ls"), stop="toolUse", usage=USAGE
    )
    result = {"role": "toolResult", "toolCallId": "c|1", "toolName": "bash", "content": [], "isError": False}
    late = {"timestamp": "2026-11-20T21:07:01.500Z"}
    seen = session_of(
        None,
        *(HEADER, entry("a", None, user("Go")), entry("b", "a", asked), entry("c", "b", result, **late)),
        entry("d", "c", assistant(text("Done."), usage={**USAGE, "cost": {"total": 0.5}})),
    )
    assert (seen.format, seen.agent_name, seen.text, seen.outcome) == (
        *("pi-session", "pi", "I look.Done.", "succeeded"),
    )
    made = seen.calls[0]
    assert (made.call_id, made.group, made.duration_ms, made.outcome) == ("c|1", "b", 1500, "succeeded")
    assert (seen.run.tokens.input, seen.run.tokens.cost_usd, seen.run.tokens.context_used) == (
        2000,
        0.5,
        1020,
    )


def test_a_result_may_lack_its_ids() -> None:
    """A call without an id or a tool's name is counted, and does not say how it ended."""
    seen = session_of(SESSION, HEADER, entry("a", None, {"role": "toolResult"}))
    assert [(made.call_id, made.tool, made.outcome) for made in seen.calls] == [("", "", "returned")]


def test_a_message_without_a_stop_reason_ends_no_turn_while_its_calls_run() -> None:
    """A turn whose last message has calls is not over; one without calls and reason is."""
    for parts, outcome in [
        ((call("c", "bash", command="ls"),), "unfinished"),
        ((text("Done."),), "succeeded"),
    ]:
        with case(outcome):
            message = assistant(*parts)
            del message["stopReason"]
            seen = session_of(SESSION, HEADER, entry("a", None, user("Go")), entry("b", "a", message))
            assert seen.outcome == outcome


def test_the_system_prompt_is_not_shown() -> None:
    """A message of the role `system` is known, and reports nothing."""
    seen = session_of(
        None, HEADER, entry("a", None, {"role": "system", "content": ""}), entry("b", "a", user("Go"))
    )
    assert (seen.format, seen.lines.unknown, seen.run.prompt) == ("pi-session", 0, "Go")


def test_a_branch_takes_back_what_came_after_its_parent() -> None:
    """The text of the turns that the user left is no part of the text; their calls were made."""
    made = assistant(text("One."), call("c", "ls"), stop="toolUse")
    seen = session_of(
        SESSION,
        *(HEADER, entry("a", None, user("Go")), entry("b", "a", assistant(text("Zero.")))),
        *(entry("c", "b", user("More")), entry("d", "c", made), entry("e", "b", user("Else"))),
        entry("f", "e", assistant(text("Two."))),
    )
    assert (seen.text, seen.run.turns, ids_in(seen)) == ("Zero.Two.", 2, ["c"])
    assert seen.calls[0].outcome == "unfinished"


def test_the_calls_of_a_message_that_failed_are_not_made() -> None:
    """Pi does not run them, so that they never end."""
    for stop, outcome in (("error", "failed"), ("aborted", "cancelled")):
        cut = assistant(call("c", "ls"), stop=stop, errorMessage="why", usage=USAGE)
        seen = session_of(SESSION, HEADER, entry("a", None, user("Go")), entry("b", "a", cut))
        assert (ids_in(seen), seen.outcome, seen.run.tokens.context_used) == ([], outcome, None)


def test_the_first_version_has_no_ids() -> None:
    """Its header has the model, and its messages may be texts."""
    header = {**HEADER, "provider": "acme", "modelId": "m-0"}
    del header["version"]
    bare = {"type": "message", "timestamp": "2024-12-03T14:00:01.000Z"}
    lines = [header, {**bare, "message": user("Hello")}, {**bare, "message": assistant(text("Hi!"))}]
    seen = session_of(None, *lines)
    assert (seen.format, seen.run.prompt, seen.text, seen.run.model) == (
        "pi-session",
        "Hello",
        "Hi!",
        "acme/m-1",
    )
    assert events_of(SESSION, header) == [RunStarted("pi-session", "s-1", "acme/m-0", "/w")]
    assert session_of(None, *lines[1:]).format == "pi-session"


def test_other_entries_report_what_they_contain_and_nothing_else() -> None:
    """Compactions, commands of the user and messages of extensions are shown; other types are unknown."""
    compacted = entry("a", None, type="compaction", tokensBefore=19)
    assert events_of(SESSION, compacted) == [Compaction(is_over=True, tokens_before=19)]
    changed = entry("b", None, type="model_change", provider="acme", modelId="m-2")
    assert events_of(SESSION, changed, changed) == [RunInfo(model="acme/m-2")]
    said = entry("c", None, type="custom_message", content="hi", display=True)
    assert events_of(SESSION, said, {**said, "display": False}) == [Notice("hi")]
    hook = entry("d", None, {"role": "hookMessage", "content": [text("ho")]})
    assert events_of(SESSION, hook) == [Notice("ho")]
    own = entry("e", None, {"role": "bashExecution", "command": "ls", "exitCode": 0})
    assert events_of(SESSION, own) == [Notice("! ls (exit 0)")]
    counts = entry("f", None, type="usage", usage=USAGE)
    assert len(events_of(SESSION, counts)) == 1
    assert (
        events_of(SESSION, entry("g", None, {"role": "branchSummary"}), entry("h", "g", type="label")) == []
    )
    assert events_of(SESSION, {"type": "title", "v": 1}, entry("g", None, {"role": "developer"})) == []
    odd = entry("i", None, {"role": "ghost"})
    assert events_of(SESSION, odd, entry("j", "i", type="weather")) == [
        Unknown("role ghost"),
        Unknown("type weather"),
    ]


def test_a_turn_ends_with_each_message_that_requests_no_call() -> None:
    """A prompt of images alone has their number as its text."""
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    seen = session_of(SESSION, HEADER, entry("a", None, user([image, image])), entry("b", "a", user([])))
    assert (seen.run.prompt, seen.run.turns) == ("[2 images]", 2)
    assert events_of(SESSION, entry("b", None, assistant()))[-1] == TurnEnded(Outcome.SUCCEEDED)
    branch = [entry("a", None, user("x")), entry("b", None, user("y"))]
    assert Rewound(1) in events_of(SESSION, *branch)
