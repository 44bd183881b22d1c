"""The list on a real terminal while sessions change: states, bells, marks and the terminal's title."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.builders.machine.made import Story, written
from tests.catalog.reports.claude_registry import Registry
from tests.catalog.started_agents import started
from tests.conftest import case
from tests.harness.on_a_pty import in_terminal
from tests.harness.terminal import Terminal

IDS = ("0f4c2b7e-1111-4222-8333-444455556601", "0f4c2b7e-1111-4222-8333-444455556602")
_STRINGS = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TITLES = re.compile(rb"\x1b\]0;([^\x07\x1b]*)")
pytestmark = pytest.mark.system


class Living:
    """Two live sessions of Claude Code in one folder, each with an open call, and the list on a terminal."""

    def __init__(self, home: Path, pids: list[int], terminal: Terminal) -> None:
        self.registry = Registry(home / ".claude" / "sessions")
        self.home = home
        self.pids = pids
        self.terminal = terminal

    def says(self, number: int, status: str, **fields: Any) -> None:
        """Write what a session says about itself now."""
        known: dict[str, Any] = {
            "sessionId": IDS[number],
            "status": status,
            "statusUpdatedAt": round(time.time() * 1000),
        }
        self.registry.write(self.pids[number], **{**known, "name": "x", "tmux": "", **fields})

    def row(self, title: str) -> str:
        """Return the line of a session."""
        return next((line for line in self.terminal.screen_text().split("\n") if title in line), "")

    def shows(self, title: str, words: str) -> None:
        """Wait until the line of a session contains words."""
        self.terminal.wait_until(lambda: words in self.row(title), what=f"{words} in the line of {title}")

    @property
    def bells(self) -> int:
        """How often the terminal rang."""
        return _STRINGS.sub(b"", self.terminal.raw).count(b"\a")

    @property
    def title(self) -> str:
        titles: list[bytes] = _TITLES.findall(self.terminal.raw)
        return titles[-1].decode()


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """Return two sessions that work, and the list that shows them."""
    home = tmp_path / "user"
    projects = home / ".claude" / "projects" / "-w"
    projects.mkdir(parents=True)
    (home / ".claude" / "sessions").mkdir()
    with ExitStack() as stack:
        pids = [stack.enter_context(started(["claude"], home)).pid for _ in IDS]
        for number, session_id in enumerate(IDS):
            story = Story(session_id, "/w", f"Part {number}", round(time.time() * 1000), is_open=True)
            (projects / f"{session_id}.jsonl").write_bytes(written("claude", story))
        terminal = stack.enter_context(in_terminal(env={"HOME": str(home)}))
        shown = Living(home, pids, terminal)
        for number in range(len(IDS)):
            shown.says(number, "busy")
            shown.shows(f"Part {number}", "◐ tool")
        yield shown
        terminal.leave()


def test_a_session_that_asks_rings_once_and_is_marked_until_it_is_looked_at(living: Living) -> None:
    """The title counts it; a second question rings again, and a blink does not."""
    living.shows("Part 0", "▐")
    assert (living.bells, living.title) == (0, "agentwatch")
    living.says(1, "waiting", waitingFor="permission prompt")
    living.shows("● Part 1", "! asks")
    living.terminal.wait_until(lambda: living.title == "agentwatch · 1 needs you", what="title")
    assert living.bells == 1
    asked_ms = round(time.time() * 1000)
    living.says(1, "busy", statusUpdatedAt=asked_ms)
    living.shows("Part 1", "◐ tool")
    living.says(1, "waiting", waitingFor="permission prompt", statusUpdatedAt=asked_ms + 300)
    living.shows("● Part 1", "! asks")
    living.says(1, "busy", statusUpdatedAt=asked_ms + 5_000)
    living.shows("Part 1", "◐ tool")
    assert living.bells == 1
    living.says(1, "waiting", waitingFor="permission prompt", statusUpdatedAt=asked_ms + 9_000)
    living.shows("● Part 1", "! asks")
    living.terminal.wait_until(lambda: living.bells == 2, what="second bell")
    living.terminal.send("e")
    living.terminal.wait_until(lambda: "●" not in living.row("Part 1"), what="no mark")
    assert "! asks" in living.row("Part 1")


def test_what_a_session_says_is_shown(living: Living) -> None:
    """A change of the record changes the line, and not the line of another session in the same folder."""
    for status, shown in (
        ("idle", "› turn"),
        ("shell", "› shell"),
        ("waiting", "! asks"),
        ("busy", "◐ tool"),
    ):
        with case(status):
            living.says(0, status)
            living.shows("Part 0", shown)
            assert "◐ tool" in living.row("Part 1")
    # A record is written in place; what it said last counts until it is whole again.
    path = living.home / ".claude" / "sessions" / f"{living.pids[0]}.json"
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    living.says(1, "idle")
    living.shows("Part 1", "› turn")
    assert "◐ tool" in living.row("Part 0")
    path.write_text(json.dumps(json.loads(whole) | {"status": "idle"}))
    living.shows("Part 0", "› turn")
    # A container that shares the folder has processes of its own: the session may run or not.
    living.says(0, "busy", pidDomain="linux:0:pid:[1]")
    living.shows("Part 0", "unknown")


def killed(living: Living) -> None:
    os.kill(living.pids[0], signal.SIGKILL)


def reused(living: Living) -> None:
    """Give the id of the process to another program."""
    living.says(0, "busy", procStart="1")


def cleared(living: Living) -> None:
    """Begin another session in the same process."""
    living.says(0, "idle", sessionId="another", cwd="/w")


@pytest.mark.parametrize("end", [killed, reused, cleared])
def test_a_session_whose_process_is_gone_has_ended(living: Living, end: Callable[[Living], None]) -> None:
    """Its record may stay with its last status, which is not believed."""
    end(living)
    living.shows("Part 0", "unfinished")
    assert "◐ tool" in living.row("Part 1")
    if end is cleared:
        living.terminal.wait_for("YOUR TURN")
