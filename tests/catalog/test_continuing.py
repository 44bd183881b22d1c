"""The command that continues a session contains nothing that the session could choose."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from agentwatch.agents.registry import AGENTS, program_named
from agentwatch.base.faults import USAGE, Fault
from agentwatch.catalog.continuing import (
    REFUSED,
    Continued,
    Holder,
    check_allowed,
    enter,
    in_folder,
    planned,
    session_to_continue,
)
from agentwatch.catalog.standing import Process
from agentwatch.catalog.tracked import NO_FILE
from agentwatch.sources.proc import Proc
from tests.builders.continued import ID, THREAD, claude_session, codex_session
from tests.builders.lines import init, result
from tests.conftest import case

OPENCODE = "ses_df8bd8bc2ffeaPRqbVJi1wlNVt"
RESUMES = {
    "claude": f"claude -p --output-format stream-json --verbose --resume {ID} -- TEXT",
    "codex": f"codex exec resume {ID} --json -- TEXT",
    "copilot": f"copilot --output-format json --resume={ID} --prompt=TEXT",
    "cursor": f"cursor-agent -p --output-format stream-json --resume {ID} -- TEXT",
    "gemini": f"gemini --output-format stream-json --resume {ID} --prompt=TEXT",
    "opencode": f"opencode run --format json --session {OPENCODE} -- TEXT",
    "pi": f"pi --mode json --session {ID} -p -- TEXT",
    "qwen": f"qwen --output-format stream-json --resume {ID} --prompt=TEXT",
}


def session(agent: str = "claude", **more: object) -> Continued:
    """Return a session that nobody holds."""
    own = OPENCODE if agent == "opencode" else ID
    fields: dict[str, object] = {"agent": agent, "id": own, "cwd": "/w", "acts": None, **more}
    return Continued(**fields)  # type: ignore[arg-type]


def reason(agent: str = "claude", text: str = "go", *, is_queued: bool = False, **more: object) -> str:
    """Return why a session cannot be continued; it is a mistake of the user, in one line."""
    with pytest.raises(Fault) as found:
        planned(session(agent, **more), text, is_queued=is_queued)
    assert found.value.exit_code == USAGE
    assert str(found.value).isprintable()
    return str(found.value)


def test_each_agent_has_its_own_command_or_a_reason() -> None:
    """The command of an agent has the id and the prompt in their places; others say why they have none."""
    for agent in AGENTS:
        with case(agent):
            if agent in RESUMES:
                assert planned(session(agent), "TEXT").command == tuple(RESUMES[agent].split())
            else:
                program = program_named(agent)
                assert program is not None
                assert program.no_resume in reason(agent)


def test_a_prompt_is_never_an_option() -> None:
    """A prompt is the last word or its value, behind `--` or `=`, byte for byte, whatever it contains."""
    prompts = [
        "--help",
        "-p",
        "{id}",
        "{text}",
        "$(id) `id` 'x' \"y\"",
        "\x1b[31m\n\r\u202e",
        "é" * 1000,
        "\udc80",
    ]
    for agent in RESUMES:
        for text in prompts:
            with case((agent, text)):
                plan = planned(session(agent), text)
                *words, last = plan.command
                assert last in (text, f"--prompt={text}")
                assert last != text or words[-1] == "--"
                assert words == list(planned(session(agent), "TEXT").command)[:-1]
    assert planned(session("codex"), "--x", is_queued=True).command[-1] == "--message=--x"


def test_a_prompt_that_an_agent_would_misread_is_refused() -> None:
    """What a program takes for a file or its stdin, what no program can get, and nothing are refused."""
    for agent, text in (("codex", "-"), ("pi", "@notes.txt"), ("pi", "@a\nb")):
        with case((agent, text)):
            assert "would take this prompt for something else" in reason(agent, text)
    for text, words in (("", "empty"), (" \n\t", "empty"), ("a\0b", "NUL"), ("x" * (1 << 17), "longer than")):
        with case(text[:5]):
            assert words in reason(text=text)
    assert planned(session("pi"), "see @notes.txt").command[-1] == "see @notes.txt"
    assert planned(session("codex"), "-", is_queued=True).command[-1] == "--message=-"


def test_what_can_be_continued_has_an_id_a_switch_and_no_holder() -> None:
    """What could be an option, a path, a name, an index or the beginning of an id is never an argument. A
    subagent, an unknown agent, and a queue of an agent without one are refused with the reason. Without
    its switch an act is a usage error; a session that is held is refused with who holds it.
    """
    hostile = [
        *("", "-", "--", "--dangerously-skip-permissions", "-c", "latest", "5", "12345", "../../../etc"),
        *("a/b" * 5, f"{ID} --yolo", f"{ID}\n", f"{ID}\0", "$(touch x)abc", "x" * 201, "\u0661" * 12),
        *("the-name-of-a-session", ID[:18], ID.replace("-", ""), ID.replace(ID[0], "\u0661", 1)),
    ]
    for agent in RESUMES:
        for each in (*hostile, ID if agent == "opencode" else OPENCODE):
            with case((agent, each[:40])):
                assert "is not one" in reason(agent, id=each)
    assert ID.upper() in planned(session(id=ID.upper()), "go").command
    assert "is a subagent" in reason(is_subagent=True)
    assert "is not known" in reason("")
    assert "claude has no queue" in reason(is_queued=True)
    held = Holder(Process(4711, 1, "claude"), "main:@0.%0")
    cases: list[tuple[Continued, set[str], bool, int, str]] = [
        (session(), set(), False, USAGE, "switched off: set continue = true under [act]"),
        (session(), {"queue"}, False, USAGE, "switched off: set continue = true under [act]"),
        (session("codex"), {"continue"}, True, USAGE, "switched off: set queue = true under [act]"),
        (session(holder=held), {"continue"}, False, REFUSED, "process 4711 (claude, tmux main:@0.%0) holds"),
        (session(holder=held._replace(is_sure=False)), {"continue"}, False, REFUSED, "%0) may hold this"),
        (session(holder=Holder(None)), {"continue"}, False, REFUSED, "a process that is not known holds"),
        (session("codex"), {"queue"}, True, REFUSED, "no process has this session open"),
        (session("codex", holder=Holder(None, is_sure=False)), {"queue"}, True, REFUSED, "no process has"),
        (session(is_kept=False), {"continue"}, False, REFUSED, f"claude has no session {ID} on this machine"),
    ]
    daemon = Process(5, 1, "codex", is_shared=True, viewer=0)
    cases += [
        (
            session("codex", holder=Holder(daemon)),
            {"continue"},
            False,
            REFUSED,
            "process 5 (codex daemon) holds",
        ),
        (session("codex", holder=held, has_one_prompt=True), {"queue"}, True, REFUSED, "for one prompt"),
        (
            *(session("codex", holder=Holder(daemon._replace(viewer=6, has_one_prompt=True))), {"queue"}),
            *(True, REFUSED, "for one prompt"),
        ),
    ]
    for given, allowed, is_queued, code, words in cases:
        with case(words):
            with pytest.raises(Fault) as found:
                check_allowed(given, allowed, is_queued=is_queued)
            assert (found.value.exit_code, words in str(found.value)) == (code, True), found.value
    check_allowed(session(), {"continue"})
    for viewer in (0, 6):  # the daemon reads the queue of a thread that no terminal shows, too
        holder = Holder(daemon._replace(viewer=viewer))
        check_allowed(session("codex", holder=holder), {"queue"}, is_queued=True)
    assert Holder(daemon._replace(viewer=6)).words == "process 6 (codex)"


def test_the_folder_that_is_shown_is_the_one_that_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All links of a folder are resolved before it is shown; a folder that was exchanged is not entered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path}/bin::/usr/bin")
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    plan = in_folder(planned(session(cwd=str(link)), "go"), session(cwd=str(link)))
    assert plan.folder == os.path.realpath(real)
    enter(plan)
    assert Path.cwd() == real.resolve()
    assert os.environ["PWD"] == plan.folder
    assert os.environ["PATH"] == f"{tmp_path}:{tmp_path}/bin:{tmp_path}:/usr/bin"
    real.rename(tmp_path / "moved")
    real.mkdir()
    with pytest.raises(Fault, match="is another folder now"):
        enter(plan)
    again = in_folder(plan, session(cwd=str(link)))
    assert again.mark != plan.mark
    real.rmdir()
    with pytest.raises(Fault, match="no such file or directory"):
        enter(plan)
    real.write_text("")
    with pytest.raises(Fault, match="not a directory"):
        enter(plan)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A relative, unknown, deleted or impossible folder is a usage error in one line."""
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cases = {
        "": "it names none",
        "work": "is not known: work",
        "../work": "is not known: ../work",
        "/w\0x": "cannot be a path: /w␀x",
        "/w\ud800": "cannot be a path: /w\ufffd",
        f"{tmp_path}/gone\x1b[2J": "gone␛[2J: no such file or directory",
        f"{tmp_path}/file": "not a directory",
        f"{tmp_path}/loop": "symbolic links",
        f"/{'x' * 5000}": "file name too long",
    }
    for cwd, words in cases.items():
        with case(cwd[:40]):
            with pytest.raises(Fault) as found:
                in_folder(planned(session(), "go"), session(cwd=cwd))
            assert (found.value.exit_code, words in str(found.value)) == (USAGE, True), str(found.value)
            assert str(found.value).isprintable()


