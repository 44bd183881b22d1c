"""The session files of Droid: prompts, answers, calls, and the ends of turns."""

from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.droid.agent import SESSION
from agentwatch.agents.droid.session_file import DroidSessionDecoder
from agentwatch.session.blocks import ContentBlock, ErrorBlock, FieldsBlock
from agentwatch.session.events import Event, Prompt, RunInfo, TurnEnded, TurnStarted, Unknown
from tests.builders.agents.decoded import session_of
from tests.conftest import case

Json = dict[str, Any]
START: Json = {
    "type": "session_start",
    "id": "s-1",
    "title": "Run ls",
    "owner": "dev",
    "version": 2,
    "cwd": "/w/",
    "isSessionTitleManuallySet": True,
}
AT = "2026-11-23T07:16:01.500Z"


def message(role: str, *content: Json, key: str = "m", at: str = AT, **more: Any) -> Json:
    inner = {"role": role, "content": list(content), **more}
    return {"type": "message", "id": key, "parentId": "p", "timestamp": at, "message": inner}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def use(name: str, key: str = "c", **arguments: Any) -> Json:
    """Return a block that starts a call."""
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def returned(content: Any, key: str = "c", *, is_error: Any = False) -> Json:
    """Return a block that ends a call."""
    return {"type": "tool_result", "tool_use_id": key, "is_error": is_error, "content": content}


def outcome(reason: Any) -> Json:
    """Return the last line of a turn."""
    return {"type": "agent_turn_outcome", "turnId": "t", "reason": reason}


USER, DONE = message("user", text("Run ls.")), message("assistant", text("Done."), modelId="m-1")


def decoded(*lines: Json) -> list[Event]:
    decoder = DroidSessionDecoder()
    return [event for line in lines for event in decoder.decode(line)]


def test_a_session_is_read() -> None:
    """It has its title, its folder, its calls and the user's own prompts."""
    # The header has the title and the folder; a call starts with its answer and ends with its result.
    begun = message(
        "assistant", {"type": "thinking", "thinking": "Hm."}, text("Look."), use("Execute", command="ls")
    )
    late = message("user", returned("a\n[Process exited with code 0]"), at="2026-11-23T07:16:03.000Z")
    seen = session_of(None, START, USER, begun, late, DONE, outcome("completed"))
    assert (seen.format, seen.agent_name, seen.outcome, seen.text) == (
        *("droid-session", "droid", "succeeded", "Look.Done."),
    )
    run = seen.run
    assert (run.session_id, run.title, run.is_users_title, run.cwd, run.model, run.prompt, run.turns) == (
        *("s-1", "Run ls", True, "/w/", "m-1", "Run ls.", 1),
    )
    [call] = seen.calls
    assert (call.target, call.outcome, call.exit_code, call.duration_ms) == ("ls", "succeeded", 0, 1500)
    assert seen.lines.unknown == 0
    assert decoded({**START, "title": None}, DONE, DONE).count(RunInfo(model="m-1")) == 1
    # Two texts that Droid adds are not prompts: the message of the context, and reminders in a message.
    reminder = text("<system-reminder>\nx\n</system-reminder>")
    cases: list[tuple[Json, list[str]]] = [
        (message("user", text("The tools are"), key="context-1"), []),
        (message("user", reminder), []),
        (message("user", reminder, text("Go"), text("on")), ["Go\non"]),
        (message("user", returned("x"), {"type": "image"}), []),
        ({**USER, "message": {"role": "user", "content": "Go"}}, ["Go"]),
    ]
    for line, prompts in cases:
        with case(line):
            assert [event.text for event in decoded(line) if isinstance(event, Prompt)] == prompts
    # The last line says how; without one, an answer without calls ends the turn.
    further: list[tuple[list[Json], list[str]]] = [
        ([DONE], ["succeeded"]),
        ([DONE, outcome("completed")], ["succeeded"]),
        ([DONE, outcome("cancelled")], ["succeeded", "cancelled"]),
        ([outcome("interrupted")], ["cancelled"]),
        ([outcome("error")], ["failed"]),
        ([message("assistant", text("Look."), use("LS"))], []),
        ([DONE, DONE], ["succeeded", "start", "succeeded"]),
        ([DONE, USER, DONE], ["succeeded", "succeeded"]),
    ]
    for lines, expected in further:
        with case(lines):
            found = decoded(START, USER, *lines)
            ends = [
                e.outcome if isinstance(e, TurnEnded) else "start"
                for e in found
                if isinstance(e, TurnEnded | TurnStarted)
            ]
            assert ends == expected
    for reason in ("weather", None, 5):
        with case(reason):
            found = decoded(outcome(reason))
            assert [type(event) for event in found] == [TurnEnded, Unknown]
    # A list counts once its call has succeeded, a result without its call has no tool, and the blocks are
    # those of the call that is shown.
    todo = message("assistant", use("TodoWrite", todos="1. [pending] A"))
    for is_error, entries in [(False, 1), (True, 0)]:
        with case(is_error):
            seen = session_of(SESSION, START, USER, todo, message("user", returned("ok", is_error=is_error)))
            assert len(seen.plan) == entries
    parts = [text("a"), {"type": "image"}, text("b")]
    [lone] = session_of(SESSION, START, message("user", returned(parts, is_error=True))).calls
    assert (lone.tool, lone.outcome, lone.error) == ("", "failed", "a\nb")
    [nameless] = session_of(SESSION, message("assistant", {"type": "tool_use"})).calls
    assert (nameless.tool, nameless.outcome) == ("unknown", "unfinished")
    both = message("assistant", use("Weather", "a", city="Y"), use("Weather", "b", city="Z"))
    assert list(SESSION.blocks(both, "b")) == [FieldsBlock("arguments", {"city": "Z"})]
    other_ends = message("user", returned("one", "a"), returned("no", "b", is_error=True))
    assert list(SESSION.blocks(other_ends, "a")) == [ContentBlock("one")]
    assert list(SESSION.blocks(other_ends, "b")) == [ErrorBlock("no")]


def test_a_line_is_known_and_recognised() -> None:
    """Unknown types, roles and blocks are counted. A message with calls or members of Droid's own is
    recognised; one with only texts may be another agent's.
    """
    cases: list[tuple[Json, int]] = [
        ({"type": "weather"}, 1),
        (message("system", text("x")), 1),
        (message("assistant", {"type": "hologram"}, {"type": ["x"]}), 2),
        (message("assistant", {"type": "redacted_thinking"}, text("")), 0),
        ({"type": "message"}, 1),
    ]
    for line, count in cases:
        with case(line):
            assert sum(isinstance(event, Unknown) for event in decoded(line)) == count
    further: list[tuple[Json, bool, LineRole]] = [
        (START, True, LineRole.START),
        ({"type": "session_start", "id": "s", "cwd": "/w"}, False, LineRole.START),
        (outcome("completed"), True, LineRole.OTHER),
        ({"type": "agent_turn_outcome"}, False, LineRole.OTHER),
        (DONE, True, LineRole.OTHER),
        (USER, False, LineRole.START),
        (message("assistant", use("LS")), True, LineRole.CALL),
        (message("user", returned("x")), True, LineRole.CALL),
        ({**message("user", returned("x")), "sessionId": "s"}, False, LineRole.CALL),
        (message("assistant", use("LS"), timestamp=5), False, LineRole.CALL),
        ({"type": "weather"}, False, LineRole.OTHER),
    ]
    for line, is_droids, role in further:
        with case(line):
            assert (SESSION.recognises(line), SESSION.role(line)) == (is_droids, role)
