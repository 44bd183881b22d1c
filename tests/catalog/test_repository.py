"""Tests of the repository, branch and worktree of a folder."""

from pathlib import Path

from agentwatch.catalog.repository import Repositories, Repository
from tests.conftest import case


def repository(folder: Path) -> Path:
    """Create a repository with a HEAD, and return its folder."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_folder_inside_a_repository_has_its_name_and_branch(tmp_path: Path) -> None:
    """The folder may lie deep in the repository; without a branch, the commit's first digits are shown."""
    api, repositories = repository(tmp_path / "api"), Repositories()
    deep = api / "src" / "deep"
    deep.mkdir(parents=True)
    heads = {
        "ref: refs/heads/fix/lows\n": "fix/lows",
        "0123456789abcdef0123456789abcdef01234567\n": "01234567",
        "": "",
        "ref: refs/remotes/origin/main\n": "",
        "\udcff": "",
    }
    for head, branch in heads.items():
        with case(head):  # only the folder of a repository is remembered, not its branch
            (api / ".git" / "HEAD").write_bytes(head.encode("utf-8", "surrogateescape"))
            assert Repositories().of(str(deep)) == repositories.of(str(deep)) == Repository("api", branch)


def test_a_worktree_and_a_submodule_name_a_folder_in_the_repository(tmp_path: Path) -> None:
    """A worktree has the name of its repository; a submodule is one of its own, and its path is relative."""
    api = repository(tmp_path / "api")
    for place, branch, folder, gitdir, expected in (
        (
            *("worktrees/retry", "retry", tmp_path / "api-retry", f"{api}/.git/worktrees/retry"),
            Repository("api", "retry", "api-retry"),
        ),
        ("modules/lib", "v2", api / "lib", "../.git/modules/lib", Repository("lib", "v2")),
    ):
        (api / ".git" / place).mkdir(parents=True)
        (api / ".git" / place / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {gitdir}\n")
        assert Repositories().of(str(folder)) == expected


def test_a_folder_without_a_repository_has_its_own_name(tmp_path: Path) -> None:
    """So has a folder that is gone, a path that is not absolute, and one that is too long."""
    found, name = Repositories(), "9" * 400
    assert found.of(str(tmp_path)) == Repository(tmp_path.name)
    assert found.of("/gone/from/here") == Repository("here")
    assert found.of("relative/x") == Repository("x")
    assert found.of("/") == Repository("/")
    for cwd in (r"C:\Users\ada\shop", "C:/Users/ada/shop/", r"\\host\share\shop"):
        assert found.of(cwd) == Repository("shop")
    assert found.of("C:\\") == Repository("C:\\")
    assert found.of("/nul\0byte") == Repository("nul\0byte")
    assert Repositories().of(f"/home/{name}") == Repository(name)
