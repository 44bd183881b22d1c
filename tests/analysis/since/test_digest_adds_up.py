"""The digest of any two moments of a session is what a slow recomputation from all events finds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.seen import mark
from agentwatch.analysis.since import Digest
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import Outcome
from tests.builders.moment.slow_digest import complete, decoded, session_at, slow_digest
from tests.builders.stories.any_story import STORIES
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import Story
from tests.truth.test_generated import GENERATED


def facts_of(digest: Digest) -> dict[str, Any]:
    """Return a digest as the slow recomputation names its parts."""
    return {
        "events": digest.happened.events,
        "kinds": {kind: count.calls for kind, count in digest.kinds.items()},
        "failed": sum(count.failed for count in digest.kinds.values()),
        "changed": {
            file.shown: (file.lines_added or 0, file.lines_removed or 0) for file in digest.changed_files
        },
        "read": {file.shown for file in digest.read_files},
        "still open": {
            (call.kind, call.tool, call.target or call.path or ""): times
            for call, times in digest.failures.newest_first()
        },
        "running": [call.call_id for call in digest.running],
        "outcomes": dict(digest.happened.outcomes),
    }


@pytest.mark.system
@GENERATED
@given(STORIES, st.booleans(), st.data())
def test_a_digest_is_what_happened(
    tmp_path_factory: pytest.TempPathFactory, story: Story, is_partial: bool, data: st.DataObject
) -> None:
    """Counts, outcomes, kinds, files, open failures and running calls are those of the lines in between."""
    recording, _ = rendered(story, is_partial)
    path: Path = tmp_path_factory.getbasetemp() / "digest.ndjson"
    path.write_bytes(recording)
    reader = open_saved(path)
    feed = Feed(reader)
    feed.advance()
    lines = decoded(recording)
    try:
        for _ in range(5):
            start = data.draw(st.integers(0, len(lines)))
            end = data.draw(st.integers(start, len(lines)))
            feed.session = session_at(lines, end)
            digest = complete(Digest(feed, mark(session_at(lines, start), 0, None)))
            slow = slow_digest(lines, start, end)
            outcomes = [Outcome(outcome) for _, outcome in slow.ended]
            named = (Outcome.FAILED, Outcome.REJECTED, Outcome.CANCELLED, Outcome.UNFINISHED)
            assert facts_of(digest) == {
                "events": slow.events,
                "kinds": dict(slow.kinds),
                "failed": outcomes.count(Outcome.FAILED),
                "changed": slow.changed,
                "read": slow.read,
                "still open": slow.still_open,
                "running": slow.running,
                "outcomes": {each: outcomes.count(each) for each in named if each in outcomes},
            }
            assert digest.happened.calls == len(slow.ended)
    finally:
        os.close(reader.fd)
