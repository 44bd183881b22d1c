"""The command that continues a session contains nothing that the session could choose."""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.registry import AGENTS, program_named
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_file
from agentwatch.catalog.acting import Subject, check_act, checked
from agentwatch.catalog.continuing import (
    REFUSED,
    Continued,
    Holder,
    check_confirmed,
    enter,
    in_folder,
    modes_of,
    planned,
    session_to_continue,
)
from agentwatch.catalog.local_session import NO_FILE
from agentwatch.catalog.session_status import Process
from agentwatch.sources.proc import Proc
from agentwatch.text.safe import SafeText
from tests.builders.continued import ID, THREAD, claude_session, codex_session
from tests.builders.lines import init, result
from tests.conftest import ROOT, case

OPENCODE = "ses_df8bd8bc2ffeaPRqbVJi1wlNVt"
RESUMES = {
    "claude": f"claude -p --output-format stream-json --verbose MODE --resume {ID} -- TEXT",
    "codex": f"codex exec resume {ID} --json MODE -- TEXT",
    "copilot": f"copilot --output-format json MODE --resume={ID} --prompt=TEXT",
    "cursor": f"cursor-agent -p --output-format stream-json MODE --resume {ID} -- TEXT",
    "gemini": f"gemini --output-format stream-json MODE --resume {ID} --prompt=TEXT",
    "opencode": f"opencode run --format json MODE --session {OPENCODE} -- TEXT",
    "pi": f"pi --mode json --session {ID} -p -- TEXT",
    "qwen": f"qwen --output-format stream-json MODE --resume {ID} --prompt=TEXT",
}
_OF_CODEX = "-c approval_policy=on-request -c approvals_reviewer=user"
_WRITES = f"-c sandbox_mode=workspace-write {_OF_CODEX} -c sandbox_workspace_write.writable_roots=[]"
MODES = {
    "claude": {
        mode: f"--permission-mode={mode}"
        for mode in ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")
    },
    "codex": {
        "read-only": f"-c sandbox_mode=read-only {_OF_CODEX}",
        "workspace-write-no-tmp": f"{_WRITES} -c sandbox_workspace_write.network_access=false"
        " -c sandbox_workspace_write.exclude_slash_tmp=true"
        " -c sandbox_workspace_write.exclude_tmpdir_env_var=true",
        "workspace-write": f"{_WRITES} -c sandbox_workspace_write.network_access=false",
        "workspace-write-network": f"{_WRITES} -c sandbox_workspace_write.network_access=true",
        "danger-full-access": f"-c sandbox_mode=danger-full-access {_OF_CODEX}",
    },
    "copilot": {mode: f"--mode={mode}" for mode in ("plan", "interactive", "autopilot")},
    "cursor": {"ask": "--mode=ask", "plan": "--mode=plan", "agent": ""},
    "gemini": {mode: f"--approval-mode={mode}" for mode in ("plan", "default", "auto_edit", "yolo")},
    "opencode": {mode: f"--agent={mode}" for mode in ("plan", "build")},
    "pi": {"settings": ""},
    "qwen": {mode: f"--approval-mode={mode}" for mode in ("plan", "default", "auto-edit", "auto", "yolo")},
}
"""The modes of each agent, the narrowest first, with the options that give them to its command."""


def session(agent: str = "claude", **more: object) -> Continued:
    """Return a session that nobody holds, in the narrowest mode."""
    own, mode = OPENCODE if agent == "opencode" else ID, next(iter(MODES.get(agent, {"": ""})))
    fields: dict[str, object] = {
        "agent": agent,
        "id": own,
        "folder": "/w",
        "acts": None,
        "mode": mode,
        **more,
    }
    return Continued(**fields)  # type: ignore[arg-type]


def reason(
    agent: str = "claude", text: str = "go", *, is_queued: bool = False, permissions: str = "", **more: object
) -> str:
    """Return why a session cannot be continued; it is a mistake of the user, in one line."""
    with pytest.raises(Fault) as found:
        planned(session(agent, **more), text, is_queued=is_queued, permissions=permissions)
    assert found.value.exit_code == USAGE
    assert str(found.value).isprintable()
    return str(found.value)


