"""The text format as a recording of a terminal: each line at its time, a marker at each failure."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from agentwatch.output.export import asciicast
from agentwatch.output.export.asciicast import EXPORTER, Code
from agentwatch.output.export.exported import Wanted
from agentwatch.output.export.exporters import Choices
from tests.builders.captures import Captures
from tests.builders.exports.opened import RAW, every_recording, written
from tests.builders.lines import DONE, completed, init, result, started, user
from tests.conftest import RECORDINGS, case
from tests.harness.program import watch
from tests.output.export.asciicast.casts import Cast, read
from tests.output.export.atif.trajectories import wanted

DEMO = RECORDINGS / "demo.ndjson"


def cast(path: Path, part: Wanted = RAW, max_idle: float | None = None) -> Cast:
    """Return the recording of a terminal that is written of a session."""
    return read(written(EXPORTER, path, part, Choices(max_idle=max_idle)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "demo",
        *(
            pytest.param(name, marks=pytest.mark.system)
            for name in ("failures", "malformed", "unfinished", "two-runs", "wide")
        ),
    ],
)
def test_the_output_is_the_text_format(name: str) -> None:
    """The lines are those that `--print` prints, and the exit code is that of the command."""
    path = RECORDINGS / f"{name}.ndjson"
    printed, found = watch("--print", path), cast(path)
    assert found.output.replace("\r\n", "\n").encode() == printed.stdout
    assert found.events[-1][1:] == ("x", str(printed.returncode))


def test_each_line_comes_when_its_call_ended() -> None:
    """The time is that of the line that ended the call; the exit comes at the end of the recording."""
    arrivals = [
        (int(offset), int(ms))
        for offset, ms in (line.split() for line in DEMO.with_suffix(".times").read_text().splitlines())
    ]
    data = DEMO.read_bytes()
    at, ended = 0, []
    for line in data.splitlines(keepends=True):
        at += len(line)
        if b'"type":"tool_call","subtype":"completed"' in line:
            ended.append(max(ms for offset, ms in arrivals if offset < at))
    found = cast(DEMO)
    begin = arrivals[0][1]
    shown = [round(event.at * 1000) for event in found.events if event.code == "o"]
    assert shown == [ms - begin for ms in ended]
    assert found.header["timestamp"] == begin // 1000
    assert round(found.events[-1].at * 1000) == arrivals[-1][1] - begin


def test_failures_have_markers_and_silences_can_be_shortened(tmp_path: Path) -> None:
    """A marker stands at each call that failed or was rejected, before its line and at the same time. With a
    limit, no event waits longer than it, and shorter times stay.
    """
    found = cast(DEMO)
    assert [name for _, name in found.marks()] == [
        "#6 Ran terminal command pytest -q (failed: exit 1)",
        "#9 Fetched web page https://docs.python.org/3/library/datetime.html#timedelta-objects (rejected)",
    ]
    for mark, line in pairwise(found.events):
        if mark.code == "m":
            assert (line.at, line.code) == (mark.at, "o")
    whole, short = cast(DEMO), cast(DEMO, max_idle=2)
    for each, one in zip(_waits(whole), _waits(short), strict=True):
        assert one == pytest.approx(min(each, 2))
    assert short.output == whole.output
    assert cast(DEMO, max_idle=0).events[-1].at == 0
    # As in a replay, each line of the recording takes 50 ms.
    path = tmp_path / "session.ndjson"
    lines = init(), user(), started("read", path="a"), completed("read", result=DONE), result()
    path.write_bytes(b"".join(lines))
    found = cast(path)
    assert [(round(event.at, 3), event.code) for event in found.events] == [(0.2, "o"), (0.25, "x")]
    assert "timestamp" not in found.header
    # A part that ends before the session has no exit code; of its calls, some can be selected. A comment
    # after the header says what was masked, or that nothing was.
    found = cast(DEMO, wanted(begin="#5", until="#9"))
    assert [event.code for event in found.events] == ["o", "m", "o", "o", "o", "m", "o"]
    assert found.events[0].at < 1
    only = cast(DEMO, wanted(only="pytest"))
    assert (
        only.output == "Ran terminal command pytest -q (failed: exit 1)\r\nRan terminal command pytest -q\r\n"
    )
    assert only.events[-1].code == "x"
    assert cast(DEMO).comments == ["# not redacted"]
    [words] = cast(DEMO, wanted(raw=False)).comments
    assert words.startswith("# redacted: ")


def _waits(found: Cast) -> list[float]:
    times = [0, *(event.at for event in found.events)]
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.slow
def test_every_recording_can_be_written(captures: Captures) -> None:
    """Each line is one of the format, no output controls the terminal, and writing twice writes the same."""
    for path in every_recording(captures):
        with case(path):
            data = written(EXPORTER, path, RAW)
            found = read(data)
            assert found.header["term"] == {"cols": 120, "rows": 40, "type": "xterm-256color"}
            for event in found.events:
                assert event.data.removesuffix("\r\n").isprintable()
            assert 0 < len(found.header["title"]) <= 100
            assert written(EXPORTER, path, RAW) == data


def test_times_are_relative_and_do_not_drift() -> None:
    """Each time is rounded to a millisecond, and the sum of many is still the whole time."""
    cast = asciicast.Cast(1000)
    waits = [json.loads(cast.event(1000 + at * 33.4, Code.OUTPUT, "x"))[0] for at in range(1, 1001)]
    assert round(sum(waits), 3) == 33.4
    assert {*waits} == {0.033, 0.034}
    # A clock that goes back does not make a negative time, and what follows is not late.
    cast = asciicast.Cast(0)
    lines = [cast.event(at_ms, Code.MARKER, "") for at_ms in (500, 200, 700)]
    assert [json.loads(line)[0] for line in lines] == [0.5, 0, 0.2]
    # An escape character is written as `\u001b`, as the format requires.
    assert asciicast.Cast(0).event(0, Code.OUTPUT, "\x1b[2Jü") == '[0.0,"o","\\u001b[2Jü"]\n'.encode()
