"""One sentence says what goes on, and why it is quiet when it is quiet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from agentwatch.events import Channel, Text
from agentwatch.joining import LineJoiner
from agentwatch.recording import Line
from agentwatch.safe_text import SafeText, columns
from agentwatch.session import Place, Session
from agentwatch.silence import NO_FACTS, AgentFacts, is_quiet, is_stalled
from agentwatch.status import brief_clock, status
from agentwatch.wire import Decoder
from tests.lines import (
    completed,
    delta,
    event,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)

FAILED = completed("shell", "x", {"failure": {"exitCode": 1}})
DONE: dict[str, Any] = {"success": {}}
NOW = 1_000_000
BUSY = AgentFacts(4121, NOW, uses_cpu=True)
IDLE = AgentFacts(4121, NOW, uses_cpu=False)


def sentence(
    *lines: bytes,
    after_ms: int | None = 0,
    is_over: bool = False,
    agent: AgentFacts = NO_FACTS,
    room: int | None = None,
) -> str:
    """Return the status when all lines came at NOW and so many milliseconds have passed since."""
    read = session(*lines, seen_ms=NOW, is_over=is_over)
    return status(read, None if after_ms is None else NOW + after_ms, agent, room)


def paced(pieces: Iterable[tuple[int, bytes]]) -> tuple[Session, int]:
    """Return a session whose lines came so many seconds after the one before, and when the last came."""
    decoder, read, now = Decoder(), Session(), NOW
    joiner = LineJoiner(decoder)
    for seconds, data in pieces:
        now += seconds * 1000
        for found in joiner.take(Line(0, data.removesuffix(b"\n"), now)):
            read.apply(*found)
    return read, now


def told(read: tuple[Session, int], after_s: int, agent: AgentFacts = NO_FACTS) -> str:
    """Return the status so many seconds after the last line came."""
    return status(read[0], read[1] + after_s * 1000, agent)


def told_in(room: int, line: bytes) -> SafeText:
    """Return the status in so many columns, 12 s after a line."""
    return status(session(init(), line, seen_ms=NOW, is_over=False), NOW + 12_000, NO_FACTS, room)


def thoughts(*seconds: int) -> list[tuple[int, bytes]]:
    """Return thoughts that lasted so long, a piece each second, and after each a wait of 2 s."""
    lines = [(0, init())]
    for length in seconds:
        lines += [(2, thought("a")), *[(1, thought("b"))] * length, (0, thought_through())]
    return lines


def waits(*seconds: int) -> list[tuple[int, bytes]]:
    """Return calls of no length after which the model was waited for so long."""
    lines = [(0, init())]
    for number, length in enumerate(seconds):
        call_id = f"w-{number}"
        lines += [(length, started("read", call_id)), (0, completed("read", call_id, DONE))]
    return lines


def test_before_the_first_event() -> None:
    """Before anything came, the status waits for it; it takes an agent about 8 s."""
    assert sentence() == "waiting for the first event"
    assert sentence(after_ms=None) == "waiting for the first event"
    assert sentence(after_ms=8_000, agent=BUSY) == "waiting for the first event · its processes use CPU"
    assert sentence(after_ms=62_000, agent=BUSY) == "quiet for 62 s, no event yet · its processes use CPU"
    assert sentence(after_ms=99_000) == "waiting for the first event"


@pytest.mark.parametrize(
    ("lines", "words", "in_the_middle"),
    [
        ((user(),), "waiting for the model", ""),
        ((thought("hm"), thought_through()), "waiting for the model", ""),
        ((delta("I"), started("read"), completed("read")), "waiting for the model", ""),
        ((result(), init()), "waiting for the model", ""),
        ((thought("hm"),), "thinking", " · in the middle of a thought"),
        ((delta("I"),), "writing", " · it was writing"),
    ],
)
def test_what_the_model_does(lines: tuple[bytes, ...], words: str, in_the_middle: str) -> None:
    """Without an open call the model thinks, writes or is waited for; without a history a minute is quiet."""
    for after_ms in (0, 59_999, None):
        assert sentence(init(), *lines, after_ms=after_ms) == words
    quiet = f"quiet for 60 s, no open call{in_the_middle}"
    assert sentence(init(), *lines, after_ms=60_000) == quiet
    assert sentence(init(), *lines, after_ms=119_999) == quiet.replace("60", "119")
    assert sentence(init(), *lines, after_ms=120_000) == f"stalled? {quiet.replace('60', '120')}"


def test_a_thought_is_timed_when_it_is_longer_than_usual() -> None:
    """A thought that goes on for longer than nine of ten in this session did is told with its time."""
    read = paced([*thoughts(3, 4, 8, 5, 8), (2, thought("a")), *[(1, thought("b"))] * 9])
    assert told(read, 0) == "thinking"
    assert told(read, 1) == "thinking · 10 s (usually under 9)"
    assert told(read, 5) == "thinking · 14 s (usually under 9)"
    few = paced([*thoughts(3, 4, 8, 5), (2, thought("a")), *[(1, thought("b"))] * 55])
    assert told(few, 4) == "thinking"
    assert told(few, 5) == "thinking · 60 s"
    slow = paced([*thoughts(*[100] * 5), (2, thought("a")), *[(1, thought("b"))] * 62])
    assert told(slow, 0) == "thinking"
    untimed = paced([*waits(1), (20, event("connection", "lost"))])
    untimed[0].apply([Text(Channel.REASONING, "a")], Place(0, 1, None))
    assert told(untimed, 50) == "thinking"


def test_a_short_wait_is_not_told_though_it_is_longer_than_usual() -> None:
    """In a brisk session two seconds are no news; the fifth is."""
    read = paced(waits(1, 1, 1, 1, 1))
    assert told(read, 4) == "waiting for the model"
    assert told(read, 5) == "waiting for the model · 5 s (usually under 2)"


def test_a_wait_is_judged_by_the_waits_before_it() -> None:
    """A wait is told from what is usual here on, is quiet from three times that on, and then stalls."""
    read = paced(waits(12, 20, 3, 15, 18))
    assert told(read, 21) == "waiting for the model"
    assert told(read, 22) == "waiting for the model · 22 s (usually under 21)"
    assert told(read, 59).startswith("waiting")
    assert told(read, 60) == "quiet for 60 s, no open call (usually under 21)"
    assert told(read, 119) == "quiet for 119 s, no open call (usually under 21)"
    assert told(read, 120) == "stalled? quiet for 120 s, no open call (usually under 21)"
    slow = paced(waits(*[90] * 5))
    assert told(slow, 269) == "waiting for the model · 269 s (usually under 91)".replace("269 s", "4:29")
    assert told(slow, 270) == "quiet for 4:30, no open call (usually under 91)"
    slower = paced(waits(*[300] * 5))
    assert told(slower, 400) == "waiting for the model · 6:40 (usually under 5:01)"


def test_what_was_long_ago_does_not_count() -> None:
    """The newest 64 silences are the measure: a session that has become slow is not called quiet for it."""
    assert told(paced(waits(*[1] * 64, *[40] * 10)), 50).endswith("(usually under 41)")
    assert told(paced(waits(*[300] * 64, *[1] * 64)), 6).endswith("(usually under 2)")


def test_a_stream_of_deltas_is_no_measure_of_the_pause_after_it() -> None:
    """After its last delta a model may be silent for long, over a call's arguments: that pause counts."""
    text = [
        line
        for number in range(5)
        for line in (
            *[(0, delta("a"))] * 50,
            (9, started("edit", f"e-{number}")),
            (0, completed("edit", f"e-{number}", DONE)),
        )
    ]
    read = paced([(0, init()), *text, (0, delta("a"))])
    assert told(read, 9) == "writing"
    assert told(read, 11) == "writing · quiet for 11 s (usually under 10)"