def test_each_agent_has_its_own_command_or_a_reason() -> None:
    """The command of an agent has the id and the prompt in their places; others say why they have none."""
    for agent in AGENTS:
        with case(agent):
            if agent in RESUMES:
                words = RESUMES[agent].replace("MODE", next(iter(MODES[agent].values())))
                assert planned(session(agent), "TEXT").command == tuple(words.split())
            else:
                program = program_named(agent)
                assert program is not None
                assert program.no_resume in reason(agent)


def test_a_run_has_the_permissions_of_its_session_or_fewer() -> None:
    """A session is continued in its own mode, or in a narrower one that is named; never in a wider one.

    A session that does not say its mode is continued in none wider than the one that asks. Unless it is the
    narrowest, the user confirms it, as what only the settings of the agent decide.
    """
    for agent, modes in MODES.items():
        for said in (*modes, "", "other", "--yolo"):
            names = [*modes] if agent != "pi" else []
            known = said in names
            asking = next(each for each in ("default", "interactive", "agent", *modes) if each in modes)
            widest = said if known else asking
            given = session(agent, mode=said)
            for at, name in enumerate(modes):
                with case((agent, said, name)):
                    if at > [*modes].index(widest):
                        with pytest.raises(Fault, match=f"cannot be {name}: only {widest}") as found:
                            planned(given, "TEXT", permissions=name)
                        assert found.value.exit_code == USAGE
                        continue
                    plan = planned(given, "TEXT", permissions=name)
                    assert plan.command == tuple(RESUMES[agent].replace("MODE", modes[name]).split())
                    decides = agent not in ("opencode", "pi") and name != "agent"
                    assert plan.is_sure is (decides and (known or at == 0))
                    assert plan.confirmation == name
                    assert ("the agent's settings decide" in plan.permissions) is not decides
                    if plan.is_sure:
                        check_confirmed(plan, given)
                        continue
                    with pytest.raises(Fault, match=f"confirm it with --permissions {name}") as found:
                        check_confirmed(plan, given)
                    assert found.value.exit_code == USAGE
            assert planned(given, "TEXT") == planned(given, "TEXT", permissions=widest)
    assert reason("codex", is_queued=True, permissions="read-only").startswith("a prompt in a queue has")
    # Where a line is damaged that may have said another mode, the last one that is known is not widened
    for before, names in (
        ("plan", ["plan"]),
        ("dontAsk", ["dontAsk", "plan"]),
        *((each, ["default", "dontAsk", "plan"]) for each in ("default", "bypassPermissions", "other")),
    ):
        with case(before):
            given = session(mode="", mode_before=before)
            assert [mode.name for mode in modes_of(given)] == names
            assert planned(given, "TEXT").is_sure is (before == "plan")


