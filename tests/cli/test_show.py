"""`agentwatch show` prints a call in full, or the state at a moment; errors are one line."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from agentwatch.agents.opening import saved_source
from agentwatch.recording.bookmarks import Bookmarks
from agentwatch.recording.store import SessionFiles
from agentwatch.recording.write_lock import hold
from tests.builders.captures import OWN
from tests.builders.lines import completed, init, result, started, user
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import PLAIN, ran

DEMO = RECORDINGS / "demo.ndjson"
START = "2026-11-02 10:02:11"
"""When the first line of the plain recording arrived, in UTC."""


def shown(*words: str | Path, stdin: bytes | None = None) -> list[str]:
    """Return the lines that `show` prints."""
    done = ran("show", *words, stdin=stdin, TZ="UTC")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def test_a_call_or_the_state_at_a_moment_is_shown() -> None:
    """`FILE#2` prints one call; with `--json`, the arguments and the result of its lines. `FILE@…` prints the
    state of then, with the words of the status line of then.
    """
    lines = shown(f"{PLAIN}#2")
    assert lines[0] == "#2 Edited file lantern/settings.py (+1 -1)"
    assert "+TIMEOUT_SECONDS = 45" in lines
    found = json.loads("".join(shown(f"{PLAIN}#2", "--json")))
    assert found["number"] == 2
    assert found["arguments"]["path"] == "/home/ada/src/lantern/lantern/settings.py"
    assert found["result"]["success"]["linesAdded"] == 1
    cases: list[tuple[str, str, str]] = [
        ("10:02:12", "2026-11-02 10:02:12", "waiting for the model"),
        ("2026-11-02T10:02:13Z", "2026-11-02 10:02:13", "running read lantern/settings.py · 0:00"),
        ("50%", "2026-11-02 10:02:14", "waiting for the model"),
        ("100%", "2026-11-02 10:02:18", "succeeded in 8.7 s · 2 calls"),
        ("live", "2026-11-02 10:02:18", "succeeded in 8.7 s · 2 calls"),
        ("+1h", "2026-11-02 10:02:18", "succeeded in 8.7 s · 2 calls"),
        ("start", "unknown", "waiting for the first event"),
    ]
    for moment, at, status in cases:
        with case(moment):
            lines = shown(f"{PLAIN}@{moment}")
            assert lines[0].startswith(f"at {at} · byte ")
            assert status in lines
    # `-` reads stdin, whose arrival is not its time. What cannot be shown exits with 2 and a line.
    assert shown(f"{PLAIN}@-2s")[0].startswith("at 2026-11-02 10:02:16 ")
    assert shown("-", stdin=PLAIN.read_bytes())[1:] == shown(PLAIN)[1:]
    assert shown("--", "-#1", stdin=PLAIN.read_bytes())[0] == "#1 Read file lantern/settings.py (6 lines)"
    wrong: list[tuple[str, str]] = [
        ("{}#3", "{}#3: no call #3: the session has 2 calls"),
        ("{}@09:00", "{}@09:00: 09:00:00 is not in the recording: 10:02:11 to 10:02:18"),
        ("{}@rewrite", "{}@rewrite: no bookmark rewrite: a moment is "),
        ("missing#3", "no session or file missing (agentwatch sessions lists them)"),
    ]
    for words, error in wrong:
        with case(words):
            done = ran("show", words.format(PLAIN), TZ="UTC")
            assert (done.returncode, done.stdout) == (2, b"")
            assert re.fullmatch(rb"agentwatch: [^\n]+\n", done.stderr)
            assert error.format(PLAIN) in done.stderr.decode()


def test_the_moments_of_a_written_session_are_shown(recording: Saver) -> None:
    """Each moment of a session has its own clock, and `FILE@NAME` is that of the bookmark with this name."""
    # What was read so far is shown, and the open call is running.
    path = recording(init(), user(), started("shell", "a", command="make"))
    with path.open("ab") as file:
        hold(file.fileno())
        assert "running make" in shown(path)
    assert "ended without a result · 1 call, 1 unfinished" in shown(path)
    # A call that runs has its clock of the given time, not of the last line before it.
    lines = (
        init(),
        started("shell", "a", command="make"),
        completed("shell", "a", {"success": {}}),
        result(),
    )
    path = recording(*lines)
    ends = [sum(map(len, lines[:count])) for count in range(4)]
    times = "".join(f"{end} {1_000_000 + 10_000 * nth}\n" for nth, end in enumerate(ends))
    path.with_suffix(".times").write_text(times)
    lines_shown = shown(f"{path}@+15s")
    assert "running make · 0:05" in lines_shown
    assert "  #1 Ran terminal command make (running) · 0:05" in lines_shown
    # The bookmark is kept beside the recording.
    path = recording(init(), user(), started("shell", "a", command="make"), result())
    offset = len(init()) + len(user())
    bookmarks = Bookmarks(SessionFiles(path).bookmarks, lambda _: True)
    assert bookmarks.toggle(offset, None, "the plan")
    assert f"byte {offset} of" in shown(f"{path}@The Plan")[0]
    # A stream of no known agent exits with 2, as when it is printed.
    done = ran("show", recording(b'{"a": 1}\n'))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"agentwatch: not a stream of an agent that this version knows")


def test_states_are_shown_at_any_moment(tmp_path: Path) -> None:
    """The state at the end is the summary with four more members. With the moment, the number of calls grows
    up to that of the whole session.
    """
    found = json.loads("".join(shown(DEMO, "--json")))
    summary = json.loads(ran("--output-format", "summary", DEMO).stdout)
    assert found.pop("offset") == DEMO.stat().st_size
    assert found.pop("status").startswith("succeeded in ")
    assert found.pop("at_ms") > 0
    assert found.pop("episodes") == []
    assert found == summary
    counts = [
        len(json.loads("".join(shown(f"{DEMO}@{share}%", "--json")))["calls"]) for share in (0, 30, 60, 100)
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert 0 < counts[1] < counts[2] < counts[3]
    # A session in opencode's database has moments too.
    path = tmp_path / "opencode.db"
    path.write_bytes((OWN / "disk/opencode-db/own-1.18.33/opencode.db").read_bytes())
    with closing(sqlite3.connect(path)) as database:
        (own_id,) = database.execute("select id from session limit 1").fetchone()
    assert saved_source(path).path == path
    assert shown(f"{path}/{own_id}@50%")[1].startswith("opencode")
    assert shown(f"{path}@live")[2] == f"session {own_id}"
