"""Pi's session files: the tree of messages, and how the lines of both formats are recognised."""

import json
import random
from collections.abc import Iterator
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.agent import LineRole
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.pi.agent import AGENT, SESSION
from agentwatch.agents.pi.session_file import Tree
from agentwatch.agents.registry import detect
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.digest.reading import apply_lines
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
from tests.agents.pi.lines import (
    HEADER,
    agent_end,
    assistant,
    call,
    end,
    ended,
    entry,
    started,
    text,
    thought,
    update,
    user,
)
from tests.builders.agents.decoded import Line, events_of, ids_in, lines_of, session_of
from tests.builders.captures import Captures
from tests.builders.formats.samples import named
from tests.conftest import case

USAGE = {"input": 600, "output": 20, "cacheRead": 400, "cacheWrite": 0, "totalTokens": 1020}


def test_a_call_has_its_message_and_its_result() -> None:
    """Both have a time, and may lack ids, as all lines of the first version do."""
    # Both have the time at which their line was written.
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
    # A call without an id or a name is counted, and does not say how it ended. A turn whose last message
    # has calls is not over; those of a message that failed are not made.
    seen = session_of(SESSION, HEADER, entry("a", None, {"role": "toolResult"}))
    assert [(made.call_id, made.tool, made.outcome) for made in seen.calls] == [("", "", "returned")]
    for parts, outcome in [
        ((call("c", "bash", command="ls"),), "unfinished"),
        ((text("Done."),), "succeeded"),
    ]:
        with case(outcome):
            message = assistant(*parts)
            del message["stopReason"]
            seen = session_of(SESSION, HEADER, entry("a", None, user("Go")), entry("b", "a", message))
            assert seen.outcome == outcome
    for stop, outcome in (("error", "failed"), ("aborted", "cancelled")):
        cut = assistant(call("c", "ls"), stop=stop, errorMessage="why", usage=USAGE)
        seen = session_of(SESSION, HEADER, entry("a", None, user("Go")), entry("b", "a", cut))
        assert (ids_in(seen), seen.outcome, seen.run.tokens.context_used) == ([], outcome, None)
    # Its header has the model, and its messages may be texts.
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


def test_entries_and_ends_of_turns() -> None:
    """Entries are shown or unknown, and a message that requests no call ends a turn."""
    # Compactions, commands of the user and messages of extensions are shown; other types are unknown.
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
    # A prompt of images alone has their number as its text; the system prompt is not shown, and a line
    # without a type is unknown.
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    seen = session_of(SESSION, HEADER, entry("a", None, user([image, image])), entry("b", "a", user([])))
    assert (seen.run.prompt, seen.run.turns) == ("[2 images]", 2)
    assert events_of(SESSION, entry("b", None, assistant()))[-1] == TurnEnded(Outcome.SUCCEEDED)
    branch = [entry("a", None, user("x")), entry("b", None, user("y"))]
    assert Rewound(1) in events_of(SESSION, *branch)
    seen = session_of(
        None, HEADER, entry("a", None, {"role": "system", "content": ""}), entry("b", "a", user("Go"))
    )
    assert (seen.format, seen.lines.unknown, seen.run.prompt) == ("pi-session", 0, "Go")
    for name in ("pi", "pi-session"):
        assert len(events_of(named(name), {}, {"type": {}})) == 2


def back(*entries: tuple[Any, Any, bool]) -> list[int]:
    """Return the turns that the user went back before each entry: its id, its parent, if it is a prompt."""
    tree = Tree()
    return [
        tree.add({"id": entry, "parentId": parent}, is_prompt=is_prompt)
        for entry, parent, is_prompt in entries
    ]


def _chain(*names: str) -> list[dict[str, Any]]:
    """Return the lines of a session: `prompt`, `failed`, `edit` of the last failed answer, `other` edit."""
    lines = [HEADER]
    failed, last = "", None
    for number, name in enumerate(names):
        entry_id = f"{number}"
        if name in ("prompt", "answer", "failed"):
            message = user("Go") if name == "prompt" else assistant(text("Done."))
            failed = entry_id if name == "failed" else failed
            message = assistant(stop="error", errorMessage="500: busy") if name == "failed" else message
            lines.append(entry(entry_id, last, message))
        else:
            target = "0" if name == "other" else failed
            with_what = "" if name != "replaced" else {"content": "Hm."}
            edit: dict[str, Any] = {"targetId": target, "replacement": with_what or None}
            lines.append(entry(entry_id, last, **{"type": "context_edit", **edit}))
        last = entry_id
    return lines