def test_a_silence_within_a_thought_is_quiet() -> None:
    """A thought that brings nothing more is quiet by the silences in other thoughts, however long it is."""
    read = paced([*thoughts(60, 60, 60, 60, 60), (2, thought("a"))])
    assert told(read, 29) == "thinking"
    assert told(read, 30) == "quiet for 30 s, no open call (usually under 2) · in the middle of a thought"


def test_processes_that_work_are_no_stall() -> None:
    """What its processes do is told once it is silent; using CPU they do not hang."""
    lines = (init(), user())
    assert sentence(*lines, after_ms=2_999, agent=IDLE) == "waiting for the model"
    assert sentence(*lines, after_ms=3_000, agent=IDLE) == "waiting for the model · its processes are idle"
    idle = sentence(*lines, after_ms=200_000, agent=IDLE)
    assert idle == "stalled? quiet for 3:20, no open call · its processes are idle"
    busy = sentence(*lines, after_ms=200_000, agent=BUSY)
    assert busy == "quiet for 3:20, no open call · its processes use CPU"
    unknown = sentence(*lines, after_ms=200_000, agent=AgentFacts(4121))
    assert unknown == "stalled? quiet for 3:20, no open call"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": "make"}, "running make · 42 s"),
        ({"command": "make", "timeout": 120_000}, "running make · 42 s of its 120 s limit"),
        ({"command": "make", "timeout": 600_000}, "running make · 42 s of its 10:00 limit"),
        ({"command": "make", "timeout": 42_000}, "running make · 42 s of its 42 s limit"),
        ({"command": "make", "timeout": 32_000}, "running make · 42 s, 10 s over its limit"),
        ({"command": "make", "timeout": 0}, "running make · 42 s"),
        ({"command": "make", "timeout": -1}, "running make · 42 s"),
        ({"command": "make\nall"}, "running make · 42 s"),
        ({"command": "ma\x1b[2Jke"}, "running ma␛[2Jke · 42 s"),
        ({}, "running shell · 42 s"),
    ],
)
def test_one_open_call_is_told_with_its_time(args: dict[str, Any], words: str) -> None:
    """A running call is named, with its time and its limit; that is why it is quiet."""
    lines = (init(), started("shell", **args))
    assert sentence(*lines, after_ms=42_000) == words
    assert sentence(*lines, after_ms=42_000, agent=BUSY) == f"{words} · its processes use CPU"


