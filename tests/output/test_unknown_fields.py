"""The drift report lists what a recording contains and this version does not know, ready for an issue."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch import __version__
from agentwatch.agents.cursor.known_fields import unknown_fields
from agentwatch.agents.registry import checked_formats
from agentwatch.output.summary import summary
from agentwatch.output.unknown_parts import report
from agentwatch.recording.saved import open_saved
from agentwatch.text.amounts import plural
from agentwatch.text.safe import columns, safe_line
from tests.builders.captures import Captures
from tests.builders.lines import (
    ANY_JSON,
    CURSOR_SHAPED,
    PROPERTY,
    completed,
    event,
    final,
    init,
    result,
    session,
    started,
    thought,
    user,
)
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import watch

KNOWN = [path for path in sorted(RECORDINGS.glob("*.ndjson")) if path.stem not in ("unknown", "hostile")]

Drift = Callable[..., list[str]]


@pytest.fixture
def drift(tmp_path: Path) -> Drift:
    """Return a function that reports on a recording of these lines."""

    def read(*lines: bytes) -> list[str]:
        path = tmp_path / "case.ndjson"
        path.write_bytes(b"".join(lines))
        return list(report(open_saved(path)).lines())

    return read


def head(lines: int, unknown: int = 0, findings: int = 0, *, malformed: int = 0, name: str = "cursor") -> str:
    """Return the first line of a report."""
    counts = f"{plural(lines, 'line')}, {malformed} malformed, {unknown} unknown"
    return f"agentwatch {__version__}, format {name}: {counts}; {plural(findings, 'finding')}"


def test_nothing_is_listed_for_known_lines(captures: Captures) -> None:
    """Bundled recordings, captures of Cursor and the examples of its documentation have nothing unknown."""
    for path in KNOWN if captures.is_own else captures.find("docs/*.ndjson", "cursor/*.ndjson"):
        with case(path):
            [listed] = report(open_saved(path)).lines()
            counts = session(path.read_bytes()).lines
            assert listed == head(counts.total, malformed=counts.malformed)


def test_what_is_unknown_is_listed(drift: Drift) -> None:
    """A type, a tool, a result and a field are listed with their line and a sample."""
    # An unknown type and subtype are listed with their line as the sample.
    listed = drift(
        init(), event("weather", "sunny", degrees=21), user(), event("weather", "sunny", degrees=3)
    )
    fields = {"type": "weather", "subtype": "sunny", "session_id": "s-1", "degrees": 21}
    assert listed == [head(4, 2, 1), "2 × type weather/sunny, first in line 2", f"    {json.dumps(fields)}"]
    # An unknown tool is listed once for its lines, with the value of its key as the sample.
    listed = drift(
        init(), started("teleport", to="Mars"), completed("teleport", result={"success": {"x": 1}})
    )
    assert listed == [
        head(3, 2, 1),
        "2 × tool teleport, first in line 2",
        '    {"args": {"to": "Mars"}}',
    ]
    # An unknown result variant is listed with its tool.
    listed = drift(init(), completed("read", result={"postponed": {"until": 7}, "isBackground": False}))
    assert listed == [
        head(2, 1, 1),
        "1 × result postponed of tool read, first in line 2",
        '    {"until": 7}',
    ]
    # An unknown field is listed with its location and its value.
    for line, what, sample in FIELDS:
        with case(what):
            listed = drift(init(), user(), line)
            assert listed[0].endswith("; 1 finding")
            assert what in listed[1]
            assert listed[1].endswith("first in line 3")
            assert listed[2:] == [f"    {sample}"]
    # A line cut by raw line ends is joined for the report as it is for the session.
    cut = event("weather", text="a\nb").replace(b"\\n", b"\n")
    listed = drift(init(), cut)
    assert [line.split(",")[0] for line in listed[1::2]] == ["1 × type weather"]
    # Findings are ordered by frequency, then by their order in the recording.
    listed = drift(
        init(),
        event("one"),
        event("two"),
        event("three"),
        event("three"),
        b"\n",
        event("two"),
        event("three"),
    )
    assert [line.split(",")[0] for line in listed[1::2]] == ["3 × type three", "2 × type two", "1 × type one"]
    assert [line.rpartition(" ")[2] for line in listed[1::2]] == ["4", "3", "2"]
    # Unknown keys of one result are listed in the order of the line, so reports are reproducible.
    names = [f"variant{number}" for number in range(12)]
    listed = drift(init(), completed("read", result=dict.fromkeys(names, 1)))
    assert [line.split()[3] for line in listed[1::2]] == names


FIELDS: list[tuple[bytes, str, str]] = [
    (init(mood="fine"), "field mood of a system/init line", '"fine"'),
    (
        event("result", "success", mood=None, is_error=False, costs=[1, {"a": "é"}]),
        "costs",
        '[1, {"a": "é"}]',
    ),
    (event("user", message={}, locale="en"), "field locale of a user line", '"en"'),
    (
        final("x").replace(b'"session_id"', b'"mood": 1.5, "session_id"'),
        "mood of a assistant line",
        "1.5",
    ),
    (event("thinking", "delta", text="", depth=3), "field depth of a thinking/delta line", "3"),
    (event("retry", "starting", attempt=1, why=True), "field why of a retry/starting line", "true"),
    (started("read", path="a", colour="red"), "field colour in the arguments of tool read", '"red"'),
    (
        completed("shell", result={"success": {"exitCode": 0, "joules": 7}}),
        "field joules in a success of tool shell",
        "7",
    ),
    (
        event("tool_call", "started", call_id="c", tool_call={"readToolCall": {}, "beside": 1}),
        "field beside beside a tool",
        "1",
    ),
    (
        event("tool_call", "started", call_id="c", tool_call={"readToolCall": {"args": {}, "mode": "x"}}),
        "field mode of tool read",
        '"x"',
    ),
    (
        event("tool_call", "started", call_id="c", tool_call='{"lsToolCall": {"args": {"deep": 1}}}'),
        "field deep in the arguments of tool ls",
        "1",
    ),
]


def test_a_recording_of_no_known_agent_says_so(drift: Drift) -> None:
    """In a recording of no known agent, every event is listed by its type and counted as unknown."""
    assert drift() == [head(0, name="no known agent")]
    assert drift(b"oops\n", b"[1]\n") == [head(2, malformed=2, name="no known agent")]
    assert drift(event("report.started"), b'{"a":1}\n') == [
        head(2, 2, 2, name="no known agent"),
        "1 × type report.started of no known agent, first in line 1",
        '    {"type": "report.started", "session_id": "s-1"}',
        "1 × type None of no known agent, first in line 2",
        '    {"a": 1}',
    ]
    # Without a known agent the lines are listed as of no known agent.
    assert drift(event("hello"))[1] == "1 × type hello of no known agent, first in line 1"
    assert drift(*[event("hello")] * 60, init())[1] == "50 × type hello of no known agent, first in line 1"
    # A line before the first that only one agent writes is compared with that agent's known fields.
    assert drift(event("hello"), init(), user())[:2] == [head(3, 1, 1), "1 × type hello, first in line 1"]
    # Stderr text and incomplete lines are counted but not listed; blank lines are not counted.
    lines = (b"warning\n", b"\n", init(), b'{"type":"we', b"\n", thought("x"), b"7\n")
    assert drift(*lines) == [head(5, malformed=3)]
    # A recording of the json format can be reported on too.
    assert drift(result("x")) == [head(1)]
    # Names and samples from the stream do not act on a terminal, and each is one short line.
    evil = "\x1b[2J\n[/]\u202e"
    listed = drift(
        init(),
        event(evil, evil, **{evil: evil}),
        started(evil, path=evil * 200),
        completed("read", result={evil: evil, "success": {evil: evil}}),
    )
    assert listed[0].endswith("; 4 findings")
    for line in listed:
        assert line == safe_line(line)
        assert "\x1b" not in line
        assert "\n" not in line
    assert all(columns(safe_line(line)) <= 164 for line in listed[2::2])
    # A field whose name and value have a megabyte is reported in two lines of at most 250 characters.
    report_lines = drift(
        init(), event("user", message={"content": "x"}, **{"n" * 1_000_000: "v" * 1_000_000})
    )
    assert len(report_lines) == 3
    assert report_lines[1].startswith("1 × field nnn")
    assert max(map(len, report_lines)) < 250
    # A line with 30,000 unknown fields adds 10,000 findings.
    fields: dict[str, Any] = {f"f{nth}": nth for nth in range(30_000)}
    report_lines = drift(init(), event("user", None, message={"content": "x"}, **fields))
    assert report_lines[0] == head(2, 0, 10_000)


@pytest.mark.system
@PROPERTY
@given(CURSOR_SHAPED | st.dictionaries(st.text(max_size=3), ANY_JSON))
def test_no_line_raises(fields: dict[str, Any]) -> None:
    """The unknown parts of any line can be listed."""
    assert all(what for what, _ in unknown_fields(fields))


def test_unknown_lines_of_the_summary_are_listed() -> None:
    """The report lists something if and only if the summary counts unknown lines."""
    seen = set()
    for path in sorted(RECORDINGS.glob("*.ndjson")):
        with case(path):
            unknown = json.loads(b"".join(summary(session(path.read_bytes()))))["lines"]["unknown"]
            assert (len(list(report(open_saved(path)).lines())) > 1) == (unknown > 0)
            seen.add(unknown > 0)
    assert seen == {False, True}
    # The first line of the report has the line counts of the summary.
    for name in ("unknown", "hostile", "malformed", "two-runs"):
        with case(name):
            data = (RECORDINGS / f"{name}.ndjson").read_bytes()
            found = session(data).lines
            first = next(report(open_saved(RECORDINGS / f"{name}.ndjson")).lines())
            assert (
                first.partition(";")[0]
                == head(found.total, found.unknown, malformed=found.malformed).partition(";")[0]
            )


@pytest.mark.slow
def test_the_command_prints_the_report(recording: Saver) -> None:
    """`agentwatch doctor FILE` prints the report and exits with 0; for a missing file it exits with 2."""
    path = RECORDINGS / "unknown.ndjson"
    done = watch("doctor", path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == list(report(open_saved(path)).lines())
    assert "2 × tool weather, first in line 6" in done.stdout.decode()
    missing = watch("doctor", "no-such.ndjson")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert missing.stderr.count(b"\n") == 1
    # Of a format whose fields are not listed, unknown types are reported, and that only they are.
    lines = (
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "mood": "good"}},
        {"jsonrpc": "2.0", "id": 1, "method": "weather/today", "params": {}},
    )
    data = b"".join(json.dumps(fields).encode() + b"\n" for fields in lines)
    done = watch("doctor", recording(data))
    first, second, third, _ = done.stdout.decode().splitlines()
    assert first.endswith(", format acp: 2 lines, 0 malformed, 1 unknown; 1 finding")
    assert second == "only unknown types are listed: this version has no list of the fields of this format"
    assert third == "1 × method weather/today, first in line 2"
    # The report names the version and the day of the last check of a format, where there was one.
    checked = checked_formats()["claude-code"]
    data = b'{"type":"system","subtype":"init","session_id":"s","tools":[],"claude_code_version":"2.1.0"}\n'
    done = watch("doctor", recording(data))
    first, second, *_ = done.stdout.decode().splitlines()
    assert ", format claude-code: " in first
    result = f"{checked.wrong} wrong" if checked.wrong else "right"
    assert second == f"checked with version {checked.version} on {checked.day}: {result}"
