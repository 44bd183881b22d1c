"""Hooks are added to what is there, and taken out so that nothing of them is left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentwatch.agents.codex.program import HOOKS as CODEX
from agentwatch.agents.cursor.program import HOOKS as CURSOR
from agentwatch.agents.gemini.program import HOOKS as GEMINI
from agentwatch.agents.registry import hooked_agents
from agentwatch.catalog.hooks import plan
from agentwatch.catalog.hooks.plan import Hooks
from tests.catalog.hooks.users import FILES, FOREIGN, hooks_of, install, remove, user_in
from tests.conftest import case


def as_cursor(text: str) -> str:
    """Return the same file in the form of Cursor."""
    return text.replace('"hooks":[{"', '"h":[{"').replace('"hooks": [', '"h": [')


def own(hooks: Hooks) -> dict[str, str]:
    """Return the commands that should be installed, by event."""
    return {event: hooks.program.command(hooks.agent.name, event) for event in hooks.agent.events}


def test_installing_adds_one_entry_for_each_event_and_removing_restores_every_byte(tmp_path: Path) -> None:
    """Foreign entries keep their place and their form, and the file its permissions."""
    for name in FILES:
        for agent in (CODEX, CURSOR):
            with case(f"{name}, {agent.name}"):
                text = FILES[name] if agent is CODEX else as_cursor(FILES[name])
                hooks = hooks_of(user_in(tmp_path / agent.name / name), agent)
                hooks.file.write_bytes(text.encode())
                hooks.file.chmod(0o640)
                before = json.loads(text)
                (copy,) = install(hooks)
                assert copy.read_bytes() == text.encode()
                assert copy.stat().st_mode & 0o777 == 0o640
                assert hooks.file.stat().st_mode & 0o777 == 0o640
                after = json.loads(hooks.file.read_bytes())
                for event, command in own(hooks).items():
                    there = before.get("hooks", {}).get(event, [])
                    assert after["hooks"][event] == [*there, agent.entry(command)]
                    after["hooks"][event] = there
                others = {
                    event: value for event, value in after["hooks"].items() if event not in agent.events
                }
                assert others == {
                    event: value
                    for event, value in before.get("hooks", {}).items()
                    if event not in agent.events
                }
                assert {**after, "hooks": 0} == {**before, "hooks": 0}
                assert hooks.status()[2:5] == (len(agent.events), 0, True)
                assert hooks.installing() == []
                remove(hooks)
                assert hooks.file.read_bytes() == text.encode()
                assert hooks.file.stat().st_mode & 0o777 == 0o640
                assert hooks.removing() == []
                assert hooks.status()[2:4] == (0, 0)


def test_a_file_of_our_own_is_created_and_removed_whole(user: Path) -> None:
    """Nothing is left in the agent's folder: no copy of the file, and no empty folder."""
    for agent in hooked_agents().values():
        with case(agent.name):
            hooks, folder = hooks_of(user, agent), user / agent.default
            assert install(hooks) == []
            assert hooks.status()[1:5] == (True, len(agent.events), 0, True)
            assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o600}
            assert hooks.installing() == []
            remove(hooks)
            assert ([*folder.rglob("*")], hooks.status()[2:4]) == ([], (0, 0))