def test_an_answer_that_pi_takes_out_is_asked_for_again() -> None:
    """Pi 1.6 writes a failed answer, and then that the model does not get it: it tries again, and the turn
    continues. The last failure stays. A change of another entry says nothing."""
    for names, outcome, ends, retry in (
        ("failed", "failed", 1, None),
        ("failed edit", "unfinished", 0, 1),
        ("failed edit failed edit", "unfinished", 0, 2),
        ("failed edit failed edit failed", "failed", 1, None),
        ("failed other", "failed", 1, None),
        ("failed replaced", "failed", 1, None),
        ("failed edit edit answer", "succeeded", 1, None),
        ("failed edit failed prompt failed edit", "unfinished", 1, 1),
        ("failed edit answer prompt", "unfinished", 1, None),
    ):
        with case(names):
            lines = _chain("prompt", *names.split())
            open_session = session_of(SESSION, *lines, is_closed=False)
            known = open_session.retry and open_session.retry[0]
            assert (known and known.attempt) == retry
            assert known is None or known.message == "500: busy"
            closed = session_of(SESSION, *lines)
            assert (closed.outcome, closed.run.ended_turns) == (outcome, ends)
            digest = Digest(format=SESSION.name)
            apply_lines(digest, Decoder(SESSION), [json.dumps(each).encode() for each in lines])
            assert digest.turn is (Turn.OPEN if outcome == "unfinished" else Turn.ENDED)
            assert digest.ended_turns == ends
            assert digest.retry == ("" if retry is None else f"retry {retry}: 500: busy")
    digest = Digest(format=SESSION.name)
    times = ("2026-11-20T21:07:00.000Z", "2026-11-20T21:07:05.000Z", "2026-11-20T21:07:05.001Z")
    lines = [
        {**each, "timestamp": at}
        for each, at in zip(_chain("prompt", "failed", "edit")[1:], times, strict=True)
    ]
    apply_lines(digest, Decoder(SESSION), [json.dumps(each).encode() for each in [HEADER, *lines]])
    assert digest.turn_ms == digest.begun_ms == iso_ms(times[0])


def test_a_branch_takes_back_what_came_after_its_parent() -> None:
    """The turns that the user left do not belong to the text."""
    # The calls of these turns were made.
    made = assistant(text("One."), call("c", "ls"), stop="toolUse")
    seen = session_of(
        SESSION,
        *(HEADER, entry("a", None, user("Go")), entry("b", "a", assistant(text("Zero.")))),
        *(entry("c", "b", user("More")), entry("d", "c", made), entry("e", "b", user("Else"))),
        entry("f", "e", assistant(text("Two."))),
    )
    assert (seen.text, seen.run.turns, ids_in(seen)) == ("Zero.Two.", 2, ["c"])
    assert seen.calls[0].outcome == "unfinished"
    # An entry at the leaf, and an unknown parent, take nothing back; a parent of a branch that was left
    # is found. Of 70,000 entries the oldest are forgotten, and an entry that is its own parent ends the
    # search.
    assert back(("a", None, False), ("b", "a", True), ("c", "b", False), ("d", "c", True)) == [0, 0, 0, 0]
    assert back((None, None, True), (None, "x", True), ("z" * 200, None, True)) == [0, 0, 0]
    path = [("a", None, False), ("b", "a", True), ("c", "b", True), ("d", "c", True)]
    assert back(*path, ("e", "b", True), ("f", "e", False), ("g", None, True))[4:] == [2, 0, 2]
    path = [("a", None, True), ("b", "a", True), ("c", "b", True), ("d", "b", True)]
    assert back(*path, ("e", "c", True), ("f", "a", True))[3:] == [1, 1, 2]
    assert back(("a", "?", True), ("b", "a", True), ("c", "?", True)) == [0, 0, 0]
    tree = Tree()
    tree.add({"id": "a", "parentId": None}, is_prompt=True)
    assert tree.add({"id": "b"}, is_prompt=True) == 0
    assert back(
        ("a", None, True), ("b", "a", True), ("a", "b", True), ("c", "c", True), ("d", "a", False)
    ) == [
        *(0, 0, 0, 0, 1),
    ]
    left = [(f"l{number}", f"l{number - 1}" if number else "a", True) for number in range(300)]
    assert back(("a", None, True), *left, ("b", "a", True), ("c", "l299", True))[-2:] == [300, 0]
    tree = Tree()
    for number in range(70_000):
        tree.add({"id": f"{number}", "parentId": f"{number - 1}" if number else None}, is_prompt=False)
    assert tree.add({"id": "x", "parentId": "5"}, is_prompt=True) == 0
    assert tree.add({"id": "y", "parentId": "60000"}, is_prompt=True) == 1


