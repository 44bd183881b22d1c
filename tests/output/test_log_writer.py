"""The action log follows the session of the screen, and goes on without it where the screen stands still."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.output import log
from agentwatch.output.log import LoggedFeed, LogWriter, follow_log
from agentwatch.recording.alarms import Alarm
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import create_file
from tests.builders.lines import completed, init, result, started
from tests.conftest import RECORDINGS
from tests.harness.processes import until

FIRST = init() + completed("read", "a", {"success": {}}, path="a")
SECOND = started("read", "b", path="b") + completed("read", "b", {"success": {}}, path="b")


class Growing:
    """A recording that grows as a test says."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_over = False

    def size(self) -> int:
        """Return how many bytes there are."""
        return len(self.data)

    def has_ended(self) -> bool:
        """Return whether no more will come."""
        return self.is_over


class Case:
    """A recording, a feed over it that is logged, and the log."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self._recording_fd = create_file(folder / "r.ndjson")
        self._folder = folder
        self._growing = Growing(b"")
        self.append(data)
        times = open_saved(folder / "r.ndjson").times
        self.reader = LineReader(self._recording_fd, self._growing, times)
        self.feed = LoggedFeed(self.reader, create_file(folder / "r.log"))

    def append(self, data: bytes, *, is_over: bool = False) -> None:
        """Let the recording grow."""
        os.write(self._recording_fd, data)
        self._growing.data += data
        self._growing.is_over = is_over

    @property
    def log(self) -> str:
        """What is logged by now."""
        return (self._folder / "r.log").read_text()

    @property
    def whole_log(self) -> str:
        """What `agentwatch log` prints of the recording."""
        return "".join(f"{line}\n" for line in follow_log(Feed(open_saved(self._folder / "r.ndjson"))))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[bytes], Case]:
    """Make a recording and the feed of a screen over it."""
    return lambda data: Case(tmp_path, data)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[Feed]:
    """Collect the feeds that the log reads for itself."""
    found: list[Feed] = []

    def spied(feed: Feed, wait: Callable[[], object], alarms: Sequence[Alarm]) -> object:
        found.append(feed)
        return follow_log(feed, wait, alarms)

    monkeypatch.setattr(log, "follow_log", spied)
    return found


def test_a_session_that_is_shown_is_not_decoded_again(
    made: Callable[[bytes], Case], alone: list[Feed]
) -> None:
    """While the screen reads on, each line is logged once it is applied, and no second feed is made."""
    case = made(FIRST)
    case.feed.advance()
    until(lambda: case.log.endswith("Read file a\n"))
    case.append(SECOND)
    case.feed.advance()
    until(lambda: case.log.endswith("Read file b\n"))
    case.append(result(), is_over=True)
    case.feed.advance()
    case.feed.log.finish()
    assert case.log == case.whole_log
    assert case.log.endswith(" · 2 calls\n")
    assert not alone


@pytest.mark.system
def test_a_blocked_screen_does_not_hold_the_log_back(
    made: Callable[[bytes], Case], alone: list[Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the screen leaves bytes unread the log goes on without it, and repeats no line."""
    monkeypatch.setattr(log, "_STALL_SECONDS", 0.05)
    case = made(FIRST)
    case.feed.advance()
    until(lambda: case.log.endswith("Read file a\n"))
    case.append(SECOND)
    until(lambda: case.log.endswith("Read file b\n"))
    assert len(alone) == 1
    assert len(case.feed.session.ended_calls) == 1
    case.append(result(), is_over=True)
    case.feed.advance()
    case.feed.log.finish()
    assert case.log == case.whole_log


def test_a_session_that_waits_is_followed(
    made: Callable[[bytes], Case], alone: list[Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that has applied all there is may wait as long as it will: the log waits with it."""
    monkeypatch.setattr(log, "_CHECK_SECONDS", 0.01)
    case = made(FIRST)
    case.feed.advance()
    backlog, asked = case.feed.backlog, []

    def counted() -> int:
        asked.append(backlog())
        return asked[-1]

    with monkeypatch.context() as patch:  # only while nothing is left to apply: a busy machine may be slow
        patch.setattr(log, "_STALL_SECONDS", 0.05)
        patch.setattr(case.feed, "backlog", counted)
        until(lambda: len(asked) > 3)
    case.append(result(), is_over=True)
    case.feed.advance()
    case.feed.log.finish()
    assert case.log == case.whole_log
    assert not alone


def test_the_log_does_not_wait_for_a_session_that_is_not_followed(
    made: Callable[[bytes], Case], alone: list[Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the session is no longer followed, the thread that waits for its lines wakes at once."""
    monkeypatch.setattr(log, "_CHECK_SECONDS", 3600.0)
    case = made(FIRST)
    case.feed.advance()
    until(lambda: case.log.endswith("Read file a\n"))
    case.append(SECOND)
    case.feed.log.unfollow()
    until(lambda: case.log.endswith("Read file b\n"))
    assert len(alone) == 1
    case.append(result(), is_over=True)
    case.feed.log.finish()
    assert case.log == case.whole_log


def test_what_the_screen_did_not_show_is_logged(made: Callable[[bytes], Case], alone: list[Feed]) -> None:
    """When the screen is gone before it has read all, `finish` reads the rest into its session."""
    case = made(FIRST)
    case.feed.advance()
    case.append(SECOND + result(), is_over=True)
    case.feed.log.finish()
    assert case.log == case.whole_log
    assert case.feed.is_over
    assert not alone


def test_a_session_that_was_interrupted_is_not_trusted(
    made: Callable[[bytes], Case], alone: list[Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a signal comes while lines are applied, the log is read from the recording itself."""
    case = made(FIRST)
    case.feed.advance()
    case.append(SECOND + result(), is_over=True)
    with monkeypatch.context() as patch:

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("agentwatch.feed.feed.apply_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            case.feed.advance()
    case.feed.log.finish()
    assert case.log == case.whole_log
    assert len(alone) == 1


@pytest.mark.parametrize("name", ["demo", "two-runs", "hostile", "unfinished"])
def test_followed_and_read_alone_it_is_the_same(tmp_path: Path, name: str) -> None:
    """Whether it follows a session line by line or reads the recording, the log holds the same bytes."""
    reader = open_saved(RECORDINGS / f"{name}.ndjson")
    LogWriter(reader, create_file(tmp_path / "alone.log")).finish()
    feed = LoggedFeed(reader, create_file(tmp_path / "followed.log"))
    while not feed.is_over:
        feed.advance(0)
    feed.log.finish()
    assert (tmp_path / "followed.log").read_bytes() == (tmp_path / "alone.log").read_bytes() != b""
