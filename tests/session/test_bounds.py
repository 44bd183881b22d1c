"""A few large lines cannot fill the memory: each string that is kept is bounded, and so is their sum."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from agentwatch.session.bounds import bounded, bounded_id, bounded_members
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.lines import DONE, call, completed, delta, event, init, result, session, started, user
from tests.conftest import case

LARGE = "x" * 1_000_000


def unknown(number: int) -> Iterator[bytes]:
    """Yield a line with a large unknown type."""
    yield event(f"{number}{LARGE}", LARGE)


def shell(number: int) -> Iterator[bytes]:
    """Yield a call with large texts."""
    yield started("shell", f"c{number}", command=LARGE)
    yield completed("shell", f"c{number}", {"failure": {"error": LARGE}}, command=LARGE)


def unending(number: int) -> Iterator[bytes]:
    """Yield the start of a call with large ids."""
    yield event(
        "tool_call",
        "started",
        call_id=f"{number}{LARGE}",
        session_id=f"{number}{LARGE}",
        model_call_id=LARGE,
        tool_call={f"{LARGE}ToolCall": {"args": {"path": LARGE}}},
    )


def run(number: int) -> Iterator[bytes]:
    """Yield a run whose facts are large."""
    yield init(cwd=LARGE, model=LARGE, session_id=f"{number}{LARGE}")
    yield user(LARGE)
    yield result(LARGE, request_id=LARGE, usage={LARGE: LARGE})


def plan(number: int) -> Iterator[bytes]:
    """Yield an addition to the to-do list."""
    todos = [{"content": f"{number}{LARGE}", "status": "pending"}]
    yield completed("updateTodos", f"c{number}", DONE, todos=todos, merge=True)


def text(number: int) -> Iterator[bytes]:
    """Yield a large delta."""
    yield delta(f"{number}{LARGE}")


@pytest.mark.system
@pytest.mark.parametrize("count", [12, pytest.param(50, marks=pytest.mark.system)])
def test_large_lines_are_not_kept(count: int) -> None:
    """Lines of megabytes leave less than 8 MB in memory, for each kind of line that a session keeps."""
    cases: list[Callable[[int], Iterator[bytes]]] = [unknown, shell, unending, run, plan, text]
    for lines_of in cases:
        with case(lines_of):
            tracemalloc.start()
            reader = Reader()
            for number in range(count):
                for line in lines_of(number):
                    reader.take(line)
            del line
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert reader.session.lines.total > count
            assert kept < 8_000_000


class Reader:
    """Applies lines to a session one by one, and keeps none of them."""

    def __init__(self) -> None:
        from agentwatch.agents import Decoder
        from agentwatch.feed.line_joiner import LineJoiner
        from agentwatch.recording.lines import Line

        self.session = Session()
        self._joiner = LineJoiner(Decoder())
        self._line = Line
        self._offset = 0
        self.take(init())

    def take(self, line: bytes) -> None:
        """Apply a line."""
        for found in self._joiner.take(self._line(self._offset, line.removesuffix(b"\n"), None)):
            apply_line(self.session, *found)
        self._offset += len(line)


@pytest.mark.system
def test_thousands_of_calls_with_long_texts_are_packed() -> None:
    """8,000 calls with texts of 4,000 characters take less than 16 MB, and all of them are read back."""
    reader = Reader()
    lines = [completed("shell", "c-1", {"failure": {"error": "e" * 4_000}}, command="x" * 4_000)]
    tracemalloc.start()
    for number in range(8_000):
        reader.take(lines[0].replace(b"c-1", b"c%d" % number))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 16_000_000
    assert {(call.target, call.error) for call in reader.session.calls} == {("x" * 4_000, "e" * 4_000)}


def test_ids_that_differ_at_their_ends_stay_different() -> None:
    """Two calls whose long ids differ only in their last character are two calls, and each is paired."""
    first, second = "i" * 5_000 + "1", "i" * 5_000 + "2"
    lines = (started("read", first), started("read", second), completed("read", second, DONE))
    read = session(init(), *lines, is_over=False)
    assert [call.outcome for call in read.calls] == ["running", "succeeded"]
    assert all(len(call.call_id) == 512 for call in read.calls)


def test_usual_strings_are_kept_whole() -> None:
    """Ids of up to 512 characters and texts of up to 4,096 stay as they are."""
    found = call(*(line for line in (started("shell", "c" * 512, command="x" * 4_096),)))
    assert (found.call_id, found.target) == ("c" * 512, "x" * 4_096)
    assert bounded(None) is None
    assert bounded("x" * 4_097) == "x" * 4_095 + "…"
    assert bounded_id("x" * 513) != bounded_id("x" * 514)


def test_a_usage_object_is_bounded() -> None:
    """The token counts are kept unchanged; of an object with thousands of members, the first 256 are kept."""
    usage = {"input": 5, "note": "as it is", "none": None}
    assert bounded_members(usage) == usage
    assert bounded_members(None) is None
    assert len(bounded_members({str(number): number for number in range(9_000)}) or {}) == 256
    assert bounded_members({"k" * 5_000: "v" * 5_000}) == {"k" * 4_095 + "…": "v" * 4_095 + "…"}
