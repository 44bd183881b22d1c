"""A session has one duration: the row of the list, the header and the reports show the same one."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import agentwatch
from agentwatch.agents.opening import saved_source
from agentwatch.agents.session_entry import OWN
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest import reading as digest_reading
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.local_session import LocalSession, without_file
from agentwatch.feed.feed import Feed
from agentwatch.output.compare.comparison import side_of
from agentwatch.session.events import LineTime, Outcome, Prompt, TurnEnded
from tests.builders.on_disk.digested import found
from tests.conftest import RECORDINGS, case


def in_the_list(path: Path) -> LocalSession:
    """Return a recording of our own whose agent has ended."""
    session = LocalSession(found(path, OWN))
    session.join(Life.DEAD, None)
    session.read()
    session.status = session.judged(0)
    return session


def test_the_list_has_the_duration_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read whole or only at its ends; with a result, without one, and with several."""
    for name in ("demo", "failures", "unfinished", "stuck", "two-runs", "disagreement"):
        for recording in RECORDINGS.glob(f"{name}.*"):
            shutil.copy(recording, tmp_path)
        with closing(saved_source(tmp_path / f"{name}.ndjson")) as source:
            feed = Feed(source.reader)
            while not feed.is_over:
                feed.advance()
            took_ms = feed.session.duration_ms
            assert side_of(name, feed).totals.duration_ms == took_ms is not None
        for whole_bytes in (1 << 20, 0):
            with case(f"{name}, {whole_bytes}"), monkeypatch.context() as patched:
                patched.setattr(digest_reading, "_WHOLE_BYTES", whole_bytes)
                patched.setattr(digest_reading, "HEAD_BYTES", 1 << 9)
                patched.setattr(digest_reading, "_TAIL_BYTES", (1 << 10,))
                assert in_the_list(tmp_path / f"{name}.ndjson").duration_ms == took_ms


def test_the_duration_is_that_of_the_only_result_or_of_the_lines() -> None:
    """Several results say nothing about the time between them, and without one the lines decide."""
    for name, expected in (("demo", 69_840), ("unfinished", 24_170), ("two-runs", 74_240), ("plain", 8_667)):
        with case(name):
            assert agentwatch.load(RECORDINGS / f"{name}.ndjson").duration_ms == expected
    assert agentwatch.load(os.devnull).duration_ms is None
    # The result of an earlier turn is not that of the session.
    digest = Digest(is_whole=True)
    digest.apply([LineTime(1_000), Prompt("Go")])
    digest.apply([LineTime(4_000), TurnEnded(Outcome.SUCCEEDED)])
    digest.apply([LineTime(4_000), TurnEnded(Outcome.SUCCEEDED, duration_ms=3_500)])
    assert digest.duration_ms() == 3_500
    digest.apply([LineTime(9_000), Prompt("Go on")])
    assert digest.duration_ms() == 8_000


def test_the_clock_of_a_session_that_runs_is_that_of_the_header(tmp_path: Path) -> None:
    """It counts from the arrival of the first line, also for a stream with stamps of another time."""
    path, first_ms = tmp_path / "stem.ndjson", 1_795_000_000_000
    path.write_bytes((RECORDINGS / "unfinished.ndjson").read_bytes())
    path.with_suffix(".times").write_text(f"0 {first_ms}\n300 {first_ms + 9_000}\n")
    os.utime(path, ns=(0, (first_ms + 9_000) * 10**6))
    session = LocalSession(found(path, OWN))
    session.reported = StateReport(OWN, "stem", Life.LIVE, began_ms=first_ms - 2_000)
    session.join(Life.LIVE, None)
    session.read()
    status = session.judged(first_ms + 10_000)
    assert (status.state, status.since_ms) == (State.WORKING, first_ms)


def test_a_recording_that_is_named_before_its_file_is_found_has_a_state() -> None:
    """A run process names its recording at once; without the file nothing is known about its times."""
    reported = StateReport(OWN, "stem", Life.LIVE, pid=1, began_ms=1_795_000_000_000)
    session = LocalSession(without_file((OWN, "stem"), reported))
    session.reported = reported
    session.join(Life.LIVE, None)
    assert session.judged(1_795_000_001_000).state is State.STARTING
    assert not session.read_acts(frozenset())
