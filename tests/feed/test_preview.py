"""The preview of a large recording shows whole texts only."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed.preview import preview_feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.transcript import Kind
from tests.builders.lines import completed, delta, final, init, result, started, user

DONE = {"success": {"message": "x" * 2000}}


@pytest.mark.parametrize("calls", [1, 3])
def test_the_end_begins_with_a_call(tmp_path: Path, calls: int) -> None:
    """A text of which the beginning was passed over is not shown; what follows the next call is."""
    spoken = [f"Sentence {number}. " for number in range(3000)]
    lines = [init(), user("Do much."), *map(delta, spoken), final("".join(spoken))]
    for number in range(calls):
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", DONE, path=f"{number}.py"))
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join([*lines, delta("Done."), final("Done."), result("all")]))
    preview = preview_feed(open_saved(path))
    entries = preview.session.transcript
    assert [entry.kind for entry in entries] == [
        Kind.PROMPT,
        *[Kind.CALL] * calls,
        Kind.ANSWER,
        Kind.RESULT,
    ]
    assert entries[-2].text == "Done."
    assert [call.target for call in preview.session.calls] == [f"{number}.py" for number in range(calls)]
