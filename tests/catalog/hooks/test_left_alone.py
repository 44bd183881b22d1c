"""A file that is not understood, or is not the user's own, is left alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.cursor.program import HOOKS as CURSOR
from agentwatch.agents.gemini.program import HOOKS as GEMINI
from agentwatch.base.faults import Fault
from agentwatch.catalog.hooks.plan import Hooks
from tests.catalog.hooks.users import hooks_of, user_in
from tests.conftest import case


def states(folder: Path) -> dict[Path, tuple[int, ...]]:
    """Return what a write would change of the files in a folder; reading changes only their access time."""
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {
        path: (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        for path, status in found.items()
    }


def left_alone(hooks: Hooks, why: str) -> None:
    """Check that a file is refused, and that nothing was written."""
    before = states(hooks.file.parent)
    for act in (hooks.installing, hooks.removing, hooks.status):
        with pytest.raises(Fault, match=why) as caught:
            act()
        assert caught.value.exit_code == 2
        assert "\n" not in str(caught.value)
    assert states(hooks.file.parent) == before
    assert not hooks.program.path.exists()


def test_a_file_that_is_not_understood_is_left_alone(user: Path) -> None:
    """The fault names the file and the reason in one line."""
    cases: list[tuple[bytes, str]] = [
        (b"", "not valid JSON"),
        (b'{"hooks": {},}', "not valid JSON"),
        (b'{} // "hooks"', "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b'{"a": "\xff"}', "not valid JSON"),
        (b'{"hooks": {}, "hooks": {}}', "key twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not an object"),
        (b'{"hooks": []}', "`hooks` are not an object"),
        (b'{"hooks": null}', "`hooks` are not an object"),
        (b'{"hooks": {"Stop": {}}}', "not an array"),
        (b'{"hooks": {"Other": "x"}}', "not an array"),
        (b" " * ((1 << 20) + 1), "too large"),
    ]
    for data, why in cases:
        with case(f"{data!r:.40}"):
            hooks = hooks_of(user)
            hooks.file.write_bytes(data)
            left_alone(hooks, why)


def link(path: Path) -> None:
    """Make a link."""
    path.with_name("target").write_text("{}")
    path.symlink_to("target")


def second_name(path: Path) -> None:
    """Make a file with two names."""
    path.write_text("{}")
    os.link(path, path.with_name("other"))


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link, a file with another name, a FIFO, a folder and a file of another user are not replaced."""
    makes: dict[str, tuple[Callable[[Path], Any], str]] = {
        "link": (link, "is a link"),
        "dangling": (lambda path: path.symlink_to("gone"), "is a link"),
        "second name": (second_name, "another name"),
        "fifo": (os.mkfifo, "not a regular file"),
        "folder": (os.mkdir, "not a regular file|directory"),
    }
    for name, (make, why) in makes.items():
        with case(name):
            hooks = hooks_of(user_in(tmp_path / name))
            make(hooks.file)
            left_alone(hooks, why)
    # The form of another version of Cursor's file may be another one.
    hooks = hooks_of(user_in(tmp_path / "cursor"), CURSOR)
    hooks.file.write_text('{"version": 2, "hooks": {}}')
    left_alone(hooks, "version is not 1")
    # Neither file of a foreign extension of the same name is replaced or deleted.
    for name in ("gemini-extension.json", "hooks/hooks.json"):
        with case(name):
            user = user_in(tmp_path / name)
            path = user / ".gemini/extensions/agentwatch" / name
            path.parent.mkdir(parents=True)
            path.write_text('{"name": "agentwatch", "hooks": {"x": [{"hooks": [{"command": "mine"}]}]}}')
            hooks = hooks_of(user, GEMINI)
            for act in (hooks.installing, hooks.removing):
                with pytest.raises(Fault, match="not from agentwatch"):
                    act()
    # A file of another user is not read either.
    hooks = hooks_of(user_in(tmp_path / "user"))
    hooks.file.write_text("{}")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    left_alone(hooks, "another user")


def test_where_nothing_can_be_installed_nothing_is(user: Path) -> None:
    """Installing needs the agent's folder, and a file in place of a folder is not an extension."""
    (user / ".codex").rmdir()
    hooks = hooks_of(user)
    with pytest.raises(Fault, match="never started"):
        hooks.installing()
    assert hooks.removing() == []
    assert not hooks.status().is_there
    (user / ".gemini/extensions").write_text("")
    hooks = hooks_of(user, GEMINI)
    assert hooks.status()[2:4] == (0, 0)
    assert hooks.removing() == []
    with pytest.raises(OSError, match="extensions"):
        hooks.install(hooks.installing())
    assert (user / ".gemini/extensions").read_text() == ""
