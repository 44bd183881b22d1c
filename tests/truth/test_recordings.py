"""The bundled recordings give results that were read by hand from their lines; so does any beginning."""

import re
from collections.abc import Callable

import pytest

from agentwatch.session.actions import action
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.lines import session
from tests.conftest import RECORDINGS, case

BUNDLED = sorted(RECORDINGS.glob("*.ndjson"))

CONTRADICTING = {
    *("disagreement", "docs-ja", "docs-ko"),
    "reifying-full-session-handmade",
}
"""Recordings whose result is a text other than the streamed one."""

PROGRAM = "from datetime import timedelta; print(timedelta(minutes=-20).seconds)"
MANUAL = "https://docs.python.org/3/library/datetime.html#timedelta-objects"
OUTSIDE = "The command writes outside of the workspace."
TWICE = "The text to replace occurs 2 times in the file; it must occur once."

ACTIONS = {
    "connection": ["Read file timetable.csv (4 lines)"],
    "demo": [
        "Found files **/*.py (7 files)",
        "Updated to-do list (0 of 5 done)",
        "Read file tidepool/nearest.py (20 lines)",
        "Read file tests/test_nearest.py (35 lines)",
        r"Searched files \.seconds\b (3 matches)",
        "Ran terminal command pytest -q (failed: exit 1)",
        "Updated to-do list (2 of 5 done)",
        "Edited file tidepool/nearest.py (+8 -3)",
        f"Fetched web page {MANUAL} (rejected)",
        f'Ran terminal command python -c "{PROGRAM}"',
        "Ran subagent Check .seconds in chart.py",
        "Created new file tests/test_past_lows.py (28 lines)",
        "Ran terminal command pytest -q",
        "Updated to-do list (5 of 5 done)",
    ],
    "disagreement": ["Ran terminal command wc -l accounts.csv"],
    "failed-run": ["Read file manual.md (4 lines)"],
    "failures": [
        "Ran terminal command make lint (failed: exit 2)",
        "Ran terminal command grep -q FIXME src/blades.py (failed: exit 1)",
        f"Edited file src/blades.py (failed: {TWICE})",
        f"Ran terminal command rm -rf /var/cache/windmill (failed: {OUTSIDE})",
        "Ran terminal command windmill-ctl reload (failed: spawn /opt/windmill/bin/sh ENOENT)",
        "Called MCP tool tracker close_issue (failed: 403: the token may not close issues)",
    ],
    "json-format": [],
    "malformed": ["Read file LICENCE (4 lines)"],
    "parallel": [
        "Read file config/dev.toml (3 lines)",
        "Read file config/test.toml (3 lines)",
        "Read file config/prod.toml (4 lines)",
    ],
    "partial": ["Read file almanac/cache.py (2 lines)", "Read file almanac/index.py (2 lines)"],
    "plain": ["Read file lantern/settings.py (6 lines)", "Edited file lantern/settings.py (+1 -1)"],
    "rejected": [
        "Ran terminal command curl -s https://maps.example.org/version (rejected)",
        "Fetched web page https://maps.example.org/releases (rejected)",
        "Searched the web compass map data latest release (rejected)",
    ],
    "stuck": [
        "Read file package.json (11 lines)",
        "Read file tsconfig.json (9 lines)",
        "Read file src/rope.ts (7 lines)",
        "Read file src/drum.ts (20 lines)",
        "Called MCP tool tracker get_issue",
        "Edited file src/drum.ts (+3 -6)",
        *["Ran terminal command npm run build (failed: exit 2)"] * 4,
    ],
    "two-runs": ["Read file beacon.py (2 lines)", "Edited file beacon.py (+1 -1)"],
    "unfinished": [
        "Read file Cargo.toml (4 lines)",
        "Ran terminal command cargo build --release (unfinished)",
    ],
    "unknown": ["Used tool weather Zermatt", "Read file routes/north.md (returned)"],
    "wide": ["Read file 干潮.csv (4 lines)", "Read file 메모 🦀.md (4 lines)"],
}
"""The calls of each bundled recording in the order in which they began; hostile.ndjson has its own test."""

