"""What agents on disk say for a list of sessions: title, branch, last prompt, and who started them."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.registry import agent_on_disk
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Permission, RunInfo
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.on_disk import qwen_chat as qwen
from tests.builders.on_disk import transcript as claude
from tests.conftest import case

Line = dict[str, Any]


def decoded(agent: str, *lines: Line) -> list[Event]:
    """Return the events of lines that an agent has on disk."""
    found = agent_on_disk(agent)
    assert found is not None
    decoder = found.decoder()
    return [event for line in lines for event in decoder.decode(line)]


def facts(agent: str, *lines: Line) -> RunInfo:
    """Return the facts about the run in lines, merged."""
    merged = RunInfo()
    for event in decoded(agent, *lines):
        if isinstance(event, RunInfo):
            given = {name: value for name, value in event._asdict().items() if value}
            merged = merged._replace(**given)
    return merged


def session_of(agent: str, *lines: Line) -> Session:
    """Return the session after lines."""
    session = Session()
    apply_line(session, decoded(agent, *lines), Place(0, 1, None))
    return session


def beside(kind: str, **more: object) -> Line:
    """Return a line of a transcript of Claude Code that is no message."""
    return {"type": kind, "sessionId": "s", **more}


def copilot(kind: str, **data: object) -> Line:
    """Return a line of Copilot."""
    return {"type": kind, "data": data, "id": "1", "timestamp": claude.AT}


def codex(kind: str, **payload: object) -> Line:
    """Return a line of Codex."""
    return {"type": kind, "timestamp": claude.AT, "payload": payload}


def opencode(kind: str, **more: object) -> Line:
    """Return a line of a stored session of opencode."""
    return {"type": kind, "timestamp": 1, "sessionID": "ses_1", **more}


TITLES: list[tuple[str, Line, bool]] = [
    ("claude", beside("custom-title", customTitle="Tidy"), True),
    ("claude", beside("ai-title", aiTitle="Tidy"), False),
    (
        "codex",
        codex("event_msg", type="thread_name_updated", thread_name="Tidy"),
        True,
    ),
    ("qwen", qwen.system("custom_title", {"customTitle": "Tidy"}), True),
    (
        "qwen",
        qwen.system("custom_title", {"customTitle": "Tidy", "titleSource": "auto"}),
        False,
    ),
    ("copilot", copilot("session.title_changed", title="Tidy"), False),
    ("pi", {"type": "session_info", "id": "2", "parentId": "1", "name": "Tidy"}, True),
    ("gemini", {"$set": {"summary": "Tidy"}}, False),
    ("opencode", opencode("session", info={"title": "Tidy"}), False),
]


def test_a_title_is_read_and_whose_it_is() -> None:
    """The title of the user is distinguished from the agent's where the lines do so."""
    for agent, line, is_users in TITLES:
        with case((agent, line)):
            found = facts(agent, line)
            assert (found.title, found.is_users_title) == ("Tidy", is_users)


def with_title(part: Any, title: object) -> Any:
    """Return a line with another title."""
    if isinstance(part, dict):
        return {key: with_title(inner, title) for key, inner in part.items()}
    return title if part == "Tidy" else part


def test_a_title_of_another_type_is_none() -> None:
    """It changes nothing."""
    others: list[object] = [None, "", 7, [], {"a": 1}, True]
    for agent, line, _ in TITLES:
        for title in others:
            with case((agent, title)):
                assert facts(agent, with_title(line, title)).title is None


def test_a_subagent_of_copilot_names_no_session() -> None:
    """Its title is not that of the session."""
    assert facts("copilot", {**copilot("session.title_changed", title="Tidy"), "agentId": "a"}).title is None


def test_the_title_of_a_new_session_of_opencode_is_none() -> None:
    """It consists of the time."""
    line = opencode("session", info={"title": "New session - 2026-11-21T22:50:55.616Z"})
    assert facts("opencode", line).title is None


def test_a_summary_is_the_title_of_the_session_that_has_its_leaf() -> None:
    """Older versions begin a file with the summaries of other sessions."""
    leaf = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    summary = beside("summary", summary="Tidy", leafUuid=leaf)
    prompt = claude.user("Go", leaf)
    assert facts("claude", prompt, summary).title == "Tidy"
    assert facts("claude", summary, prompt).title is None


