"""The hook notes an event in a line, and never disturbs the agent that runs it."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.agents.registry import hooked_agents
from agentwatch.agents.state_report import State
from agentwatch.catalog.hooks.program import Program, is_own
from agentwatch.catalog.reports import HookLogs
from tests.conftest import case

SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "fish", "busybox") if shutil.which(shell)]
SESSION = "019a7f3e-1111-7abc-8def-000000000001"
CODEX: dict[str, Any] = {
    "session_id": SESSION,
    "turn_id": "t",
    "transcript_path": None,
    "cwd": '/home/dev/"session_id":"no"',
    "hook_event_name": "PermissionRequest",
    "model": "m",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": 'echo "tool_name":"x"', "session_id": "other"},
}


def fire(
    program: Program, agent: str, event: str, data: object, *, shell: str = "sh", **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the command of a hook as an agent does, and check that it is silent and ends with 0."""
    given = data if isinstance(data, bytes) else orjson.dumps(data)
    arguments = [shell, *(["sh"] if shell == "busybox" else []), "-c", program.command(agent, event)]
    done = subprocess.run(arguments, input=given, capture_output=True, timeout=60, check=False, **more)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return done


def lines(program: Program, agent: str = "codex") -> list[Any]:
    """Return the lines of the session's log."""
    path = program.folder / agent / f"{SESSION}.log"
    return [json.loads(line) for line in path.read_text().split()] if path.exists() else []


def logs(program: Program) -> list[str]:
    """Return the paths of all files of the program's folder, but the program."""
    return sorted(
        str(path.relative_to(program.folder))
        for path in program.folder.rglob("*")
        if path != program.path and not path.is_dir()
    )


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_an_event_is_one_line_without_what_was_asked(program: Program, shell: str) -> None:
    """It has the name of the event, that of the tool, and the time."""
    before = time.time_ns() // 10**6
    fire(program, "codex", "PermissionRequest", CODEX, shell=shell)
    (line,) = lines(program)
    assert before - 1000 <= line["at_ms"] <= time.time_ns() // 10**6
    assert line == {"event": "PermissionRequest", "tool": "Bash", "at_ms": line["at_ms"]}
    log = program.folder / "codex" / f"{SESSION}.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


PAYLOADS: list[tuple[str, str, dict[str, Any], State | None]] = [
    ("codex", "UserPromptSubmit", {"session_id": SESSION, "prompt": "Go"}, State.WORKING),
    ("codex", "PreToolUse", CODEX, State.WORKING),
    ("codex", "PermissionRequest", CODEX, State.ASKS),
    ("codex", "PostToolUse", {**CODEX, "tool_response": "x" * 100_000}, State.WORKING),
    ("codex", "Stop", {"session_id": SESSION, "stop_hook_active": False}, State.YOUR_TURN),
    ("gemini", "BeforeAgent", {"session_id": SESSION, "prompt": "Go"}, State.WORKING),
    ("gemini", "BeforeTool", {"session_id": SESSION, "tool_name": "run_shell_command"}, State.WORKING),
    (
        "gemini",
        "Notification",
        {"session_id": SESSION, "notification_type": "ToolPermission", "message": "?", "details": {}},
        State.ASKS,
    ),
    ("gemini", "AfterTool", {"session_id": SESSION, "tool_name": "read_file"}, State.WORKING),
    ("gemini", "AfterAgent", {"session_id": SESSION, "prompt_response": "Done"}, State.YOUR_TURN),
    ("gemini", "SessionEnd", {"session_id": SESSION, "reason": "exit"}, State.YOUR_TURN),
    ("cursor", "beforeSubmitPrompt", {"conversation_id": SESSION, "prompt": "Go"}, State.WORKING),
    ("cursor", "beforeShellExecution", {"conversation_id": SESSION, "command": "ls"}, State.WORKING),
    ("cursor", "afterShellExecution", {"conversation_id": SESSION, "output": "x"}, State.WORKING),
    ("cursor", "beforeMCPExecution", {"conversation_id": SESSION, "tool_name": "q"}, State.WORKING),
    ("cursor", "afterMCPExecution", {"conversation_id": SESSION, "tool_name": "q"}, State.WORKING),
    ("cursor", "stop", {"conversation_id": SESSION, "status": "completed"}, State.YOUR_TURN),
    ("cursor", "sessionEnd", {"conversation_id": SESSION}, State.YOUR_TURN),
]


@pytest.mark.slow
def test_every_event_that_is_installed_has_a_payload() -> None:
    """The payloads below are those of all hooks."""
    assert {(agent, event) for agent, event, *_ in PAYLOADS} == {
        (agent.name, event) for agent in hooked_agents().values() for event in agent.events
    }


