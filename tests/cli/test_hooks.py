"""`hooks` shows what it would change, asks, and changes nothing else."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import case
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import files, ran

FOREIGN = '{\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": []\n      }\n    ]\n  }\n}\n'


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of a user of Codex and the Gemini CLI."""
    folder = tmp_path / "user"
    for name in (".codex", ".gemini"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_a_hook_is_installed_reported_fired_and_removed(user: Path, home: Path) -> None:
    """What would be changed is said on stdout, and the exit code is 2."""
    before = files(user)
    done = ran("hooks", "install", "codex")
    assert done.returncode == 2
    assert done.stdout.startswith(f"--- /dev/null\n+++ {user}/.codex/hooks.json\n".encode())
    assert b"\nThe program that they run would be written: " in done.stdout
    assert done.stderr == b"agentwatch: nothing was changed; --yes changes it without asking\n"
    assert (files(user), (home / "hooks").exists()) == (before, False)
    # The file ends as it was, and the status says at each step what is there
    file = user / ".codex/hooks.json"
    file.write_text(FOREIGN)
    lines = ran("hooks", "status").stdout.decode().splitlines()
    assert lines == [
        "claude  the agent was never started",
        f"codex   not installed: {file}",
        "cursor  the agent was never started",
        f"gemini  not installed: {user}/.gemini/extensions/agentwatch/hooks/hooks.json",
    ]
    done = ran("hooks", "install", "codex", "--yes")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\nthe file before: " in done.stdout
    assert done.stdout.endswith(b"start codex, and type /hooks\n")
    assert ran("hooks", "status", "codex").stdout == f"codex   installed · no event yet · {file}\n".encode()
    command = json.loads(file.read_text())["hooks"]["Stop"][1]["hooks"][0]["command"]
    subprocess.run(["sh", "-c", command], input=b'{"session_id":"abc"}', check=True)
    assert b" installed \xc2\xb7 last event 20" in ran("hooks", "status", "codex").stdout
    again = ran("hooks", "install", "codex")
    assert (again.returncode, again.stdout) == (
        0,
        f"the hooks of Codex are installed already: {file}\n".encode(),
    )
    done = ran("hooks", "remove", "codex", "--yes")
    assert (done.returncode, done.stderr, file.read_text()) == (0, b"", FOREIGN)
    assert f"The program that they run is deleted: {home}/hooks/agentwatch-hook\n".encode() in done.stdout
    assert (files(home / "hooks"), (home / "hooks").exists()) == (set(), False)
    done = ran("hooks", "remove", "codex")
    assert (done.returncode, done.stdout) == (0, b"no hooks of agentwatch are installed for Codex\n")


def test_what_cannot_be_done_is_one_line(user: Path, home: Path) -> None:
    """The agent's file is not changed if the program cannot be installed."""
    home.mkdir(exist_ok=True)
    (home / "hooks").write_text("")
    done = ran("hooks", "install", "codex", "--yes")
    assert done.returncode == 73
    assert done.stderr.startswith(b"agentwatch: cannot change ")
    assert files(user) == set()
    # A missing program is written again, without a change of the file
    (home / "hooks").unlink()
    ran("hooks", "install", "codex", "--yes")
    (home / "hooks/agentwatch-hook").unlink()
    assert b"incomplete (the program is missing or changed): run " in ran("hooks", "status", "codex").stdout
    done = ran("hooks", "install", "codex", "--yes")
    assert b"The program that they run is written: " in done.stdout
    assert b"codex   installed" in ran("hooks", "status", "codex").stdout
    # A file that is no JSON is left alone, and `status` reports the same; both ways exit with 2
    file = user / ".codex/hooks.json"
    file.write_text("{,}")
    for action in ("install", "remove"):
        with case(action):
            done = ran("hooks", action, "codex", "--yes")
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.startswith(
                f"agentwatch: {file} is left alone: it is not valid JSON: ".encode()
            )
            assert done.stderr.count(b"\n") == 1
            assert b"codex   unknown: " in ran("hooks", "status").stdout
            assert files(user) == {".codex/hooks.json"}
    # A wrong command line is a usage error
    for words in ("install", "remove", "", "install claude", "change codex"):
        with case(words):
            done = ran("hooks", *words.split())
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "is_installed"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_it_asks(user: Path, answer: str, is_installed: bool) -> None:
    """Only yes changes anything."""
    with in_terminal("hooks", "install", "codex", env={"HOME": str(user)}) as terminal:
        terminal.wait_for("Install the hooks? [y/N]")
        assert files(user) == set()
        terminal.press(
            f"{answer}\n", "installed the hooks of Codex" if is_installed else "nothing was changed"
        )
    assert (".codex/hooks.json" in files(user)) == is_installed


def test_the_hook_that_answers_is_installed_only_when_it_is_asked_for(user: Path, home: Path) -> None:
    """Without `--answer` nothing is changed, and other agents have no such hook."""
    (user / ".claude").mkdir()
    file = user / ".claude/settings.json"
    file.write_text('{"model": "opus"}\n')
    for arguments, words in (
        (("claude",), b"agentwatch: hooks install claude needs --answer: its state is known without hooks\n"),
        (("codex", "--answer"), b"agentwatch: hooks install --answer: only for claude\n"),
    ):
        done = ran("hooks", "install", *arguments, "--yes")
        assert (done.returncode, done.stderr) == (2, words)
    assert file.read_text() == '{"model": "opus"}\n'
    assert ran("hooks", "install", "claude", "--answer", "--yes").returncode == 0
    ((entry,),) = json.loads(file.read_text())["hooks"].values()
    (hook,) = entry["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 3600)
    status = ran("hooks", "status", "claude").stdout
    assert status == f"claude  installed · answers prompts · {file}\n".encode()
    program = home / "hooks/agentwatch-hook-answer"
    program.write_text("#!/bin/sh\n")
    assert b"the program is missing or changed" in ran("hooks", "status", "claude").stdout
    assert ran("hooks", "install", "claude", "--answer", "--yes").returncode == 0
    assert ran("hooks", "status", "claude").stdout == status
    assert ran("hooks", "remove", "claude", "--yes").returncode == 0
    assert file.read_text() == '{"model": "opus"}\n'
