"""The times of spans come from one clock, and are there for a recording without any."""

import os
from pathlib import Path
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.builders import claude_lines
from tests.builders.lines import completed, init, result, started, user
from tests.output.export.otlp.collector import Collector
from tests.output.export.otlp.sent import sent

AT_MS = 1_770_000_000_000
NS = 1_000_000
DONE = {"success": {"content": "x"}}


def times(span: Span) -> tuple[float, float]:
    """Return when a span started and ended, in milliseconds after the time of these tests."""
    return span.start_time_unix_nano / NS - AT_MS, span.end_time_unix_nano / NS - AT_MS


def written(path: Path, lines: tuple[bytes, ...], arrivals: tuple[int, ...] = ()) -> Path:
    """Write a recording, and if given, when its lines arrived after the time of these tests."""
    path.write_bytes(b"".join(lines))
    offset = 0
    if arrivals:
        with open(path.with_suffix(".times"), "w", encoding="ascii") as file:
            for each, at_ms in zip(lines, arrivals, strict=True):
                file.write(f"{offset} {AT_MS + at_ms}\n")
                offset += len(each)
    return path


def untimed() -> tuple[bytes, ...]:
    """Return a session with two calls in a format without times."""
    uses: list[dict[str, Any]] = [
        {"type": "tool_use", "id": name, "name": "Read", "input": {}} for name in ("t-1", "t-2")
    ]
    lines = (
        claude_lines.init(),
        claude_lines.assistant(*uses),
        claude_lines.answer("x", "t-1"),
        claude_lines.answer("x", "t-2"),
        claude_lines.result("x", duration_ms=4000),
    )
    return tuple(map(claude_lines.written, lines))


def test_arrival_times_are_used_where_the_agent_has_none(backend: Collector, tmp_path: Path) -> None:
    """A format without times has those at which its lines arrived."""
    sent(written(tmp_path / "a.ndjson", untimed(), (0, 100, 300, 450, 900)))
    calls = [times(span) for span in backend.spans() if span.name == "execute_tool Read"]
    assert calls == [(100, 300), (100, 450)]
    assert times(backend.named("invoke_agent claude")) == (0, 900)
    # If the clocks differ by an hour, a run still begins just before its first call.
    backend.taken.clear()
    lines = (init(), user(), started("read", at_ms=AT_MS), completed("read", result=DONE, at_ms=AT_MS + 50))
    hour = 3_600_000
    sent(
        written(tmp_path / "a.ndjson", (*lines, result()), (hour - 20, hour - 10, hour, hour + 50, hour + 90))
    )
    assert times(backend.named("execute_tool read")) == (0, 50)
    assert times(backend.named("invoke_agent cursor")) == (-20, 90)
    # A recording without times ends when its file was last written; its calls are in order.
    backend.taken.clear()
    path = written(tmp_path / "b.ndjson", untimed())
    os.utime(path, (AT_MS / 1000 + 10, AT_MS / 1000 + 10))
    sent(path)
    run = backend.named("invoke_agent claude")
    assert times(run) == (6000, 10_000)
    spans = [span for span in backend.spans() if span.name == "execute_tool Read"]
    starts = [span.start_time_unix_nano - run.start_time_unix_nano for span in spans]
    assert starts == [1000, 2000]
    assert [span.end_time_unix_nano for span in spans] == [span.start_time_unix_nano for span in spans]
    # A call that ends before it starts, by clocks that jump, lasts no negative time.
    backend.taken.clear()
    one = (started("read", at_ms=AT_MS + 50), completed("read", result=DONE, at_ms=AT_MS))
    sent(written(tmp_path / "c.ndjson", (init(), user(), *one, result())))
    assert times(backend.named("execute_tool read")) == (50, 50)


def test_a_copy_has_the_same_ids(backend: Collector, tmp_path: Path) -> None:
    """The ids of a recording do not depend on its name or on the time of its file."""
    for number in range(2):
        path = written(tmp_path / f"{number}.ndjson", untimed())
        os.utime(path, (AT_MS / 1000 + number, AT_MS / 1000 + number))
        sent(path)
    ids = [(span.trace_id, span.span_id) for span in backend.spans()]
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == 3
    # Two recordings of a session that was resumed are two traces.
    backend.taken.clear()
    for number in range(2):
        at_ms = AT_MS + number * 60_000
        call = (started("read", at_ms=at_ms), completed("read", result=DONE, at_ms=at_ms + 1))
        sent(written(tmp_path / f"{number}.ndjson", (init(), user(), *call, result())))
    assert len({span.trace_id for span in backend.spans()}) == 2
