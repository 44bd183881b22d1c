"""A large recording shows its end at once, and everything once it is read."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.base import helper_process
from agentwatch.feed import decoding_process
from agentwatch.feed.feed import Feed, preview_feed, preview_reader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import nameless_file
from agentwatch.screen.screens.session import screen
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.session import call as call_module
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.intake import StoreIntake, StoreSource
from tests.builders.helper_processes import are_over, helper_processes
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.screen.app import CountedFeed, Stage, bundled, eventually, lines_of, opened
from tests.conftest import case

BLOB = "x" * 2000


def large(path: Path, calls: int, *ending: bytes) -> Path:
    """Write a recording of `calls` calls of 4 KB, each on another file and after a sentence."""
    lines = [init(), user("Do much.")]
    for number in range(calls):
        lines += [delta(f"Sentence {number}. "), final(f"Sentence {number}. ")]
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", {"success": {"message": BLOB}}, path=f"{number}.py"))
    path.write_bytes(b"".join([*lines, *ending]))
    return path


def test_a_preview_reads_the_first_and_the_last_lines(tmp_path: Path) -> None:
    """A preview has the first and last lines, the newest calls, and the end of a run in an oversize line."""
    # Every line of the preview is a line of the recording, in order and with its right offset.
    path = large(tmp_path / "r.ndjson", 400, result("all"))
    data, reader = path.read_bytes(), open_saved(path)
    ends = preview_reader(reader)
    found = []
    while lines := ends.read():
        found += [(line.offset, line.data) for line in lines]
    assert ends.is_at_end()
    assert found[0] == (0, init().rstrip(b"\n"))
    assert found[-1][1] == result("all").rstrip(b"\n")
    assert [offset for offset, _ in found] == sorted({offset for offset, _ in found})
    assert all(data[offset:].startswith(line + b"\n") for offset, line in found)
    assert (reader.offset, len(found) < 1600) == (0, True)
    # A last line above the size limit for parsing still ends the run in the preview.
    path = large(tmp_path / "r.ndjson", 100, result("y" * (17 << 20)))
    preview = preview_feed(open_saved(path))
    assert preview.session.run.outcome == "succeeded"
    assert preview.session.lines.oversize == 1
    assert preview.session.calls[-1].target == "99.py"
    # A large result does not push the last calls out of the preview; the first calls are not in it.
    for size in (1 << 10, 1 << 20, 5 << 20):
        with case(size):
            path = large(tmp_path / "r.ndjson", 400, result("y" * size))
            preview = preview_feed(open_saved(path))
            targets = [call.target for call in preview.session.calls]
            assert targets[-3:] == ["397.py", "398.py", "399.py"]
            assert "0.py" not in targets
            assert (preview.session.run.prompt, preview.session.run.outcome) == ("Do much.", "succeeded")


@pytest.mark.slow
async def test_panes_wait_for_the_end_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a file is read for the first time, the panes show a part of it only after some time."""
    path = large(tmp_path / "r.ndjson", 200)
    monkeypatch.setattr(screen, "_FIRST_READ_SECONDS", 0.0)
    left: list[int] = []
    sync = Workspace.sync

    def noted(workspace: Workspace, *given: Any, **named: Any) -> float:
        left.append(workspace.panes.feed.backlog())
        return sync(workspace, *given, **named)

    monkeypatch.setattr(Workspace, "sync", noted)
    for seconds, are_parts_shown in ((1000.0, False), (0.0, True)):
        monkeypatch.setattr(screen, "_LOADING_SECONDS", seconds)
        left.clear()
        with case(seconds):
            async with opened(path) as stage:
                assert len(stage.feed.session.calls) == 200
            assert left[-1] == 0
            assert any(left) is are_parts_shown


@pytest.mark.slow
async def test_a_screen_keeps_few_calls_in_memory(tmp_path: Path) -> None:
    """The session that a screen shows keeps fewer settled calls and ended texts than a printed one."""
    async with opened(large(tmp_path / "r.ndjson", 3)) as stage:
        shown, printed = stage.feed.session, Session()
        assert shown.calls.most_settled < printed.calls.most_settled
        assert shown.transcript.most_ended < printed.transcript.most_ended