@pytest.mark.slow
@pytest.mark.system
def test_what_a_hook_notes_is_what_a_list_reads(program: Program) -> None:
    """Each event of each agent has a meaning, also if the agent writes blanks in its JSON."""
    for agent, event, data, state in PAYLOADS:
        for is_spaced in (False, True):
            with case(f"{agent}, {event}, {is_spaced}"):
                given = json.dumps({**data, "hook_event_name": event}, indent=2 if is_spaced else None)
                fire(program, agent, event, given.encode())
                found = HookLogs(program.folder, os.getuid())
                found.refresh(time.time())
                reported = found.reported.get((agent, SESSION))
                assert (reported and reported.state) == state
                assert len(lines(program, agent)) == 1
                shutil.rmtree(program.folder / agent)


WITHOUT_SESSION: list[bytes] = [
    b"",
    b"{",
    b"null",
    b'{"session_id":""}',
    b'{"session_id":null,"tool_name":"x"}',
    b'{"session_id":["a"]}',
    b'{"session_id":"../../x"}',
    b'{"session_id":"a/b"}',
    b'{"session_id":".."}',
    b'{"session_id":"a\\nb"}',
    b'{"session_id":"a\nb"}',
    b'{"session_id":"$(touch x)"}',
    b'{"session_id":"`id`;*"}',
    b'{"session_id":"-n\xff"}',
    b'{"session_id":"\xc3\xa4"}',
    b'{"session_id":"' + b"a" * 65 + b'"}',
    b'{"a":"\\"session_id\\":\\"abc\\""}',
    b'["session_id","abc"]',
    b'{"tool_input":{"session_id":"abc"}}',
    b'{"tool_input":[{"session_id":"abc"}],"x":"}"}',
    b'{"a":"{\\\\","b":{"session_id":"abc"}}',
    b'[{"session_id":"abc"}]',
    b'"' * 100_000,
    b"\0" * 100_000,
    b" " * 20_000 + b'{"session_id":"late"}',
    b" " * 16_360 + b'{"session_id":"abcdefghijklmnop"}',
]


@pytest.mark.slow
@pytest.mark.system
def test_an_input_without_a_good_session_is_dropped(program: Program) -> None:
    """No file is written, anywhere."""
    for data in WITHOUT_SESSION:
        with case(f"{data!r:.60}"):
            above = sorted(program.folder.parent.parent.rglob("*"))
            fire(program, "codex", "Stop", data, cwd=program.folder)
            assert logs(program) == []
            assert sorted(program.folder.parent.parent.rglob("*")) == above


@pytest.mark.slow
def test_a_strange_input_is_one_line_or_none(program: Program) -> None:
    """A strange tool is left out, a session is not a pattern, and a huge input is read to its end."""
    cases: list[object] = [
        "a\nb",
        'a"b',
        "a\\b",
        "a b",
        "x" * 65,
        "",
        "ä",
        "$(id)",
        "%s%n",
        None,
        ["x"],
        {"tool_name": "y"},
    ]
    for number, tool in enumerate(cases):
        with case(tool):
            fire(program, "codex", "PreToolUse", {**CODEX, "tool_name": tool, "tool_input": None})
            assert len(lines(program)) == number + 1
            assert lines(program)[-1]["tool"] == ""
    fire(program, "codex", "PostToolUse", {**CODEX, "tool_response": '"y\\\n' * 5_000_000})
    assert len(lines(program)) == len(cases) + 1
    (program.folder.parent / "abc").write_text("")
    fire(program, "codex", "Stop", {"session_id": "ab?"}, cwd=program.folder.parent)
    assert logs(program) == [f"codex/{SESSION}.log"]


