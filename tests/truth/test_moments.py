"""The session at an earlier moment equals that of a feed that was given only the bytes before it.

`AGENTWATCH_EXAMPLES=150` tries that many generated sessions, at 50 moments each.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from tests.builders.captures import Captures
from tests.builders.moment.any_recording import (
    MOST_BYTES,
    SESSIONS,
    chosen,
    dense,
    fed_until,
    generated,
    line_ends,
    real_recordings,
    with_history,
    written,
)
from tests.builders.moment.session_facts import different, facts
from tests.conftest import case


def differing(history: History, reader: LineReader, moments: Iterable[int]) -> list[str]:
    """Return how the session at moments differs from that of the bytes before them."""
    found: list[str] = []
    for moment in moments:
        shown, expected = history.at(moment), fed_until(reader, moment)
        found += [f"at {moment}: {each}" for each in different(facts(shown.session), facts(expected.session))]
        if (shown.offset, shown.held_lines) != (expected.offset, expected.held_lines):
            found.append(f"at {moment}: {shown.offset} instead of {expected.offset} bytes are applied")
        if found:
            break
    return found


def read_whole(path: Path) -> tuple[Feed, History, LineReader]:
    """Return the feed of a recording that was read, its history and its reader."""
    reader = open_saved(path)
    feed, history = with_history(reader)
    feed.advance()
    return feed, history, reader


@pytest.mark.system
def test_a_capture_is_as_it_was(captures: Captures, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any moment of a real recording, the session is that of the bytes before."""
    dense(monkeypatch)
    for path in real_recordings(captures):
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            continue  # comparing all of a large recording at a moment takes seconds
        feed, history, reader = read_whole(path)
        with case(path):
            earlier = [moment for moment in chosen(data, Random(path.stem)) if moment < feed.offset]
            assert differing(history, reader, earlier) == []
            assert history.at(feed.offset) is feed
        os.close(reader.fd)


@pytest.mark.system
@pytest.mark.slow
def test_a_generated_session_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any moment of a generated session, over or not, the session is that of the bytes before."""
    dense(monkeypatch)
    assert SESSIONS
    for number, data in enumerate(generated(SESSIONS)):
        chance = Random(number)
        moments = ((end, 1_700_000_000_000 + 40 * end) for end in [0, *line_ends(data)])
        path = written(tmp_path / f"{number}.ndjson", data, moments if number % 2 else None)
        _, history, reader = read_whole(path)
        assert differing(history, reader, chosen(data, chance)) == [], f"session {number}"
        os.close(reader.fd)


@pytest.mark.system
def test_a_moment_stays_the_same_while_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While more of a session arrives, earlier moments are unchanged, and the live session is complete."""
    dense(monkeypatch)
    assert SESSIONS
    for number, data in enumerate(generated(SESSIONS)):
        chance = Random(number)
        path = written(tmp_path / f"{number}.ndjson", b"")
        reader = open_saved(path, True)
        feed, history = with_history(reader)
        arrived = 0
        while arrived < len(data):
            more = data[arrived : arrived + chance.randrange(1, max(len(data) // 4, 2))]
            with path.open("ab") as file:
                file.write(more)
            arrived += len(more)
            feed.advance()
            moments = chosen(data[:arrived], chance, 4)
            assert differing(history, reader, moments) == [], f"session {number} at {arrived} bytes"
        assert list(different(facts(feed.session), facts(fed_until(reader, len(data)).session))) == []
        os.close(reader.fd)