def test_a_session_is_found_by_any_name_of_its_file(tmp_path: Path, home: Path) -> None:
    """A session has its id, its folder and its acts, by its file, by a link to it, and by a copy."""
    path, acts = claude_session("/w"), home / "acts" / f"claude-{ID}.acts"
    (tmp_path / "link").symlink_to(path)
    for address in (path, tmp_path / "link", Path(os.path.relpath(path))):
        with case(address):
            found = session_to_continue(address, os.environ, Path.home())
            assert found == Continued("claude", ID, "/w", acts)
    copy = tmp_path / "copy.ndjson"
    copy.write_bytes(path.read_bytes())
    assert session_to_continue(copy, os.environ, Path.home()) == Continued(
        "claude", ID, "/w", tmp_path / "copy.acts"
    )
    # A file of a subagent is not a session that can be continued.
    path = claude_session("/w").with_suffix("") / "subagents" / "agent-a0000000000000001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(path.parent.parent.with_suffix(".jsonl").read_bytes())
    found = session_to_continue(path, os.environ, Path.home())
    assert (found.agent, found.is_subagent) == ("claude", True)
    # A thread that `codex exec` has started takes nothing from the queue; one of a terminal may.
    for originator, expected in (("codex_exec", True), ("codex-tui", False)):
        with case(originator):
            path = codex_session("/w", originator=originator)
            found = session_to_continue(path, os.environ, Path.home())
            assert (found.agent, found.id, found.has_one_prompt) == ("codex", THREAD, expected)


