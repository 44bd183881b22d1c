"""What the agents' files on disk have in common: facts, times, names and trees of messages."""

from pathlib import Path
from typing import Any

from agentwatch.agents.on_disk import SessionFacts, Tree, iso_ms
from agentwatch.agents.registry import agent_on_disk, program_named
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Permission, RunInfo
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.on_disk import qwen_chat as qwen
from tests.builders.on_disk import transcript as claude
from tests.conftest import case


def test_the_branch_is_reported_when_it_changes() -> None:
    """It is that of the working directory, also of a fork. The same branch, an empty one or none report
    nothing; `HEAD` is none.
    """
    seen = SessionFacts()
    assert seen.new({"sessionId": "s", "gitBranch": "main"}) == RunInfo("s", branch="main")
    assert seen.new({"sessionId": "s", "gitBranch": "main"}) is None
    assert seen.new({"sessionId": "s", "gitBranch": ""}) is None
    assert seen.new({"sessionId": "s"}) is None
    assert seen.new({"gitBranch": "fix"}) == RunInfo(branch="fix")
    assert seen.new({"gitBranch": "HEAD"}) == RunInfo(branch="")
    assert seen.new({"gitBranch": "HEAD"}) is None
    assert seen.new({"gitBranch": "", "cwd": "/w"}) == RunInfo(cwd="/w")
    cases: list[object] = ["", None, 7, [], {}, True, "x" * 100_000]
    for branch in cases:
        with case(branch):
            again, row = SessionFacts(), {"sessionId": "s", "gitBranch": branch}
            again.new(row)
            assert again.new(row) is None
    further: list[tuple[str, Line]] = [
        ("claude", claude.user("Go", gitBranch="main")),
        ("qwen", qwen.user("Go", gitBranch="main")),
        ("codex", codex("session_meta", id="t", git={"branch": "main"})),
        ("copilot", copilot("session.start", sessionId="s", context={"branch": "main"})),
        ("copilot", copilot("session.context_changed", branch="main")),
        ("copilot", copilot("session.resume", context={"branch": "main", "cwd": "/w"})),
    ]
    for agent, line in further:
        with case(agent):
            assert facts(agent, line).branch == "main"
            assert session_of(agent, line).run.branch == "main"
    for more in [{"parent_thread_id": "p"}, {"forked_from_id": "p"}, {}]:
        with case(more):
            assert facts("codex", codex("session_meta", id="t", git={"branch": "b"}, **more)).branch == "b"


def test_a_run_for_one_prompt_is_marked() -> None:
    """Another program has started it; `claude -p` names its entry point. An unknown agent has no format on
    disk.
    """
    cases: list[tuple[Any, bool]] = [
        ("sdk-cli", True),
        ("cli", False),
        ("sdk-ts", False),
        (None, False),
        ([], False),
    ]
    for entry, expected in cases:
        with case(entry):
            found = SessionFacts().new({"sessionId": "s", "entrypoint": entry})
            assert found is not None
            assert found.is_one_liner is expected
    for agent, line, expected in [
        ("codex", codex("session_meta", id="t", originator="codex_exec"), True),
        ("codex", codex("session_meta", id="t", originator="codex-tui"), False),
        ("claude", claude.user("Go", entrypoint="sdk-cli"), True),
        ("claude", claude.user("Go", entrypoint="cli"), False),
    ]:
        with case((agent, line, expected)):
            assert facts(agent, line).is_one_liner is expected
    assert agent_on_disk("amp") is None
    assert agent_on_disk("nobody") is None