def test_a_prompt_is_never_an_option() -> None:
    """A prompt is the last word or its value, behind `--` or `=`, byte for byte, whatever it contains."""
    odd = ("$(id) `id` 'x' \"y\"", "\x1b[31m\n\r\u202e", "é" * 1000, "\udc80")
    prompts = [*("--help", "-p", "{id}", "{text}"), *odd]
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
    on, held = {"continue", "queue"}, Holder(Process(4711, 1, "claude"), "main:@0.%0")
    of_codex = session("codex", holder=held, folder="/")
    off = f"add `continue = true` under [act] in {config_file(os.environ)}"
    cases: list[tuple[Continued, set[str], bool, int, str]] = [
        (session("codex", folder="/"), set(), False, USAGE, off),
        (session("codex", folder="/"), {"queue"}, False, USAGE, off),
        (of_codex, {"continue"}, True, USAGE, "switched off: add `queue = true` under [act] in "),
        (
            session(holder=held),
            on,
            False,
            REFUSED,
            "process 4711 (claude, tmux main:@0.%0) holds this session",
        ),
        (of_codex, on, False, REFUSED, "holds this session: --queue hands it the prompt"),
        (session(holder=held._replace(is_sure=False)), on, False, REFUSED, "%0) may hold this"),
        (session(holder=held._replace(is_run=True)), on, False, REFUSED, "it runs here (pid 4711): I inter"),
        (session(holder=Holder(None)), on, False, REFUSED, "a process that is not known holds"),
        (session("codex"), on, True, REFUSED, "no process has this session open"),
        (session("codex", holder=Holder(None, is_sure=False)), on, True, REFUSED, "no process has"),
        (session(is_kept=False), on, False, REFUSED, "claude does not have this session on this machine"),
    ]
    daemon = Process(5, 1, "codex", is_shared=True, viewer=0)
    of_daemon, asked_once = (Holder(daemon), Holder(daemon._replace(viewer=6, has_one_prompt=True)))
    cases += [
        (session("codex", holder=of_daemon), on, False, REFUSED, "process 5 (codex daemon) holds"),
        (session("codex", holder=held, has_one_prompt=True), on, True, REFUSED, "for one prompt"),
        (session("codex", holder=asked_once), on, True, REFUSED, "for one prompt"),
    ]
    for given, allowed, is_queued, code, words in cases:
        # What no setting cures is said first, also while the switch is off.
        for on_or_off in (allowed, set()) if code == REFUSED else (allowed,):
            with case((words, on_or_off)):
                plan = planned(given, "go", is_queued=is_queued)
                with pytest.raises(Fault) as found:
                    checked(plan, given, on_or_off, is_queued=is_queued)
                assert (found.value.exit_code, words in str(found.value)) == (code, True), found.value
    given = session("codex", folder="/")
    assert checked(planned(given, "go"), given, {"continue"}).folder == "/"
    with pytest.raises(Fault, match="cannot be used: /no/such: no such file"):
        checked(planned(given, "go"), given._replace(folder="/no/such"), set())
    for viewer in (0, 6):  # the daemon reads the queue of a thread that no terminal shows, too
        given = session("codex", holder=Holder(daemon._replace(viewer=viewer)))
        plan = planned(given, "go", is_queued=True)
        assert checked(plan, given, {"queue"}, is_queued=True) == plan
    assert Holder(daemon._replace(viewer=6)).words == "process 6 (codex)"


def test_what_no_setting_cures_is_said_before_the_switch() -> None:
    """An interrupt and an answer are refused in the words of a command, for the machine, the state and the
    agent first; the switch names the file and the line."""
    of_run: dict[str, Any] = {"is_live": True, "is_run": True}
    asking = {"asks": True, "can_be_answered": True, "answer": bool, "way": "t: answer it in its terminal"}
    off = f"under [act] in {config_file(os.environ)}"
    unasked: dict[str, Any] = {"answer": None}
    no_hook = "refused: its agent takes no answer from here. t: answer it in its terminal"
    cases: list[tuple[str, dict[str, Any], set[str], str]] = [
        ("continue", {"host": "b\x1bx"}, set(), "refused: it is on b␛x: continue it there"),
        ("continue", {}, set(), ""),
        ("interrupt", of_run | {"host": "b\x1bx"}, set(), "refused: it is on b␛x: interrupt it there"),
        ("interrupt", of_run | {"is_live": False, "is_run": False}, set(), "refused: it has ended"),
        ("interrupt", of_run | {"is_run": False}, set(), "refused: agentwatch run has not started it"),
        ("interrupt", of_run, {"answer"}, f"switched off: add `interrupt = true` {off}"),
        ("interrupt", of_run, {"interrupt"}, ""),
        ("answer", asking | {"host": "b"}, set(), "refused: it is on b: answer it there"),
        ("answer", asking | {"asks": False} | unasked, set(), "refused: it asks nothing"),
        ("answer", asking | {"can_be_answered": False} | unasked, set(), no_hook),
        ("answer", asking, {"interrupt"}, f"switched off: add `answer = true` {off}"),
        ("answer", asking | unasked, {"answer"}, "refused: its agent takes no answer from"),
        ("answer", asking | {"asks": False}, {"answer"}, ""),
    ]
    for act, given, allowed, words in cases:
        with case((act, words)):
            subject = Subject(SafeText(""), "claude", None, str, **given)
            if not words:
                check_act(act, subject, allowed)
                continue
            with pytest.raises(Fault) as found:
                check_act(act, subject, allowed)
            assert str(found.value).startswith(words)