def test_a_call_within_its_limit_is_not_quiet() -> None:
    """A call has its whole limit and 30 s to come back before it is quiet, and 60 s before it stalls."""
    lines = (init(), started("shell", command="pytest -q", timeout=600_000))
    read = session(*lines, seen_ms=NOW, is_over=False)
    assert [is_quiet(read, NOW + ms) for ms in (0, 629_999, 630_000)] == [False, False, True]
    assert [is_stalled(read, NOW + ms) for ms in (659_999, 660_000)] == [False, True]
    assert not is_stalled(read, NOW + 660_000, BUSY)
    assert sentence(*lines, after_ms=659_999) == "running pytest -q · 10:59, 59 s over its limit"
    assert sentence(*lines, after_ms=660_000) == "stalled? running pytest -q · 11:00, 60 s over its limit"


def test_a_call_without_a_limit_is_judged_by_its_like() -> None:
    """A read that takes far longer than reads do here is quiet; of commands no two are alike."""
    for tool, name in (("read", "read y"), ("shell", "y")):
        past = [
            line
            for number in range(5)
            for line in (
                (1, started(tool, f"p-{number}", command="x", path="x")),
                (4, completed(tool, f"p-{number}", DONE)),
            )
        ]
        read = paced([(0, init()), *past, (0, started(tool, "now", command="y", path="y"))])
        usual = " (usually under 5)" if tool == "read" else ""
        assert told(read, 4) == f"running {name} · 4 s"
        assert told(read, 62) == f"running {name} · 62 s{usual}"
        assert is_quiet(read[0], read[1] + 60_000) is (tool == "read")
        assert not is_quiet(read[0], read[1] + 59_999)
        assert is_quiet(read[0], read[1] + 600_000)


def test_an_unlike_call_without_a_limit_has_ten_minutes() -> None:
    """Where nothing like it went before, a call without a limit is quiet after ten minutes."""
    reads = [
        line
        for number in range(5)
        for line in ((0, started("read", f"r-{number}")), (4, completed("read", f"r-{number}", DONE)))
    ]
    for past in ([(0, init())], [(0, init()), *reads]):
        read, now = paced([*past, (0, started("webFetch", url="https://x.example"))])
        assert not is_quiet(read, now + 599_999)
        assert is_quiet(read, now + 600_000)


def test_the_newest_calls_are_the_measure() -> None:
    """A call is judged by the newest of its like, as long ago the tool may have been another."""
    past = [(0, init())]
    for number, length in enumerate([100] * 64 + [1] * 64):
        past += [(0, started("read", f"p-{number}")), (length, completed("read", f"p-{number}", DONE))]
    assert told(paced([*past, (0, started("read", "now"))]), 6) == "running read · 6 s (usually under 2)"


def test_one_call_that_has_its_time_explains_the_silence() -> None:
    """With several open calls it is quiet when all have used up their time, and no line has come for long."""
    late = started("shell", "a", command="late", timeout=10_000)
    in_time = started("shell", "b", command="in time", timeout=500_000)
    read = session(init(), late, in_time, seen_ms=NOW, is_over=False)
    assert not is_quiet(read, NOW + 100_000)
    assert is_quiet(read, NOW + 530_000)
    noisy = paced([(0, init()), (0, late), (50, event("connection", "reconnected"))])
    assert not is_quiet(noisy[0], noisy[1] + 29_999)
    assert is_quiet(noisy[0], noisy[1] + 30_000)