def test_what_was_changed_meanwhile_stays(user: Path) -> None:
    """Only our entries are taken out; a foreign hook in our group stays, and empty arrays go."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    install(hooks)
    document = json.loads(hooks.file.read_text())
    foreign = {"type": "command", "command": "late.sh"}
    document["hooks"]["Stop"].insert(0, {"hooks": [foreign]})
    document["hooks"]["PreToolUse"][0]["hooks"].insert(0, foreign)
    document["hooks"]["Late"] = [{"hooks": [foreign]}]
    document["more"] = "é"
    hooks.file.write_text(json.dumps(document, indent=3))
    (copy,) = remove(hooks)
    assert json.loads(copy.read_text()) == document
    assert json.loads(hooks.file.read_text()) == {
        "hooks": {
            "Stop": [{"hooks": [foreign]}, FOREIGN],
            "SessionStart": [FOREIGN],
            "PreToolUse": [{"hooks": [foreign]}],
            "Late": [{"hooks": [foreign]}],
        },
        "more": "é",
    }
    assert '\n   "hooks": {\n      "Stop": [' in hooks.file.read_text()
    # The others stay as they are.
    hooks.file.unlink()
    install(hooks)
    whole = json.loads(hooks.file.read_text())
    partly = json.loads(hooks.file.read_text())
    del partly["hooks"]["Stop"], partly["hooks"]["PreToolUse"][0]
    hooks.file.write_text(json.dumps(partly))
    assert hooks.status()[2:4] == (len(CODEX.events) - 2, 0)
    install(hooks)
    assert json.loads(hooks.file.read_text()) == whole


def test_entries_for_another_folder_are_replaced(user: Path) -> None:
    """There is never a second entry of ours for an event; none comes back from a copy."""
    install(hooks_of(user, own="old"))
    hooks = hooks_of(user)
    assert hooks.status()[2:5] == (0, len(CODEX.events), False)
    install(hooks)
    assert hooks.status()[2:5] == (len(CODEX.events), 0, True)
    document = json.loads(hooks.file.read_text())
    assert {len(entries) for entries in document["hooks"].values()} == {1}
    remove(hooks)
    assert not hooks.file.exists()
    old = hooks_of(user, own="old")
    old.file.write_text(FILES["spread"])
    install(old)
    hooks = hooks_of(user)
    install(hooks)
    remove(hooks)
    assert hooks.file.read_text() == FILES["spread"]


def test_what_is_not_ours_in_an_extension_stays(user: Path) -> None:
    """Only empty folders of our extension are removed; hooks that were added to it stay."""
    hooks = hooks_of(user, GEMINI)
    install(hooks)
    mine = hooks.file.parent.parent / "mine.txt"
    mine.write_text("x")
    remove(hooks)
    assert mine.exists()
    assert not hooks.file.parent.exists()
    install(hooks)
    document = json.loads(hooks.file.read_text())
    document["hooks"]["BeforeTool"].append(FOREIGN)
    hooks.file.write_text(json.dumps(document))
    (copy,) = remove(hooks)
    assert json.loads(copy.read_text()) == document
    assert json.loads(hooks.file.read_text()) == {"hooks": {"BeforeTool": [FOREIGN]}}
    assert (hooks.file.parent.parent / "gemini-extension.json").exists()


def test_the_environment_names_the_folders(user: Path, tmp_path: Path) -> None:
    """A relative path is ignored, as the agent was started elsewhere."""
    there = str(tmp_path / "there")
    assert hooks_of(user, CODEX, CODEX_HOME=there).file == tmp_path / "there/hooks.json"
    assert hooks_of(user, CODEX, CODEX_HOME="there").file == user / ".codex/hooks.json"
    gemini = hooks_of(user, GEMINI, GEMINI_CLI_HOME=there).file
    assert gemini == tmp_path / "there/.gemini/extensions/agentwatch/hooks/hooks.json"


def test_what_fails_leaves_the_file_as_it_was(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a file is left over, and what another program has written meanwhile is kept."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    changes = hooks.installing()
    hooks.file.write_text(FILES["tabs"])
    with pytest.raises(OSError, match="changed meanwhile"):
        hooks.install(changes)
    assert hooks.file.read_text() == FILES["tabs"]
    # If all names of copies are taken, the file stays as it is.
    with monkeypatch.context() as patch:
        patch.setattr(plan, "_MOST_KEPT", 0)
        with pytest.raises(FileExistsError, match="too many copies"):
            install(hooks)
    assert hooks.file.read_text() == FILES["tabs"]
    # A full disk leaves the file as it was.
    hooks.program.install()
    changes = hooks.installing()

    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        hooks.install(changes)
    assert hooks.file.read_text() == FILES["tabs"]
    assert [path.name for path in hooks.file.parent.iterdir() if path.name.startswith(".")] == []


def test_copies_never_overwrite_each_other(user: Path) -> None:
    """Several changes in one second leave several copies; one that cannot be used is passed over."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    copies = [path for _ in range(5) for path in (*install(hooks), *remove(hooks))]
    assert len(set(copies)) == 10
    assert {path.read_text() for path in copies[::2]} == {FILES["spread"]}
    # It is a link, is not a file with hooks, or is not what was there before.
    install(hooks)
    hooks.file.with_name("hooks.json.2999-a").symlink_to(hooks.file)
    hooks.file.with_name("hooks.json.2999-b").write_text("{,}")
    hooks.file.with_name("hooks.json.2999-c").write_text("{}")
    remove(hooks)
    assert hooks.file.read_text() == FILES["spread"]
    # A log says for ever what was last so; those of other agents stay.
    install(hooks)
    for name in ("codex", "cursor"):
        (hooks.program.folder / name).mkdir()
        (hooks.program.folder / name / "a.log").write_text("{}\n")
    assert hooks.status().last_ms is not None
    remove(hooks)
    assert not (hooks.program.folder / "codex").exists()
    assert (hooks.program.folder / "cursor/a.log").exists()


def test_a_diff_shows_each_changed_line(user: Path) -> None:
    """It names the file, and lines of other parts of the file are not in it."""
    hooks = hooks_of(user, CURSOR)
    hooks.file.write_text(json.dumps({"version": 1, "hooks": {}, "more": list(range(50))}, indent=2))
    (change,) = hooks.installing()
    lines = list(change.diff())
    assert lines[:2] == [f"--- {hooks.file}", f"+++ {hooks.file}"]
    assert [line for line in lines[2:] if line.startswith("-")] == ['-  "hooks": {},']
    assert sum("agentwatch-hook" in line for line in lines) == len(CURSOR.events)
    assert len(lines) < 60