EVENTS = [
    *({"type": "agent_start"}, {"type": "agent_settled"}, agent_end(), update("text_start")),
    *(started("c", "ls"), ended("c", "ls"), end(assistant())),
]


def test_a_line_is_recognised() -> None:
    """The header begins both formats. A line of the stream has its key, an entry its place in the tree;
    without Pi's keys it is another agent's. Runs and prompts start something.
    """
    assert detect(HEADER) is None
    assert session_of(None, HEADER).format is None
    for line, name in ((EVENTS[0], "pi"), (entry("a", None, user("x")), "pi-session")):
        seen = session_of(None, HEADER, line)
        assert (seen.format, seen.run.session_id, seen.run.cwd, seen.lines.unknown) == (name, "s-1", "/w", 0)
    for line in EVENTS:
        with case(line):
            assert detect(line) is AGENT
    assert detect(entry("a", None, type="label")) is SESSION
    assert detect({"type": "model_change", "timestamp": "x", "modelId": "m"}) is SESSION
    assert detect({"type": "label", "timestamp": "x", "modelId": "m"}) is None
    assert (AGENT.traits.has_times, SESSION.traits.has_times) == (False, True)
    assert (AGENT.traits.has_result, SESSION.traits.has_result) == (True, False)
    cases: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
        *({"type": "agent_end"}, {"type": "tool_execution_start"}, {"type": ["agent_start"]}, {"type": None}),
        *({"type": "message", "message": {"role": "user"}}, {"type": "session", "timestamp": "x", "id": 1}),
        {"type": "message", "id": "m", "timestamp": "x", "message": {"role": "user", "content": []}},
        *(
            {"type": "label", "timestamp": "x"},
            {"type": "message", "timestamp": "x", "message": {"role": []}},
        ),
    ]
    for line in cases:
        with case(line):
            assert detect(line) not in (AGENT, SESSION)
    assert AGENT.role(HEADER) is AGENT.role(EVENTS[0]) is AGENT.role(end(user("x"))) is LineRole.START
    assert AGENT.role(started("c", "ls")) is AGENT.role(ended("c", "ls")) is LineRole.CALL
    assert AGENT.role(end(assistant())) is LineRole.OTHER
    assert SESSION.role(HEADER) is SESSION.role(entry("a", None, user("x"))) is LineRole.START
    assert SESSION.role(entry("a", None, assistant())) is LineRole.CALL
    assert SESSION.role(entry("a", None, {"role": "toolResult"})) is LineRole.CALL
    assert SESSION.role(entry("a", None, type="label")) is LineRole.OTHER
    cursor = {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/", "session_id": "x"}
    seen = session_of(None, cursor, HEADER, EVENTS[0], end(assistant(text("Hi"))))
    assert (seen.format, seen.text) == ("pi", "Hi")


def samples(captures: Captures) -> Iterator[tuple[str, str, list[Line]]]:
    """Yield the name, the format and the lines of each capture."""
    for folder, name in (("agents/pi", "pi"), ("disk/pi-session", "pi-session")):
        for path in captures.find(f"{folder}/**/*.jsonl"):
            yield captures.name(path), name, lines_of(path)


def test_parallel_calls_may_start_and_end_in_any_order(captures: Captures) -> None:
    """Lines of the calls of one step, in any order of which each starts and ends, make the same calls."""
    agent = named("pi")
    for title, name, lines in samples(captures):
        if name != "pi":
            continue
        whole = {made.call_id: (made.outcome, made.target) for made in session_of(agent, *lines).calls}
        for seed in range(20):
            with case(f"{title}, {seed}"):
                seen = session_of(agent, *_shuffled(lines, random.Random(seed)))
                assert {made.call_id: (made.outcome, made.target) for made in seen.calls} == whole


def _shuffled(lines: list[Line], rng: random.Random) -> list[Line]:
    """Return lines in which neighbours about different calls have changed places."""
    found = list(lines)
    for _ in range(50):
        number = rng.randrange(len(found) - 1)
        calls = [line.get("toolCallId") for line in found[number : number + 2]]
        if None not in calls and calls[0] != calls[1]:
            found[number : number + 2] = reversed(found[number : number + 2])
    return found