@pytest.mark.parametrize(("value", "expected"), [("Fix it", "Fix it"), (None, None), ([], None)])
def test_claude_repeats_the_last_prompt(value: object, expected: str | None) -> None:
    """It is read for those who read only the last lines."""
    assert facts("claude", beside("last-prompt", lastPrompt=value)).last_prompt == expected


def test_the_branch_is_read() -> None:
    """It is that of the working directory."""
    cases: list[tuple[str, Line]] = [
        ("claude", claude.user("Go", gitBranch="main")),
        ("qwen", qwen.user("Go", gitBranch="main")),
        ("codex", codex("session_meta", id="t", git={"branch": "main"})),
        ("copilot", copilot("session.start", sessionId="s", context={"branch": "main"})),
        ("copilot", copilot("session.context_changed", branch="main")),
        ("copilot", copilot("session.resume", context={"branch": "main", "cwd": "/w"})),
    ]
    for agent, line in cases:
        with case(agent):
            assert facts(agent, line).branch == "main"
            assert session_of(agent, line).run.branch == "main"


@pytest.mark.parametrize(
    ("agent", "line", "expected"),
    [
        ("codex", codex("session_meta", id="t", originator="codex_exec"), True),
        ("codex", codex("session_meta", id="t", originator="codex-tui"), False),
        ("claude", claude.user("Go", entrypoint="sdk-cli"), True),
        ("claude", claude.user("Go", entrypoint="cli"), False),
    ],
)
def test_a_run_for_one_prompt_is_marked(agent: str, line: Line, expected: bool) -> None:
    """Another program has started it."""
    assert facts(agent, line).is_one_liner is expected


@pytest.mark.parametrize("more", [{"parent_thread_id": "p"}, {"forked_from_id": "p"}, {}])
def test_a_session_of_codex_has_its_branch_whatever_its_origin(more: Line) -> None:
    """A fork and a subagent have one too."""
    assert facts("codex", codex("session_meta", id="t", git={"branch": "b"}, **more)).branch == "b"


def test_the_title_of_the_user_stays() -> None:
    """A later title of the agent does not replace it; another one of the user does."""
    users, agents = beside("custom-title", customTitle="Mine"), beside("ai-title", aiTitle="Theirs")
    assert session_of("claude", agents).run.title == "Theirs"
    assert session_of("claude", agents, users, agents).run.title == "Mine"
    other = beside("custom-title", customTitle="Other")
    assert session_of("claude", users, other).run.title == "Other"


def test_an_agent_that_has_no_sessions_on_disk_has_no_format_there() -> None:
    """Nothing is known of the format of an unknown agent either."""
    assert agent_on_disk("amp") is None
    assert agent_on_disk("nobody") is None


def questions(agent: str, *lines: Line) -> list[Permission]:
    """Return the questions in lines."""
    return [event for event in decoded(agent, *lines) if isinstance(event, Permission)]


ASKED = {"questions": [{"question": "Which?"}, {"question": "When?"}]}


def test_the_tools_of_qwen_that_ask_are_questions() -> None:
    """The question is closed by the end of its call."""
    asked = qwen.call("c1", "ask_user_question", **ASKED)
    assert [each.target for each in questions("qwen", asked)] == ["Which? When?"]
    session = session_of("qwen", asked)
    assert session.asked.oldest is not None
    assert session.asked.oldest.words == "ask_user_question Which? When?"
    plan = qwen.call("c1", "exit_plan_mode", plan="\n# Do it\nwell")
    assert [each.target for each in questions("qwen", plan)] == ["# Do it"]
    assert questions("qwen", qwen.call("c1")) == []
    assert len(session_of("qwen", asked, qwen.returned("c1", "ask_user_question")).asked) == 0


def part(status: str, tool: str = "question", **more: object) -> Line:
    """Return the line of a call of opencode."""
    state = {"status": status, "input": ASKED, "time": {"start": 1, "end": 2}}
    found = {"type": "tool", "tool": tool, "callID": "c1", "id": "p1", "state": state}
    return opencode("part", part=found, message={"role": "assistant", "id": "m"}, **more)


def test_the_tool_of_opencode_that_asks_is_a_question() -> None:
    """A subagent asks nobody: its question is not shown."""
    assert [each.target for each in questions("opencode", part("running"))] == ["Which?"]
    assert questions("opencode", part("running", agent="c0")) == []
    assert questions("opencode", part("running", "bash")) == []
    assert len(session_of("opencode", part("running"), part("completed")).asked) == 0