def test_the_folder_that_is_shown_is_the_one_that_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All links of a folder are resolved before it is shown; a folder that was exchanged is not entered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path}/bin::/usr/bin")
    for name, folder in (
        ("CLAUDE_CONFIG_DIR", "conf"),
        ("CODEX_HOME", "/c"),
        ("PI_CODING_AGENT_DIR", "~/pi"),
    ):
        monkeypatch.setenv(name, folder)
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    given = session("codex", folder=str(link))
    plan = in_folder(planned(given, "go"), given)
    assert plan.folder == os.path.realpath(real)
    enter(plan)
    assert Path.cwd() == real.resolve()
    assert os.environ["PWD"] == plan.folder
    assert os.environ["CLAUDE_CONFIG_DIR"] == f"{tmp_path}/conf"
    assert (os.environ["CODEX_HOME"], os.environ["PI_CODING_AGENT_DIR"]) == ("/c", "~/pi")
    assert os.environ["PATH"] == f"{tmp_path}:{tmp_path}/bin:{tmp_path}:/usr/bin"
    real.rename(tmp_path / "moved")
    real.mkdir()
    with pytest.raises(Fault, match="is another folder now"):
        enter(plan)
    again = in_folder(plan, given)
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
        "": "its lines name none under which its agent keeps it",
        "work": "is not known: work",
        "../work": "is not known: ../work",
        "/w\0x": "cannot be a path: /w␀x",
        "/w\ud800": "cannot be a path: /w\ufffd",
        f"{tmp_path}/gone\x1b[2J": "gone␛[2J: no such file or directory",
        f"{tmp_path}/file": "not a directory",
        f"{tmp_path}/loop": "symbolic links",
        f"/{'x' * 5000}": "file name too long",
    }
    for folder, words in cases.items():
        with case(folder[:40]):
            with pytest.raises(Fault) as found:
                in_folder(planned(session(), "go"), session(folder=folder))
            assert (found.value.exit_code, words in str(found.value)) == (USAGE, True), str(found.value)
            assert str(found.value).isprintable()


def test_a_session_is_found_by_any_name_of_its_file(tmp_path: Path, home: Path) -> None:
    """A session has its id, its folder and its acts, by its file, by a link to it, and by a copy."""
    path, acts = claude_session("/w"), home / "acts" / f"claude-{ID}.acts"
    (tmp_path / "link").symlink_to(path)
    for address in (path, tmp_path / "link", Path(os.path.relpath(path))):
        with case(address):
            found = session_to_continue(address, os.environ, Path.home())
            assert found == Continued("claude", ID, "/w", acts, path=path, mode="plan")
    copy = tmp_path / "copy.ndjson"
    copy.write_bytes(path.read_bytes())
    assert session_to_continue(copy, os.environ, Path.home()) == Continued(
        "claude", ID, "/w", tmp_path / "copy.acts", path=path, mode="plan"
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


def claude(cwd: Any = "/w", mode: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "user", "cwd": cwd, "sessionId": ID, **({"permissionMode": mode} if mode else {}), **more}


def codex(sandbox: object, policy: object = "on-request", **more: Any) -> dict[str, Any]:
    """Return the line that begins a turn of Codex, in which the agent is in another folder."""
    turn = {"cwd": "/evil", "approval_policy": policy, "sandbox_policy": sandbox, **more}
    return {"type": "turn_context", "payload": turn}


def profile(access: str) -> dict[str, Any]:
    """Return a permission profile of Codex with an access to a file."""
    entries = [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}]
    entries += [{"path": {"type": "path", "path": "/w/.env"}, "access": access}]
    return {"type": "managed", "file_system": {"type": "restricted", "entries": entries}}


def copilot(kind: str, **data: object) -> dict[str, Any]:
    return {"type": kind, "data": data}