def test_a_file_decides_nothing_but_its_id_and_folder(tmp_path: Path) -> None:
    """A recording of any content is read; what is not a session of a known agent cannot be continued."""
    path = tmp_path / "r.ndjson"
    contents = [
        b"",
        b"\0\xff{",
        b'{"type":"system","subtype":"init","session_id":["x"],"cwd":{}}\n',
        init(),
        init() + result("done"),
        b'{"type":"system","subtype":"init","session_id":"--yolo-mode","cwd":"/","tools":[],"model":"m"}\n',
    ]
    for content in contents:
        with case(content[:60]):
            path.write_bytes(content)
            found = session_to_continue(path, os.environ, Path.home())
            with pytest.raises(Fault):
                in_folder(planned(found, "go"), found)
    for missing, words in ((tmp_path / "none", "no such file"), (Path("/w\0"), "not a path")):
        with pytest.raises(Fault, match=words):
            session_to_continue(missing, os.environ, Path.home())
    with pytest.raises(Fault, match="nothing of this session is written yet"):
        session_to_continue(NO_FILE, os.environ, Path.home())
    with pytest.raises(Fault, match="cannot open"):
        session_to_continue(tmp_path, os.environ, Path.home())


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
def test_a_process_that_only_its_agent_names_holds_the_session() -> None:
    """A process that runs and that nobody would take for an agent is a holder, if the agent names it."""
    path, pid = claude_session("/w"), os.getpid()
    stat = Proc().stat(pid)
    assert stat is not None
    record = Path.home() / ".claude" / "sessions" / f"{pid}.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"pid": pid, "procStart": str(stat.began), "sessionId": ID}))
    assert session_to_continue(path, os.environ, Path.home()).holder == Holder(Process(pid, 0, "claude"))
