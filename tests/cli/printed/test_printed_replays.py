"""A printed replay prints the part that was asked for, at its times."""

import os
import time
from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from tests.builders.lines import completed, delta, init, result, started
from tests.builders.moment.timed import timed, timed_evenly
from tests.builders.screen.lines import session, shell
from tests.conftest import case
from tests.harness.program import ran, watch

AT_ONCE = ("--max-idle", "0")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return a recording of six calls, in lines that came every two seconds; call 4 failed."""
    path = tmp_path / "six.ndjson"
    path.write_bytes(session(6, 3) + result("Done."))
    return timed_evenly(path)


def printed(path: Path, *options: str) -> list[str]:
    """Return what a replay prints at once."""
    done = ran("replay", path, *AT_ONCE, *options)
    assert done.stderr == b""
    assert done.returncode == 0
    return done.stdout.decode().splitlines()


def echoes(*numbers: int) -> list[str]:
    """Return the printed lines of calls, which run `echo NUMBER`."""
    return [f"Ran terminal command echo {n}{' (failed: exit 1)' if n == 3 else ''}" for n in numbers]


PARTS: list[tuple[tuple[str, ...], tuple[int, ...]]] = [
    ((), (0, 1, 2, 3, 4, 5)),
    (("--from", "#2"), (2, 3, 4, 5)),
    (("--from", "#2", "--until", "#4"), (2, 3)),
    (("--until", "+12s"), (0,)),
    (("--until", "+11s"), ()),
    (("--from", "-10s"), (4, 5)),
    (("--from", "+20s", "--until", "+22s"), ()),
    (("--from", "50%"), (2, 3, 4, 5)),
    (("--until", "live"), (0, 1, 2, 3, 4, 5)),
]


def test_only_the_calls_that_end_in_a_part_are_printed(recorded: Path) -> None:
    """With --from and --until, a line is printed for each call that ended between the two moments. `replay
    FILE#4` starts at the end of call 4. `stream-json` prints the lines of the part, unchanged.
    """
    for options, numbers in PARTS:
        with case(" ".join(options)):
            assert printed(recorded, *options) == echoes(*numbers)
    assert printed(Path(f"{recorded}#4")) == echoes(4, 5)
    lines = recorded.read_bytes().splitlines(keepends=True)
    part = ("--from", "+4s", "--until", "+10s", "--output-format", "stream-json")
    assert ran("replay", recorded, *AT_ONCE, *part).stdout == b"".join(lines[3:6])
    # What has not ended at --until is not unfinished: no line, exit code 0. A result is reported missing
    summary = ran("replay", recorded, *AT_ONCE, "--until", "#3", "--output-format", "summary")
    assert b'"outcome":"running"' in summary.stdout.replace(b": ", b":")
    for name in ("json", "final"):
        done = ran("replay", recorded, *AT_ONCE, "--until", "#3", "--output-format", name)
        assert (done.stdout, done.returncode) == (b"", 1)
        assert done.stderr == b"agentwatch: nothing to print: the run has not ended at that moment\n"
    # `demo --from` begins with a part of the bundled session
    done = ran("demo", *AT_ONCE, "--from", "80%")
    whole = ran("demo", *AT_ONCE)
    assert done.stdout
    assert whole.stdout.endswith(done.stdout)
    assert done.stdout.count(b"\n") < whole.stdout.count(b"\n")
    # A moment that is not in the recording is reported in one line, with exit code 2
    file = str(recorded)
    cases: list[tuple[list[str], str]] = [
        ([f"{file}#4", "--from", "+2s"], "--from excludes an ADDRESS of a moment"),
        ([file, "--from", "#9"], "{path}: no call #9: the session has 6 calls"),
        ([file, "--until", "before"], "{path}: no bookmark before: a moment is"),
        ([file, "--from", "50%", "--until", "+2s"], "{path}: the part would end at its start, or before it"),
        ([file, "--from", "120%"], "--from: 120% is more than 100% (see agentwatch replay --help)"),
        ([file, "--until", "25:00"], "--until: 25:00 is not a time of day (see agentwatch replay --help)"),
        ([file, "--loop"], "--loop and --pause-on need the screen; they exclude printing"),
        ([file, "--pause-on", "failure"], "--loop and --pause-on need the screen; they exclude printing"),
    ]
    for words, reason in cases:
        with case(" ".join(words)):
            done = ran("replay", *words)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.decode().startswith(f"agentwatch: {reason.format(path=recorded)}")
            assert done.stderr.count(b"\n") == 1


@pytest.mark.system
def test_a_cut_last_line_ends_the_replay(recorded: Path) -> None:
    """A killed process leaves half a line, with or without times; its replay ends as that of a whole one."""
    os.truncate(recorded, recorded.stat().st_size - 3)
    for words in (("--from", "#4"), ()):
        with case(words):
            done = watch("replay", recorded, *AT_ONCE, *words, "-p", late=10)
            assert done.stdout.decode().splitlines() == echoes(0, 1, 2, 3, 4, 5)[4 if words else 0 :]
            assert done.stderr == b"agentwatch: the stream ended without a result\n"
        recorded.with_suffix(".times").unlink(missing_ok=True)


def test_what_needs_no_wait_is_printed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording without any time is printed at once, from its beginning or from a moment on."""
    polls: list[int] = []
    advance = Feed.advance

    def counted(feed: Feed, seconds: float | None = None) -> int:
        polls.append(advance(feed, seconds))
        return polls[-1]

    monkeypatch.setattr(Feed, "advance", counted)
    path = tmp_path / "no-times.ndjson"
    calls = [
        line
        for n in range(400)
        for line in (started("read", f"c{n}", path=f"{n}"), completed("read", f"c{n}", {"success": {}}))
    ]
    path.write_bytes(b"".join([init(), *calls, result()]))
    done = ran("replay", path, "--from", "#399")
    assert done.stdout.count(b"\n") == 1
    assert ran("replay", path).stdout.count(b"\n") == 400
    assert len(polls) < 400, "20 lines a second would be 2,000 polls"
    # 20,000 lines, each a second after the one before, are printed at once with the shortest silences
    polls.clear()
    path = tmp_path / "dense.ndjson"
    path.write_bytes(init() + b"".join(delta(f"{n} ", n) for n in range(20_000)) + shell(1) + result())
    timed_evenly(path, 1)
    for options in (("--max-idle", "0"), ("--max-idle", "0.001", "--speed", "1000")):
        assert ran("replay", path, *options).stdout.count(b"\n") == 1
    assert len(polls) < 100, "a poll passes over up to 2,000 lines"


@pytest.mark.costs
def test_calls_are_printed_at_their_times(tmp_path: Path) -> None:
    """A replay that is printed lasts as long as the recording."""
    path = tmp_path / "slow.ndjson"
    path.write_bytes(init() + shell(1) + result())
    timed(path, 0, 4, 8, 12)
    begun = time.monotonic()
    assert ran("replay", path, "--speed", "8").stdout.count(b"\n") == 1
    assert time.monotonic() - begun >= 1.5
    begun = time.monotonic()
    assert ran("replay", path, "--speed", "8", "--from", "+8s").stdout == b""
    assert time.monotonic() - begun >= 0.5
