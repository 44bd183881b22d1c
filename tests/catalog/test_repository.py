"""Tests of the repository, branch and worktree of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.catalog.repository import Repositories, Repository


def repository(folder: Path, head: str = "ref: refs/heads/main\n") -> Path:
    """Create a repository with a HEAD, and return its folder."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head)
    return folder


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/fix/lows\n", "fix/lows"),
        ("0123456789abcdef0123456789abcdef01234567\n", "01234567"),
        ("", ""),
        ("ref: refs/remotes/origin/main\n", ""),
        ("\udcff", ""),
    ],
)
def test_a_folder_inside_a_repository_has_its_name_and_branch(tmp_path: Path, head: str, branch: str) -> None:
    """The folder may lie deep in the repository; without a branch, the commit's first digits are shown."""
    api = repository(tmp_path / "api")
    (api / ".git" / "HEAD").write_bytes(head.encode("utf-8", "surrogateescape"))
    (api / "src" / "deep").mkdir(parents=True)
    assert Repositories().of(str(api / "src" / "deep")) == Repository("api", branch)


def test_another_branch_is_seen_at_once(tmp_path: Path) -> None:
    """Only the folder of a repository is remembered, not its branch."""
    api, repositories = repository(tmp_path / "api"), Repositories()
    assert repositories.of(str(api)).branch == "main"
    (api / ".git" / "HEAD").write_text("ref: refs/heads/docs\n")
    assert repositories.of(str(api)).branch == "docs"


def test_a_worktree_has_the_name_of_its_repository(tmp_path: Path) -> None:
    """`git worktree add` writes a file `.git` that names a folder inside the main repository."""
    api = repository(tmp_path / "api")
    (api / ".git" / "worktrees" / "retry").mkdir(parents=True)
    (api / ".git" / "worktrees" / "retry" / "HEAD").write_text("ref: refs/heads/retry-limits\n")
    (tmp_path / "api-retry").mkdir()
    (tmp_path / "api-retry" / ".git").write_text(f"gitdir: {api}/.git/worktrees/retry\n")
    assert Repositories().of(str(tmp_path / "api-retry")) == Repository("api", "retry-limits", "api-retry")


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    """The path in its file `.git` is relative."""
    api = repository(tmp_path / "api")
    (api / ".git" / "modules" / "lib").mkdir(parents=True)
    (api / ".git" / "modules" / "lib" / "HEAD").write_text("ref: refs/heads/v2\n")
    (api / "lib").mkdir()
    (api / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert Repositories().of(str(api / "lib")) == Repository("lib", "v2")


def test_a_folder_without_a_repository_has_its_own_name(tmp_path: Path) -> None:
    """So has a folder that is gone, and a path that is not absolute."""
    found = Repositories(read=lambda _path: "")
    assert found.of(str(tmp_path)) == Repository(tmp_path.name)
    assert found.of("/gone/from/here") == Repository("here")
    assert found.of("relative/x") == Repository("x")
    assert found.of("/") == Repository("/")
    assert found.of("/nul\0byte") == Repository("nul\0byte")


def test_a_repository_that_is_created_later_is_found_after_forgetting(tmp_path: Path) -> None:
    """Folders are remembered until they are forgotten."""
    repositories, folder = Repositories(), tmp_path / "new"
    assert repositories.of(str(folder)) == Repository("new")
    repository(folder)
    repositories.forget()
    assert repositories.of(str(folder)) == Repository("new", "main")


def test_a_folder_whose_path_is_too_long_has_its_own_name() -> None:
    """The working directory is what a file of an agent says, which may be damaged."""
    name = "9" * 400
    assert Repositories().of(f"/home/{name}") == Repository(name)