@pytest.mark.slow
def test_the_input_is_read_also_if_the_program_is_gone(program: Program) -> None:
    """No writer of the input is ended by a closed pipe; a closed descriptor does no harm."""
    for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-", "</dev/null", ">/dev/full"):
        with case(closed):
            before = len(lines(program))
            command = f"({program.command('codex', 'Stop')}) {closed}"
            done = subprocess.run(
                ["sh", "-c", command], input=orjson.dumps(CODEX), capture_output=True, timeout=60, check=False
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            assert len(lines(program)) - before == ("0<" not in closed and "</" not in closed)
    for is_there in (True, False):
        with case(is_there):
            if not is_there:
                shutil.rmtree(program.folder.parent)
            running = subprocess.Popen(["sh", "-c", program.command("codex", "Stop")], stdin=subprocess.PIPE)
            assert running.stdin is not None
            running.stdin.write(orjson.dumps({**CODEX, "prompt": "x" * 1_000_000}))
            running.stdin.close()
            assert running.wait(60) == 0
            assert program.folder.exists() == is_there


@pytest.mark.slow
def test_the_environment_does_not_matter(program: Program) -> None:
    """There may be no HOME, no PATH, another locale, and a file of commands for shells."""
    trap = program.folder.parent / "trap"
    trap.write_text("echo trapped; exit 2\n")
    for environ in ({}, {"PATH": ""}, {"LC_ALL": "tr_TR.UTF-8", "ENV": str(trap), "BASH_ENV": str(trap)}):
        fire(program, "codex", "Stop", CODEX, shell=str(shutil.which("sh")), env=environ)
    assert len(lines(program)) == 3


NESTED: list[bytes] = [
    b'{"tool_input":{"session_id":"other","tool_name":"x"},"session_id":"%s","tool_name":"Bash"}',
    b'{"tool_input":[[{"session_id":"other"}]],"session_id" : "%s","tool_name": "Bash"}',
    b'{"x":"}","y":{"z":"}}","session_id":"other"},"session_id":"%s","tool_name":"Bash"}',
    b'{"x":"\\\\","y":"\\"{[","session_id":"%s","tool_name":"Bash"}',
    b'{"x":"\\\\\\"session_id","y":{},"session_id":"%s","tool_name":"Bash"}',
]


@pytest.mark.slow
def test_only_the_keys_of_the_outermost_object_count(program: Program) -> None:
    """The model chooses the input of a tool, which may contain the id of another session."""
    for number, data in enumerate(NESTED, 1):
        with case(data):
            fire(program, "codex", "PreToolUse", data % SESSION.encode())
            assert logs(program) == [f"codex/{SESSION}.log"]
            assert [each["tool"] for each in lines(program)] == ["Bash"] * number


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_no_program_of_the_working_directory_runs(program: Program, is_there: bool) -> None:
    """An empty PATH, or one with an empty entry, names the project in which the agent works."""
    project, touched = program.folder.parent / "project", program.folder.parent / "touched"
    project.mkdir()
    for name in ("head", "cat", "date", "mkdir", "wc", "printf"):
        path = project / name
        path.write_text(f"#!/bin/sh\n: >'{touched.name}'\n: >'../{touched.name}'\n")
        path.chmod(0o755)
    if not is_there:
        program.path.unlink()
    for path_words in ("", ":", ".:/usr/bin", str(project)):
        with case(path_words):
            environ = {"PATH": path_words}
            fire(program, "codex", "Stop", CODEX, shell=str(shutil.which("sh")), env=environ, cwd=project)
            assert not touched.exists()
    assert len(lines(program)) == (4 if is_there else 0)


@pytest.mark.slow
def test_hooks_at_the_same_time_write_whole_lines(program: Program) -> None:
    """Agents run hooks of parallel calls at the same time; a log begins again when it is large."""
    command = program.command("codex", "PreToolUse")
    data = orjson.dumps(CODEX)
    running = [subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE) for _ in range(40)]
    for each in running:
        assert each.stdin is not None
        each.stdin.write(data)
        each.stdin.close()
    assert {each.wait(60) for each in running} == {0}
    assert len(lines(program)) == 40
    # It has at most 64 KiB and a line.
    log = program.folder / "codex" / f"{SESSION}.log"
    log.write_bytes((log.read_bytes().split()[0] + b"\n") * 900)
    assert log.stat().st_size < 1 << 16
    fire(program, "codex", "Stop", CODEX)
    assert len(lines(program)) == 901
    log.write_bytes(log.read_bytes() * 2)
    fire(program, "codex", "Stop", CODEX)
    assert len(lines(program)) == 1
    # A line that a full disk has cut does not swallow the next one.
    log.write_bytes(b'{"event":"PreTo')
    fire(program, "codex", "Stop", CODEX)
    assert log.read_bytes().startswith(b'{"event":"PreTo\n{"event":"Stop"')


@pytest.mark.slow
def test_a_log_that_is_no_file_is_not_written(program: Program) -> None:
    """What a link points to stays as it is; with a folder in its place, the program itself ends with 0."""
    log, target = program.folder / "codex" / f"{SESSION}.log", program.folder.parent / "target"
    target.write_text("mine")
    log.parent.mkdir()
    log.symlink_to(target)
    fire(program, "codex", "Stop", CODEX)
    assert target.read_text() == "mine"
    log.unlink()
    log.mkdir()
    for data in (orjson.dumps(CODEX), b""):
        done = subprocess.run(
            [program.path, "codex", "Stop"], input=data, capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["folder", "agent", "log"])
def test_a_place_that_cannot_be_written_does_no_harm(program: Program, what: str) -> None:
    """A folder is a file or is read-only, or a log is a folder."""
    agent = program.folder / "codex"
    if what == "log":
        (agent / f"{SESSION}.log").mkdir(parents=True)
    elif what == "agent":
        agent.write_text("")
    elif os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    else:
        program.folder.chmod(0o500)
    fire(program, "codex", "Stop", CODEX)
    program.folder.chmod(0o700)


def test_the_program_is_written_again_if_it_was_changed(program: Program) -> None:
    """It is the program of this version, which only the user may write; only its own commands are ours."""
    program.path.write_text("#!/bin/sh\nexit 2\n")
    assert not program.is_installed
    program.install()
    assert program.is_installed
    assert program.path.stat().st_mode & 0o777 == 0o700
    program.path.rename(program.path.with_name("moved"))
    program.path.symlink_to("moved")
    assert not program.is_installed
    assert is_own(Program(Path("/some where/hooks")).command("codex", "Stop"))
    others: list[object] = [None, 1, [], "", "agentwatch-hook", "echo /agentwatch-hook; exit 0"]
    assert not any(map(is_own, [*others, "[ -x a ] && b; exit 0"]))
