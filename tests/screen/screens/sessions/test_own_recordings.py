"""A recording of our own is deleted after a question, and renamed; other files are never changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.recording.write_lock import hold
from agentwatch.screen.screens.sessions.dialogs import DeleteDialog, RenameDialog
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.slow

STEM = "20261101-120000-aaaaaa"


@pytest.fixture
def own(home: Path) -> Row:
    """Return the row of a recording of our own, which has a log and a name."""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    path = folder / f"{STEM}.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    path.with_suffix(".log").write_text("# a log\n")
    path.with_suffix(".json").write_text(json.dumps({"command": ["agent"], "name": "Old name"}))
    return row(STEM, path=path, is_own=True, title="Old name", agent="agentwatch")


async def test_a_recording_is_renamed_or_deleted(own: Row) -> None:
    """ctrl+r asks for the name, `d` whether to delete; other answers change nothing, faults are reported."""
    async with at_home([own]) as stage:
        # Every other key leaves the files and the list.
        for key in ("escape", "n", "q"):
            await stage.press("d")
            await stage.until(lambda: isinstance(stage.app.screen, DeleteDialog), "the question")
            await stage.press("d", "enter")
            assert isinstance(stage.app.screen, DeleteDialog)
            await stage.press(key)
            await stage.until(lambda: not isinstance(stage.app.screen, DeleteDialog), "the list")
            assert len(list(own.path.parent.iterdir())) == 3
        # Esc keeps the name.
        await stage.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, RenameDialog), "the question")
        await stage.press("x", "escape")
        await stage.until(lambda: stage.app.screen is stage.home, "the list")
        assert json.loads(own.path.with_suffix(".json").read_text())["name"] == "Old name"
        # ctrl+r asks for the name, which `STEM.json` keeps beside what stands there.
        described = own.path.with_suffix(".json")
        await stage.press("ctrl+r")
        await stage.shows("Name of “Old name”")
        await stage.press(*["backspace"] * 8, *"New", "enter")
        await stage.until(lambda: json.loads(described.read_text()).get("name") == "New", "the name")
        assert json.loads(described.read_text())["command"] == ["agent"]
        # A session that is still being recorded is not deleted.
        await stage.begin(own)
        own.path.with_suffix(".json").unlink()
        with own.path.open("ab") as writer:
            hold(writer.fileno())
            await stage.press("d")
            await stage.shows("Delete “Old name”?")
            await stage.press("y")
            await stage.shows("cannot delete the session: it is still being recorded")
        assert own.path.exists()
        # `d` asks with the size of all files, and `y` deletes all of them.
        await stage.begin(own)
        await stage.press("d")
        await stage.shows("Delete “Old name”?")
        size = sum(path.stat().st_size for path in own.path.parent.iterdir())
        assert f"{STEM}.ndjson and the files beside it: {size / 1024:.0f}" in stage.text.replace(" KiB", "")
        await stage.press("y")
        await stage.shows("deleted “Old name”")
        assert not list(own.path.parent.iterdir())
        # The list stays, and a message names the reason.
        await stage.begin(own)
        await stage.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, RenameDialog), "the question")
        await stage.press("x", "enter")
        await stage.shows("cannot rename the session")


@pytest.mark.system
async def test_several_sessions_are_archived_or_deleted(own: Row, home: Path, tmp_path: Path) -> None:
    """`z` archives or restores the marked sessions, `d` deletes those that are recordings of our own."""
    ended = [row(f"e{n}", State.SUCCEEDED, path=own.path) for n in range(2)]
    async with at_home([*ended, row("elsewhere", host="box")]) as stage:
        # `z` notes all marked sessions in a file of ours; the same key on archived ones removes them again.
        await stage.choose("e1")
        await stage.press("v", "v", "z")
        await stage.shows("2 sessions archived")
        assert json.loads((home / "archived.json").read_text()) == {"claude:e0": True, "claude:e1": True}
        await stage.put(*(each._replace(is_archived=True) for each in ended))
        await stage.press("a")
        await stage.choose("e1")
        await stage.press("z")
        await stage.shows("no longer archived")
        assert json.loads((home / "archived.json").read_text()) == {"claude:e0": True}
        await stage.choose("elsewhere")
        await stage.press("z")
        await stage.shows("only sessions of this machine can be archived")
        # What cannot be written is told, and not called archived.
        await stage.put(*ended)
        (home / "archived.json").unlink()
        for name in ("archived.json", "rings.json", "screen.json"):
            (home / name).mkdir()
        await stage.choose("e1")
        await stage.press("z")
        await stage.shows("cannot archive the session: it is not a regular file")
        await stage.press("r")
        await stage.shows("remembered until you quit: rings.json: it is not a regular file")
        await stage.press("s")
        await stage.shows("not remembered: screen.json: it is not a regular file")
        # Only recordings of our own can be deleted or renamed.
        path = tmp_path / "claude.jsonl"
        path.write_bytes(b"{}\n")
        await stage.begin(row("one", path=path))
        for key in ("d", "ctrl+r"):
            await stage.begin(row("one", path=path))
            await stage.press(key)
            await stage.shows("only recordings of agentwatch can be changed")
            assert stage.app.screen is stage.home
        # One question names the marked recordings and how many others stay; their marks are removed.
        second = own.path.with_name("20261101-120000-bbbbbb.ndjson")
        shutil.copy(own.path, second)
        other = tmp_path / "claude.jsonl"
        other.write_bytes(b"{}\n")
        rows = [own, row("two", path=second, is_own=True, title="Second"), row("other", path=other)]
        await stage.begin(*rows)
        await stage.press("g", "v", "v", "v", "d")
        for words in ("Delete 2 recordings: ", "“Old name”", "“Second”", "1 of other programs stays"):
            await stage.shows(words)
        await stage.press("y")
        await stage.shows("deleted 2 recordings")
        await stage.until(lambda: "marked" not in stage.text, "no marks")
    assert path.exists()
    assert not list(own.path.parent.iterdir())
    assert other.exists()