def test_a_time_is_read_in_its_zone() -> None:
    """A time is exact to the millisecond; without a zone it is in UTC. Another type or text is none."""
    cases: list[tuple[str, int]] = [
        ("2026-11-21T22:50:55.616Z", 1795301455616),
        ("2026-11-21T23:50:55.616+01:00", 1795301455616),
        ("2026-11-21T22:50:55.616", 1795301455616),
        ("1970-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00+14:00", -62135647200000),
    ]
    for text, expected in cases:
        with case(text):
            assert iso_ms(text) == expected
    further: list[object] = [None, 5, "", "soon", "2026-99-99T00:00:00Z", ["x"], "2026" * 100]
    for value in further:
        with case(value):
            assert iso_ms(value) is None


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
    session = Session()
    apply_line(session, decoded(agent, *lines), Place(0, 1, None))
    return session


def beside(kind: str, **more: object) -> Line:
    """Return a line of a transcript of Claude Code that is not a message."""
    return {"type": kind, "sessionId": "s", **more}


def copilot(kind: str, **data: object) -> Line:
    return {"type": kind, "data": data, "id": "1", "timestamp": claude.AT}


def codex(kind: str, **payload: object) -> Line:
    return {"type": kind, "timestamp": claude.AT, "payload": payload}


def opencode(kind: str, **more: object) -> Line:
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
    """The title of the user is distinguished from the agent's, and stays; one of another type, of a
    subagent, or of the time is none. A summary is that of the session with its leaf.
    """
    for agent, line, is_users in TITLES:
        with case((agent, line)):
            found = facts(agent, line)
            assert (found.title, found.is_users_title) == ("Tidy", is_users)
    others: list[object] = [None, "", 7, [], {"a": 1}, True]
    for agent, line, _ in TITLES:
        for title in others:
            with case((agent, title)):
                assert facts(agent, with_title(line, title)).title is None
    assert facts("copilot", {**copilot("session.title_changed", title="Tidy"), "agentId": "a"}).title is None
    line = opencode("session", info={"title": "New session - 2026-11-21T22:50:55.616Z"})
    assert facts("opencode", line).title is None
    leaf = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    summary = beside("summary", summary="Tidy", leafUuid=leaf)
    prompt = claude.user("Go", leaf)
    assert facts("claude", prompt, summary).title == "Tidy"
    assert facts("claude", summary, prompt).title is None
    users, agents = beside("custom-title", customTitle="Mine"), beside("ai-title", aiTitle="Theirs")
    assert session_of("claude", agents).run.title == "Theirs"
    assert session_of("claude", agents, users, agents).run.title == "Mine"
    other = beside("custom-title", customTitle="Other")
    assert session_of("claude", users, other).run.title == "Other"
    prompts: list[tuple[object, str | None]] = [("Fix it", "Fix it"), (None, None), ([], None)]
    for value, expected in prompts:
        with case((value, expected)):
            assert facts("claude", beside("last-prompt", lastPrompt=value)).last_prompt == expected


def with_title(part: Any, title: object) -> Any:
    if isinstance(part, dict):
        return {key: with_title(inner, title) for key, inner in part.items()}
    return title if part == "Tidy" else part


def questions(agent: str, *lines: Line) -> list[Permission]:
    return [event for event in decoded(agent, *lines) if isinstance(event, Permission)]


ASKED = {"questions": [{"question": "Which?"}, {"question": "When?"}]}


def test_the_tools_that_ask_are_questions() -> None:
    """The question is closed by the end of its call; a subagent asks nobody."""
    asked = qwen.call("c1", "ask_user_question", **ASKED)
    assert [each.target for each in questions("qwen", asked)] == ["Which? When?"]
    session = session_of("qwen", asked)
    assert session.questions.oldest is not None
    assert session.questions.oldest.words == "ask_user_question Which? When?"
    plan = qwen.call("c1", "exit_plan_mode", plan="\n# Do it\nwell")
    assert [each.target for each in questions("qwen", plan)] == ["# Do it"]
    assert questions("qwen", qwen.call("c1")) == []
    assert len(session_of("qwen", asked, qwen.returned("c1", "ask_user_question")).questions) == 0
    assert [each.target for each in questions("opencode", part("running"))] == ["Which?"]
    assert questions("opencode", part("running", agent="c0")) == []
    assert questions("opencode", part("running", "bash")) == []
    assert len(session_of("opencode", part("running"), part("completed")).questions) == 0


