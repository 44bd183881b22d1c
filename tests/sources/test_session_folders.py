"""The folders of agents are known, also where a variable has moved them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.agents.session_folders import SessionFolder, session_folders


def test_each_folder_is_named_once(tmp_path: Path) -> None:
    """A variable with the default value adds none, nor does one that leads there through a link."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".codex")
    default = session_folders({}, tmp_path)
    assert len(default) == len(set(default))
    for codex in (str(tmp_path / ".codex"), f"{tmp_path}/link/", "~/.codex"):
        assert set(session_folders({"CODEX_HOME": codex}, tmp_path)) == set(default)


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("CLAUDE_CONFIG_DIR", SessionFolder("claude", "projects", "/x/projects")),
        ("XDG_CONFIG_HOME", SessionFolder("claude", "projects", "/x/claude/projects")),
        ("CODEX_HOME", SessionFolder("codex", "archived_sessions", "/x/archived_sessions")),
        ("GEMINI_CLI_HOME", SessionFolder("gemini", "tmp", "/x/.gemini/tmp")),
        ("QWEN_HOME", SessionFolder("qwen", "projects", "/x/projects")),
        ("PI_CODING_AGENT_SESSION_DIR", SessionFolder("pi", "", "/x")),
        ("CURSOR_CONFIG_DIR", SessionFolder("cursor", "chats", "/x/chats")),
        ("XDG_DATA_HOME", SessionFolder("opencode", "", "/x/opencode")),
    ],
)
def test_a_variable_adds_a_folder(variable: str, folder: SessionFolder, tmp_path: Path) -> None:
    """The default folder stays in the list: sessions from before the variable was set lie there."""
    default = session_folders({}, tmp_path)
    moved = session_folders({variable: "/x"}, tmp_path)
    assert folder in moved
    assert set(default) < set(moved)