@pytest.mark.system
@pytest.mark.slow
async def test_the_whole_recording_follows_the_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the preview every call, their number and the integrity are shown, with the last call selected."""
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)
    path = large(tmp_path / "r.ndjson", 400, result("".join(f"Sentence {n}. " for n in range(400))))
    async with opened(path) as stage:
        # When the whole recording replaces the preview, its last call is selected, in view and in detail.
        await stage.shows("400 calls")
        await stage.shows("3 Detail · #400 edit 399.py")
        assert any("▐" in row and "399.py" in row for row in stage.rows())
        await stage.press("2", "k")
        await stage.shows("3 Detail · #399 edit 398.py")
        # After the preview the whole recording is shown: every call, their number and the integrity.
        await stage.shows("400 calls")
        assert "recording whole" in stage.status
        assert len(lines_of(stage.pane("calls"))) == 400
        await stage.press("2", "g")
        await stage.shows("3 Detail · #1 edit")


@pytest.mark.system
@pytest.mark.slow
async def test_a_process_may_decode_a_recording_behind_its_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is shown as without it, and the process ends with the reading, or with the screen."""
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)
    monkeypatch.setattr(decoding_process, "_LEAST_BYTES", 1 << 20)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    path = large(tmp_path / "r.ndjson", 800, result("".join(f"Sentence {n}. " for n in range(800))))
    started = helper_processes(monkeypatch)
    async with opened(path) as stage:
        await stage.shows("800 calls")
        await stage.shows("3 Detail · #800 edit 799.py")
        assert "recording whole" in stage.status
        assert len(lines_of(stage.pane("calls"))) == 800
        assert (len(started), are_over(started)) == (1, True)
    monkeypatch.setattr(helper_process, "_START", "import time; time.sleep(600)")
    source = saved_source(path)
    app = AgentwatchApp(source, feed := CountedFeed(source.reader), PendingSignals())
    async with app.run_test() as pilot:
        await eventually(pilot, lambda: feed.ahead is not None, "a process")
    os.close(source.reader.fd)
    assert (len(started), are_over(started)) == (2, True)


@pytest.mark.system
async def test_a_followed_recording_is_not_finished_by_its_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the preview is not the end of the recording: its files stay open while it is followed."""
    finished: list[FileSource] = []
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)

    def finish(source: FileSource) -> None:
        finished.append(source)

    monkeypatch.setattr(FileSource, "finish", finish)
    async with opened(large(tmp_path / "r.ndjson", 500), follow=True) as stage:
        await stage.shows("500 calls")
        assert finished == []


def test_a_large_recording_is_packed_later_than_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,100 calls, none is packed while a recording loads behind its preview; others pack the oldest."""
    path = large(tmp_path / "r.ndjson", 1100, result("all"))
    pack, packed = call_module._packed, []

    def noted(call: Call) -> bytes:
        packed.append(call.number)
        return pack(call)

    monkeypatch.setattr(call_module, "_packed", noted)
    for most, numbers in ((8 << 20, list(range(1, 77))), (1 << 20, [])):
        with case(most):
            monkeypatch.setattr(screen, "_LARGE_BYTES", most)
            source = saved_source(path)
            shown, loading = screen.first_shown(source, Feed(source.reader))
            packed.clear()
            (loading or shown).advance()
            assert packed == numbers


DATA = bundled("failures").read_bytes()


class SlowFeed(CountedFeed):
    """A feed that reads a few lines, or one burst of lines, once the test has seen the screen."""

    is_seen = True

    def advance(self, seconds: float | None = None) -> int:
        """Count the tick, and read a few lines, or nothing."""
        del seconds
        may_read, self.is_seen = self.is_seen, False
        if may_read:
            return sum(super(SlowFeed, self).advance(0.0) for _ in range(8))
        self.ticks += 1
        return 0


async def states(app: AgentwatchApp, feed: SlowFeed, path: Path) -> list[str]:
    """Return the header and the status line of each tick until the session has ended."""
    seen: dict[str, None] = {}
    async with app.run_test(size=(120, 30)) as pilot:
        stage = Stage(app, feed, path, pilot)

        def is_over() -> bool:
            seen.update(dict.fromkeys((stage.header, stage.status)))
            feed.is_seen = True
            return "✗ failed" in stage.header or "✓ succeeded" in stage.header

        await eventually(pilot, is_over, "the end")
    return [*filter(str.strip, seen)]


def check(shown: Sequence[str]) -> None:
    """Check that a session was shown as being read, and never as running."""
    assert any(line.startswith(" … reading ") and line.endswith("… calls") for line in shown)
    assert any("showing the beginning while the rest loads" in line for line in shown)
    assert not [line for line in shown if "running" in line or "waiting" in line or "thinking" in line]


@pytest.mark.slow
async def test_what_is_read_has_no_state_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file or a store that is still read has no state yet, however long reading takes."""
    monkeypatch.setattr(screen, "_LOADING_SECONDS", 0.0)
    # The header says that it is read, without a clock and counts, until the last line is applied.
    source = saved_source(bundled("failures"))
    feed = SlowFeed(source.reader)
    check(await states(AgentwatchApp(source, feed, PendingSignals()), feed, bundled("failures")))
    # Between two batches there is nothing to read, and the session has not ended.
    fd = nameless_file()
    source = StoreSource(fd, StoreIntake(Batches(), fd, follow=False, waits=False), path=tmp_path)
    feed = SlowFeed(source.reader)
    check(await states(AgentwatchApp(source, feed, PendingSignals()), feed, tmp_path))
    assert not source.is_filling
    source.close()


class Batches:
    """A store that gives its lines in batches."""

    poll_seconds = 0.01

    def __init__(self) -> None:
        lines = DATA.splitlines(keepends=True)
        self._batches = [lines[at : at + 3] for at in range(0, len(lines), 3)]

    def new_lines(self) -> list[bytes]:
        """Return the next batch."""
        return self._batches.pop(0) if self._batches else []

    def close(self) -> None:
        """Do nothing."""