READS, ALL = codex({"type": "read-only"}), codex({"type": "danger-full-access"}, "never")
OWN = codex({"type": "read-only"}, active_permission_profile={"id": "mine"})
WRITES = {"type": "workspace-write", "network_access": False}
DAMAGED = b'{"type":"user","permissionMode":"pl'
MADE_UP: dict[str, Any] = {"message": {"role": "user", "content": '{"permissionMode":"bypassPermissions"}'}}
START: dict[str, Any] = {"type": "session_meta", "payload": {"id": ID, "cwd": "/w"}}
COPILOT = copilot("session.start", context={"cwd": "/w"})
OF_SUBAGENT = copilot("user.message", source=f"agent-{ID}") | {"agentId": THREAD}
LONG = f"/{'x' * 230}"
SAID: list[tuple[str, str, list[Any], str, str]] = [
    ("claude", "-w", [claude(mode="plan"), claude("/evil", "acceptEdits")], "/w", "acceptEdits"),
    ("claude", "-w", [claude(mode="default"), {"type": "x", "permissionMode": "plan"}], "/w", "plan"),
    ("claude", "-w", [claude(mode="manual"), claude(mode="auto", isSidechain=True)], "/w", "default"),
    ("claude", "-w", [claude(mode="plan"), claude(**MADE_UP), claude("/evil")], "/w", "plan"),
    ("claude", "-w", [claude("/w/a", "plan"), claude(mode=ID), {}, 5], "/w", ID),
    ("claude", "-w", [claude(mode="auto"), DAMAGED], "/w", ""),
    ("claude", "-w", [claude(mode="auto"), DAMAGED, claude(mode="plan")], "/w", "plan"),
    ("claude", "-w", [claude("/w.a"), claude("/w/"), claude(cwd=5)], "", ""),
    ("claude", "-w-a", [claude("/w/a"), claude("/w.a"), {**claude(), "permissionMode": 5}], "/w/a", ""),
    ("claude", f"-{'x' * 199}-k9f", [claude(LONG[:-1] + "/"), claude("/evil")], LONG[:-1] + "/", ""),
    ("claude", "-w---", [claude("/w/😀", "plan")], "/w/😀", "plan"),
    ("qwen", "-w", [claude(), claude("/evil")], "/w", ""),
    *(
        ("qwen", "-w", [claude(), {"subtype": subtype, "systemPayload": {"mode": "plan"}}], "/w", mode)
        for subtype, mode in (("session_approval_mode", "plan"), ("other", ""))
    ),
    ("codex", "", [START, ALL, READS], "/w", "read-only"),
    ("codex", "", [START, codex(WRITES), {**START, "payload": {"cwd": "/evil"}}], "/w", "workspace-write"),
    ("codex", "", [START, codex({**WRITES, "network_access": True})], "/w", "workspace-write-network"),
    ("codex", "", [START, codex({**WRITES, "exclude_slash_tmp": True})], "/w", "workspace-write-no-tmp"),
    ("codex", "", [START, codex(WRITES, "untrusted")], "/w", "read-only"),
    ("codex", "", [START, OWN], "/w", "profile mine"),
    (
        "codex",
        "",
        [START, codex({"type": "read-only"}, active_permission_profile="x")],
        "/w",
        "profile unknown",
    ),
    ("codex", "", [START, codex({"type": "read-only", "access": {"type": "restricted"}})], "/w", "unknown"),
    ("codex", "", [START, codex({**WRITES, "read_only_access": {"type": "restricted"}})], "/w", "unknown"),
    ("codex", "", [START, codex(WRITES, permission_profile=profile("none"))], "/w", "unknown"),
    ("codex", "", [START, codex(WRITES, permission_profile=profile("read"))], "/w", "workspace-write"),
    ("codex", "", [START, codex({"type": "external-sandbox"})], "/w", "external-sandbox"),
    ("codex", "", [START, codex(WRITES), codex(None)], "/w", "unknown"),
    ("copilot", ID, [COPILOT, copilot("user.message", agentMode="plan")], "/w", "plan"),
    ("copilot", ID, [COPILOT, copilot("user.message", agentMode="plan"), OF_SUBAGENT], "/w", "plan"),
    ("copilot", ID, [COPILOT, copilot("session.mode_changed", newMode="autopilot")], "/w", "autopilot"),
    (
        "copilot",
        ID,
        [COPILOT, copilot("user.message", cwd="/evil"), copilot("x", agentMode="plan")],
        "/w",
        "",
    ),
    ("pi", "--w--", [{"type": "session", "id": ID, "cwd": "/w"}, {"type": "x", "cwd": "/evil"}], "/w", ""),
]
"""An agent, the folder of a session's file, its lines, and the folder and the mode of the session."""
PLACES = {
    "claude": ".claude/projects/{0}/{1}.jsonl",
    "qwen": ".qwen/projects/{0}/chats/{1}.jsonl",
    "codex": ".codex/sessions/2026/11/24/rollout-2026-11-24T00-00-00-{1}.jsonl",
    "copilot": ".copilot/session-state/{0}/events.jsonl",
    "pi": ".pi/agent/sessions/{0}/2026_{1}.jsonl",
}