def test_a_time_that_is_not_known_is_not_told() -> None:
    """Without a clock the call is named, and neither its time nor its limit is."""
    line = started("shell", command="make", timeout=600_000)
    assert sentence(init(), line, after_ms=None) == "running make"
    untimed = session(init(), line, is_over=False)
    assert status(untimed, NOW) == "running make"
    assert not is_quiet(untimed, NOW)
    assert not is_quiet(session(init(), line, seen_ms=NOW, is_over=False), None)


def test_a_call_that_began_at_no_known_time_is_not_late() -> None:
    """A call whose start bears no time of arrival is neither timed nor called quiet, whatever came since."""
    read = session(init(), started("shell", command="make"), is_over=False)
    read.apply((), read.calls[0].started._replace(seen_ms=NOW), 0)  # type: ignore[union-attr]
    assert status(read, NOW + 99_000) == "running make"
    assert not is_quiet(read, NOW + 99_000)


def test_a_clock_that_runs_backwards_is_at_zero() -> None:
    """A call that began in the future has run for no time."""
    assert sentence(init(), started("shell", command="make"), after_ms=-5_000) == "running make · 0 s"


def of_step(name: str, step: str = "m-1") -> bytes:
    """Return the start of a read that a model step asked for."""
    line = started("read", name, path=name)
    return line.replace(b'"call_id"', b'"model_call_id": "%s", "call_id"' % step.encode())


def test_parallel_calls_of_one_step_are_counted_down() -> None:
    """Of the calls that one model step asked for it is told how many there were, are left, and the oldest."""
    lines = [init(), started("read", "before", path="z"), completed("read", "before", DONE)]
    lines += [of_step(name) for name in "abcd"]
    assert sentence(*lines, after_ms=3_000) == "4 parallel calls, 4 left: read a 3 s"
    lines += [completed("read", name, DONE) for name in "ab"]
    assert sentence(*lines, after_ms=3_000) == "4 parallel calls, 2 left: read c 3 s"
    lines += [completed("read", "c", DONE)]
    assert sentence(*lines, after_ms=12_000) == "4 parallel calls, 1 left: read d 12 s"
    assert sentence(*lines, after_ms=12_000, agent=IDLE).endswith("read d 12 s · its processes are idle")
    assert sentence(init(), of_step("a"), after_ms=3_000) == "running read a · 3 s"
    many = [of_step(f"{number}") for number in range(300)]
    assert sentence(init(), *many) == "300 parallel calls, 300 left: read 0 0 s"
    later = [completed("read", f"l-{number}", DONE) for number in range(300)]
    assert sentence(*lines, *later).startswith("4 parallel calls, 1 left: read d")
    again = (result(), init(), of_step("a"))
    assert sentence(*lines, *again, after_ms=3_000) == "running read a · 3 s"


def test_open_calls_of_several_steps_are_told_by_the_oldest() -> None:
    """Of open calls that no step binds together the number is told and the one that began first."""
    lines = [started("read", name, path=name) for name in "abc"]
    words = sentence(init(), *lines, completed("read", "a", DONE), after_ms=3_000)
    assert words == "2 parallel calls, the oldest: read b 3 s"
    two_steps = (of_step("a"), of_step("b"), of_step("c", "m-2"))
    assert sentence(init(), *two_steps, after_ms=3_000) == "3 parallel calls, the oldest: read a 3 s"


