"""The repository, branch and worktree of a working directory, read from the files of git."""

import os
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording.head_tail import first_bytes
from agentwatch.text.paths import last_name

_MOST_BYTES = 4096
_MOST_PARENTS = 64
_MOST_REMEMBERED = 4096
_HEAD_OF_BRANCH = "ref: refs/heads/"
_LINK = "gitdir: "
_SHOWN_DIGITS = 8
"""The digits of a commit that are shown in place of a branch."""


class Repository(NamedTuple):
    """The repository of a working directory. Empty texts are unknown."""

    name: str = ""
    """The main folder's name; of a folder without a repository, its own."""
    branch: str = ""
    worktree: str = ""
    """It is empty for the main one."""


class _Place(NamedTuple):
    name: str
    worktree: str
    head: str
    """The path of its file `HEAD`; empty without a repository."""
    root: str
    """The folder of its files; without a repository, the folder itself."""


class Repositories:
    """Folders are remembered; only `HEAD` is read again."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def of(self, cwd: str) -> Repository:
        """Return the repository with the branch that is checked out now; for a folder that no longer exists,
        only its name. A relative `cwd` is not searched."""
        place = self._place(cwd)
        return Repository(place.name, self._branch(place.head), place.worktree)

    def root(self, cwd: str) -> str:
        """The folder of the repository's or worktree's files, or else `cwd`, which is absolute."""
        return self._place(cwd).root

    def _place(self, cwd: str) -> _Place:
        place = self._places.get(cwd)
        if place is None:
            if len(self._places) >= _MOST_REMEMBERED:
                self._places.clear()
            place = self._places[cwd] = self._found(cwd)
        return place

    def _found(self, cwd: str) -> _Place:
        folder = Path(cwd)
        name = last_name(cwd)
        if not folder.is_absolute() or "\0" in cwd:
            return _Place(name, "", "", cwd)
        for each in [folder, *folder.parents][:_MOST_PARENTS]:
            git = each / ".git"
            if os.path.isfile(git / "HEAD"):  # a path that is too long makes it false
                return _Place(each.name or name, "", str(git / "HEAD"), str(each))
            link = _beginning(str(git))
            if link.startswith(_LINK):
                return self._linked(each, link.removeprefix(_LINK).strip())
        return _Place(name, "", "", cwd)

    def _linked(self, folder: Path, target: str) -> _Place:
        """The `.git` of a worktree or a submodule names a folder of git: see gitrepository-layout(5)."""
        git = Path(os.path.normpath(folder / target))
        if git.parent.name == "worktrees" and git.parent.parent.name == ".git":
            name = git.parent.parent.parent.name
            return _Place(name, folder.name, str(git / "HEAD"), str(folder))
        return _Place(folder.name, "", str(git / "HEAD"), str(folder))

    def _branch(self, head: str) -> str:
        """The beginning of a commit without a branch; empty if unreadable."""
        found = _beginning(head).strip() if head else ""
        if found.startswith(_HEAD_OF_BRANCH):
            return found.removeprefix(_HEAD_OF_BRANCH)
        return found[:_SHOWN_DIGITS] if found.isalnum() else ""


def _beginning(path: str) -> str:
    return first_bytes(path, _MOST_BYTES).decode("utf-8", "replace")
