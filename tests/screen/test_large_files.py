"""A large recording shows its end at once, and everything once it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from agentwatch.feed.preview import preview_feed, preview_reader
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session import screen
from agentwatch.session import call_store
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.sources.file import FileSource
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.screen.app import lines_of, opened
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
    """Every line of the preview is a line of the recording, in order and with its right offset."""
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


def test_an_oversize_last_line_ends_the_run(tmp_path: Path) -> None:
    """A last line above the size limit for parsing still ends the run in the preview."""
    path = large(tmp_path / "r.ndjson", 100, result("y" * (17 << 20)))
    preview = preview_feed(open_saved(path))
    assert preview.session.run.outcome == "succeeded"
    assert preview.session.lines.oversize == 1
    assert preview.session.calls[-1].target == "99.py"


def test_a_preview_shows_the_newest_calls_before_a_large_result(tmp_path: Path) -> None:
    """A large result does not push the last calls out of the preview; the first calls are not in it."""
    for size in (1 << 10, 1 << 20, 5 << 20):
        with case(size):
            path = large(tmp_path / "r.ndjson", 400, result("y" * size))
            preview = preview_feed(open_saved(path))
            targets = [call.target for call in preview.session.calls]
            assert targets[-3:] == ["397.py", "398.py", "399.py"]
            assert "0.py" not in targets
            assert (preview.session.run.prompt, preview.session.run.outcome) == ("Do much.", "succeeded")


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
        assert "checks pass" in stage.status
        assert len(lines_of(stage.pane("calls"))) == 400
        await stage.press("2", "g")
        await stage.shows("3 Detail · #1 edit")


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
    pack, packed = call_store._packed, []

    def noted(call: Call) -> bytes:
        packed.append(call.number)
        return pack(call)

    monkeypatch.setattr(call_store, "_packed", noted)
    for most, numbers in ((8 << 20, list(range(1, 77))), (1 << 20, [])):
        with case(most):
            monkeypatch.setattr(screen, "_LARGE_BYTES", most)
            source = saved_source(path)
            shown, loading = screen.first_shown(source, Feed(source.reader))
            packed.clear()
            (loading or shown).advance()
            assert packed == numbers