def test_the_call_that_is_over_its_limit_is_told_first() -> None:
    """Among parallel calls the one that should have come back is the news."""
    lines = [
        started("shell", name, command=name, timeout=limit) for name, limit in (("a", 90_000), ("b", 5_000))
    ]
    words = sentence(init(), *lines, after_ms=15_000)
    assert words == "2 parallel calls, one late: b 15 s, 10 s over its limit"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((result(),), "succeeded"),
        ((FAILED, result()), "succeeded · 1 call failed on the way"),
        ((FAILED, completed("read", "y", {"error": {}}), result()), "succeeded · 2 calls failed on the way"),
        ((completed("shell", "x", {"rejected": {}}), result()), "succeeded"),
        ((FAILED, result("No", is_error=True)), "failed: No"),
        ((result("No\nmore", is_error=True),), "failed: No"),
        ((result("\n a\x1b[2J \nb", is_error=True),), "failed: a␛[2J "),
        ((result(None, is_error=True),), "failed: no reason given"),
        ((result(" \n", is_error=True),), "failed: no reason given"),
    ],
)
def test_a_result_is_the_last_word(lines: tuple[bytes, ...], words: str) -> None:
    """After the result the status is its outcome, whatever time passes, before the end and after."""
    for is_over in (False, True):
        assert sentence(init(), *lines, after_ms=99_000, is_over=is_over) == words
        read = session(init(), *lines, seen_ms=NOW, is_over=is_over)
        assert not is_quiet(read, NOW + 9_000_000)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "ended without a result"),
        ((init(), user()), "ended without a result"),
        ((init(), started("shell")), "ended without a result · 1 call never completed"),
        ((init(), started("a", "a"), started("b", "b")), "ended without a result · 2 calls never completed"),
    ],
)
def test_an_end_without_a_result_is_all_that_is_known(lines: tuple[bytes, ...], words: str) -> None:
    """A stream that ends without a result neither succeeded nor failed, though it held nothing at all."""
    assert sentence(*lines, is_over=True) == words


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (AgentFacts(exit_code=1, stderr=" no\x1b login "), "exit 1 · stderr: no␛ login"),
        (AgentFacts(exit_code=1), "exit 1"),
        (AgentFacts(exit_code=0), "exit 0"),
        (AgentFacts(exit_code=137), "exit 137 (SIGKILL)"),
        (AgentFacts(exit_code=255, stderr="x" * 999), f"exit 255 · stderr: {'x' * 119}…"),
    ],
)
def test_how_the_process_ended_explains_an_end_without_a_result(agent: AgentFacts, words: str) -> None:
    """Under `run` the exit code and the last line of stderr say why there is no result."""
    assert sentence(is_over=True, agent=agent) == f"ended without a result · {words}"
    told_all = sentence(init(), started("shell"), is_over=True, agent=agent)
    assert told_all == f"ended without a result · {words} · 1 call never completed"


def test_an_exit_code_beside_a_result_is_told() -> None:
    """A result that its process does not confirm is told with the exit code; a reason needs no stderr."""
    ended = AgentFacts(exit_code=1, stderr="oops")
    assert sentence(init(), result(), is_over=True, agent=ended) == "succeeded · exit 1"
    assert sentence(init(), result(), is_over=True, agent=AgentFacts(exit_code=0)) == "succeeded"
    failed = (init(), result("No login", is_error=True))
    assert sentence(*failed, is_over=True, agent=ended) == "failed: No login · exit 1"
    unsaid = sentence(init(), result(None, is_error=True), is_over=True, agent=ended)
    assert unsaid == "failed: no reason given · exit 1 · stderr: oops"


def test_a_process_that_outlives_its_result_is_told() -> None:
    """Half a minute after the result a process that is still there is the news: agents hang then."""
    lines = (init(), result())
    assert sentence(*lines, after_ms=29_999, agent=IDLE) == "succeeded"
    words = "result came 30 s ago, process 4121 still alive · succeeded"
    assert sentence(*lines, after_ms=30_000, agent=IDLE) == words
    assert sentence(*lines, after_ms=30_000, agent=AgentFacts(exit_code=0)) == "succeeded"
    assert sentence(*lines, after_ms=None, agent=IDLE) == "succeeded"


@pytest.mark.parametrize(
    "path", ["/home/ada/app/" + "deep/" * 20 + "test_nearest.py", "東京/" * 30 + "東.py"]
)
def test_a_path_keeps_its_end(path: str) -> None:
    """In little room a path makes place for the time, and keeps its end, which names the file."""
    words = told_in(37, started("read", path=path))
    assert words.startswith("running read …")
    assert words.endswith(path[-4:] + " · 12 s")
    assert columns(words) in (36, 37)
    assert told_in(37, started("read", path="a/b.py")) == "running read a/b.py · 12 s"


COMMAND = started("shell", command="pytest -q " + "tests/test_nearest.py " * 9, timeout=120_000)
LATE = COMMAND.replace(b"120000", b"2000")
FETCH = started("webFetch", "f", url="https://docs.example.org/tide/tables")
STEP = tuple(of_step(name) for name in "abc")
MANY = tuple(started("shell", name, command=name, timeout=5000) for name in "ab")