COUNTS = {
    "connection": (16, 0, 0),
    "demo": (583, 0, 0),
    "disagreement": (7, 0, 0),
    "failed-run": (6, 0, 0),
    "failures": (17, 0, 0),
    "hostile": (18, 0, 2),
    "json-format": (1, 0, 0),
    "malformed": (9, 3, 0),
    "parallel": (11, 0, 0),
    "partial": (25, 0, 0),
    "plain": (14, 0, 0),
    "rejected": (16, 0, 0),
    "stuck": (65, 0, 0),
    "two-runs": (13, 0, 0),
    "unfinished": (10, 1, 0),
    "unknown": (6, 0, 6),
    "wide": (22, 0, 0),
}
"""Events, malformed and unknown lines of each bundled recording."""


def test_every_recording_is_understood(captures: Captures, session_of: Callable[[bytes], Session]) -> None:
    """Every line counts once, every call has a name and an end, and the text equals the result, if any."""
    for path in BUNDLED if captures.is_own else captures.find("docs/*.ndjson", "cursor/*.ndjson"):
        with case(path):
            data = path.read_bytes()
            read = session_of(data)
            assert read.lines.total == sum(1 for line in data.split(b"\n") if line.strip())
            assert path in BUNDLED or read.lines.malformed == read.lines.unknown == 0
            assert all(
                call.tool not in ("", "unknown") and call.phrase and call.target != "" for call in read.calls
            )
            assert all(call.outcome is not Outcome.RUNNING for call in read.calls)
            assert sorted(call.number for call in read.ended_calls) == [call.number for call in read.calls]
            without = ("unfinished", "stuck", "json-format", "failed-run")
            expected = None if path.stem in without else path.stem not in CONTRADICTING
            assert read.run.text_matches_result is expected


def test_bundled_recordings_are_what_their_lines_say() -> None:
    """They have the actions, counts, outcomes and orphans that were read by hand from their lines; the
    hostile one is safe, parallel calls end in order, and flushes are dropped.
    """
    assert {path.stem for path in BUNDLED} == set(COUNTS)
    for path in BUNDLED:
        with case(path):
            read = session(path.read_bytes())
            assert path.stem == "hostile" or [action(call) for call in read.calls] == ACTIONS[path.stem]
            assert (read.lines.events, read.lines.malformed, read.lines.unknown) == COUNTS[path.stem]
    read = session((RECORDINGS / "hostile.ndjson").read_bytes())
    assert [(call.phrase, call.outcome.value) for call in read.calls] == [
        ("Read file", "succeeded"),
        ("Ran terminal command", "failed"),
        ("Ran terminal command", "succeeded"),
        ("Edited file", "succeeded"),
        ("Called MCP tool", "rejected"),
        ("Used tool", "returned"),
    ]
    assert all(action(call).isprintable() for call in read.calls)
    for name, outcome in [
        ("plain", "succeeded"),
        ("failed-run", "failed"),
        ("unfinished", "unfinished"),
        ("rejected", "succeeded"),
    ]:
        with case((name, outcome)):
            assert session((RECORDINGS / f"{name}.ndjson").read_bytes()).outcome == outcome
    read = session((RECORDINGS / "parallel.ndjson").read_bytes())
    assert [call.target for call in read.ended_calls] == [
        f"config/{name}.toml" for name in ("test", "prod", "dev")
    ]
    assert len({call.group for call in read.calls}) == 1
    assert [call.duration_ms for call in read.calls] == [1194, 224, 554]
    orphans = {}
    for path in BUNDLED:
        read = session(path.read_bytes())
        orphans[path.stem] = (read.completed_without_started, read.never_completed)
    assert {name: counts for name, counts in orphans.items() if counts != (0, 0)} == {
        "rejected": (1, 0),
        "unfinished": (0, 1),
    }
    read = session((RECORDINGS / "partial.ndjson").read_bytes())
    assert read.text == "---\nBoth the **cache** and the **index** are cleared every hour."


# --- cut anywhere ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_the_text_of_a_beginning_is_a_beginning_of_the_text(step: int) -> None:
    """The text shown for a beginning of a recording is a beginning of the whole text."""
    for path in BUNDLED:
        data = path.read_bytes()
        whole = session(data).text
        for end in [match.end() for match in re.finditer(rb"\n", data)][::step]:
            with case(f"{path.stem}, {end} bytes"):
                text = session(data[:end], is_over=False).text
                assert text == whole[: len(text)]