def part(status: str, tool: str = "question", **more: object) -> Line:
    """Return the line of a call of opencode."""
    state = {"status": status, "input": ASKED, "time": {"start": 1, "end": 2}}
    found = {"type": "tool", "tool": tool, "callID": "c1", "id": "p1", "state": state}
    return opencode("part", part=found, message={"role": "assistant", "id": "m"}, **more)


def grown(turns: int) -> Tree:
    """Return a tree of turns, each with a prompt `pN` and an answer `aN`."""
    tree = Tree()
    for number in range(turns):
        assert tree.add_prompt(f"p{number}", f"a{number - 1}" if number else None, begins_turn=True) == 0
        tree.add(f"a{number}", f"p{number}")
    return tree


def test_a_prompt_in_place_of_another_rewinds_it_and_what_followed() -> None:
    """A prompt with the parent of the third of five rewinds three turns, one without a parent all, unless
    the first had one. A parent that is not in the file rewinds nothing.
    """
    assert grown(5).turns == 5
    tree = grown(5)
    assert tree.add_prompt("new", "a1", begins_turn=True) == 3
    assert tree.turns == 3
    tree.add("answer", "new")
    assert tree.add_prompt("next", "answer", begins_turn=True) == 0
    tree = grown(3)
    assert tree.add_prompt("new", None, begins_turn=True) == 3
    assert tree.turns == 1
    tree = Tree()
    tree.add_prompt("p0", "unknown", begins_turn=True)
    assert tree.add_prompt("p1", None, begins_turn=True) == 0
    assert tree.turns == 2
    tree = grown(2)
    assert tree.add_prompt("p2", "elsewhere", begins_turn=True) == 0
    assert tree.add_prompt(7, {"a": 1}, begins_turn=True) == 0
    tree.add([], 7)
    assert tree.turns == 4


def test_side_branches_of_other_lines_are_no_rewinds() -> None:
    """The results of parallel calls have one parent, and may follow a queued prompt. The parents of prompts
    are kept longer than lines; a known UUID is a repetition.
    """
    tree = grown(2)
    for side in ("result", "progress", "attachment"):
        tree.add(side, "a1")
    assert tree.add_prompt("p2", "progress", begins_turn=True) == 0
    tree = grown(1)
    tree.add_prompt("queued", "a0", begins_turn=True)
    tree.add("result", "a0", is_of_last_turn=True)
    tree.add("answer", "result")
    assert tree.add_prompt("p2", "answer", begins_turn=True) == 0
    assert tree.turns == 3
    tree = grown(2)
    for number in range(40_000):
        tree.add(f"x{number}", f"x{number - 1}" if number else "a1")
    assert not tree.has("a0")
    assert tree.add_prompt("new", "a0", begins_turn=True) == 1
    tree = Tree()
    uuid = "b2553a24-ae87-478f-98ad-8c56d614c0be"
    assert not tree.has(uuid)
    tree.add(uuid, None)
    tree.add("short", None)
    assert tree.has(uuid)
    assert not tree.has("short")
    tree.add("x" * 5000, None)
    assert tree.add_prompt("p", "x" * 5000, begins_turn=True) == 0
    assert not tree.has(None)


def test_a_folder_of_sessions_is_that_of_a_working_directory() -> None:
    """Claude Code names it after the directory, with two characters for an emoji; Codex keeps all in one."""
    for name, folder, expected in (
        ("claude", "-w----a", True),
        ("claude", "-w---a", False),
        ("codex", "x", True),
    ):
        with case((name, folder)):
            program = program_named(name)
            assert program is not None
            assert program.resume is not None
            assert program.resume.keeps(Path(folder, "s.jsonl"), "/w/😀.a") is expected