@pytest.mark.parametrize(
    ("lines", "agent", "room", "words"),
    [
        ((COMMAND,), NO_FACTS, 37, "running pytest -q te… · 12 s of 120 s"),
        (
            (COMMAND,),
            IDLE,
            70,
            "running pytest -q tests/test_nearest.py tes… · 12 s of its 120 s limit",
        ),
        ((LATE,), NO_FACTS, 37, "running pytest -q … · 12 s, 10 s over"),
        ((COMMAND,), NO_FACTS, 60, "running pytest -q tests/test_near… · 12 s of its 120 s limit"),
        ((COMMAND,), IDLE, 60, "running pytest -q tests/test_near… · 12 s of its 120 s limit"),
        (
            (COMMAND,),
            IDLE,
            75,
            "running pytest -q tests… · 12 s of its 120 s limit · its processes are idle",
        ),
        ((FETCH,), NO_FACTS, 37, "running webFetch https://docs… · 12 s"),
        ((FETCH,), NO_FACTS, 24, "running webFetch · 12 s"),
        (STEP, NO_FACTS, 37, "3 of 3 left: read a 12 s"),
        ((*STEP[:2], FETCH), NO_FACTS, 37, "3 calls, the oldest: read a 12 s"),
        (MANY, NO_FACTS, 37, "2 calls, the oldest: a 12 s, 7 s over"),
        ((started("t" * 99, "t", x="y"),), NO_FACTS, 37, "running tttttttttt… ttttttttt… · 12 s"),
    ],
)
def test_a_narrow_screen_still_has_the_answer(
    lines: tuple[bytes, ...], agent: AgentFacts, room: int, words: str
) -> None:
    """In little room the words are fewer, and what a call is about gives way to its time."""
    found = sentence(init(), *lines, after_ms=12_000, agent=agent, room=room)
    assert found == words
    assert len(found) <= room


@pytest.mark.parametrize(
    ("lines", "after_s", "is_over", "agent", "words"),
    [
        ((user(),), 119, False, NO_FACTS, "quiet 119 s, no open call"),
        ((user(),), 120, False, NO_FACTS, "stalled? quiet 120 s, no open call"),
        ((user(),), 120, False, BUSY, "quiet 120 s, no open call · uses CPU"),
        ((COMMAND,), 190, False, NO_FACTS, "stalled? pytest -… · 190 s, 70 s over"),
        ((result(),), 30, False, IDLE, "process 4121 alive 30 s after result…"),
        (
            (user(),),
            0,
            True,
            AgentFacts(exit_code=1, stderr="no login"),
            "no result · exit 1 · stderr: no login",
        ),
    ],
)
def test_a_silence_is_explained_in_forty_columns(
    lines: tuple[bytes, ...],
    after_s: int,
    is_over: bool,
    agent: AgentFacts,
    words: str,
) -> None:
    """A screen of 40 columns says whether it hangs, and by what evidence; what is cut off is marked."""
    found = sentence(init(), *lines, after_ms=after_s * 1000, is_over=is_over, agent=agent, room=37)
    assert found == words


def test_with_room_enough_nothing_is_cut() -> None:
    """A command is cut at 60 columns even where there is room, so that its time is found."""
    command = "pytest -q " + "tests/test_nearest.py " * 9
    words = f"running {command[:59]}… · 12 s of its 120 s limit"
    for room in (None, 200):
        assert sentence(init(), COMMAND, after_ms=12_000, room=room) == words
        assert sentence(init(), COMMAND, after_ms=12_000, room=room, agent=IDLE).startswith(words)


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0 s"),
        (999, "0 s"),
        (199_999, "199 s"),
        (200_000, "3:20"),
        (3_599_000, "59:59"),
        (3_723_000, "1:02:03"),
    ],
)
def test_a_clock_for_the_corner_of_an_eye(ms: int, words: str) -> None:
    """Times are in whole seconds, and from 200 s on in minutes and hours."""
    assert brief_clock(ms) == words


def test_a_status_is_one_line() -> None:
    """No field of the stream or of the process breaks the status line."""
    hostile = "a\r\nb\u2028c\x85d"
    for lines in (
        (started("weather" + hostile, place=hostile),),
        (started("shell", command=hostile, timeout=1),),
        (event("result", "error", is_error=True, result=hostile),),
        (segment(hostile),),
    ):
        for is_over in (False, True):
            agent = AgentFacts(exit_code=1, stderr=hostile)
            words = sentence(init(), *lines, after_ms=99_000, is_over=is_over, agent=agent, room=37)
            assert len(words.splitlines()) == 1