@pytest.mark.system
def test_the_folder_is_the_first_one_and_the_mode_the_newest_one() -> None:
    """A session is continued where its agent keeps it, not where the agent went; in its newest mode. No text
    of a prompt or a result, and no subagent says a mode. What may be one, but is damaged, is none."""
    for agent, folder, lines, cwd, mode in SAID:
        with case((agent, lines)):
            path = Path.home() / PLACES[agent].format(folder, ID)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines))
            found = session_to_continue(path, os.environ, Path.home())
            assert (found.agent, found.id, found.folder, found.mode) == (agent, ID, cwd, mode)
            assert found.mode_before == ("auto" if lines[-1] == DAMAGED else "")
            path.unlink()
    # Where the metadata beside it name the folder, it is that of the metadata
    home = Path.home()
    files = {
        ".gemini/tmp/w/.project_root": "/w",
        f".gemini/tmp/w/chats/session-2026-11-24T00-00-{ID[:8]}.jsonl": json.dumps({"sessionId": ID}),
        f".cursor/chats/0a/{ID}/meta.json": json.dumps({"cwd": "/w/a"}),
        f".cursor/projects/w-a/agent-transcripts/{ID}/{ID}.jsonl": json.dumps({"role": "user"}),
        f".cursor/projects/w-b/agent-transcripts/{THREAD}/{THREAD}.jsonl": json.dumps({"role": "user"}),
        f".cursor/chats/0a/{THREAD}/meta.json": json.dumps({"cwd": "/w/a"}),
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    database = home / ".local/share/opencode/opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes((ROOT / "tests/captures/disk/opencode-db/own-1.18.33/opencode.db").read_bytes())
    of_opencode = "ses_dffab4634ffe523C3nFZ25XU7L"
    hashes = [sha256(folder.encode()).hexdigest() for folder in ("/w", "/w/a")]
    for each in hashes:
        (home / f".gemini/tmp/{each}/chats").mkdir(parents=True)
        (home / f".gemini/tmp/{each}/.project_root").write_text("/w")
        files[f".gemini/tmp/{each}/chats/session-2026-11-24T00-01-{each[:8]}.jsonl"] = each
        (home / [*files][-1]).write_text(json.dumps({"sessionId": each[:36]}))
    cases = (
        *((1, ID, "/w", ""), (3, ID, "/w/a", ""), (4, THREAD, "", "")),
        *((6, hashes[0][:36], "/w", ""), (7, hashes[1][:36], "", "")),
    )
    for at, session_id, cwd, mode in cases:
        with case(name := [*files][at]):
            found = session_to_continue(home / name, os.environ, home)
            assert (found.id, found.folder, found.mode) == (session_id, cwd, mode)
    found = session_to_continue(database / of_opencode, os.environ, home)
    assert (found.id, found.folder, found.mode) == (of_opencode, "/home/dev/proj", "build")


def test_a_folder_that_became_a_link_is_refused(tmp_path: Path) -> None:
    """Claude keeps no session of the folder that a link leads to, so the folder was replaced since."""
    (tmp_path / "evil").mkdir()
    (tmp_path / "w").symlink_to("evil")
    found = session_to_continue(claude_session(str(tmp_path / "w")), os.environ, Path.home())
    with pytest.raises(Fault, match="w is a link now, and its agent keeps") as fault:
        in_folder(planned(found, "go"), found)
    assert fault.value.exit_code == REFUSED


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
