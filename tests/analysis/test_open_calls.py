"""The status of open calls and of silence, by their times and by those before."""

from typing import Any

from agentwatch.analysis.silence import is_quiet, is_stalled
from agentwatch.analysis.status import status
from agentwatch.session.agent_process import AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import Channel, Text
from agentwatch.session.reducers import apply_line
from tests.builders.lines import (
    DONE,
    completed,
    delta,
    event,
    init,
    result,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.sentences import BUSY, IDLE, NOW, of_step, paced, sentence, status_after
from tests.conftest import case


def test_open_calls_are_shown() -> None:
    """A running call is named with its time and its limit, without a clock without them; one from the
    future has run for 0 s. A call is quiet 30 s after its limit, and stalled 60 s after it; of several,
    when all are over and no line came for 30 s. A read that takes far longer than the newest reads is
    quiet, but not a command; without similar calls, one is after ten minutes. They are shown with their
    number, the number left, and the oldest, or the one over its limit.
    """
    cases: list[tuple[dict[str, Any], str]] = [
        ({"command": "make"}, "running make · 0:42"),
        ({"command": "make", "timeout": 120_000}, "running make · 0:42 of its 2:00 limit"),
        ({"command": "make", "timeout": 600_000}, "running make · 0:42 of its 10:00 limit"),
        ({"command": "make", "timeout": 42_000}, "running make · 0:42 of its 0:42 limit"),
        ({"command": "make", "timeout": 32_000}, "running make · 0:42, 0:10 over its limit"),
        ({"command": "make", "timeout": 0}, "running make · 0:42"),
        ({"command": "make", "timeout": -1}, "running make · 0:42"),
        ({"command": "make\nall"}, "running make ⏎ +1 line · 0:42"),
        ({"command": "ma\x1b[2Jke"}, "running ma␛[2Jke · 0:42"),
        ({}, "running shell · 0:42"),
    ]
    for args, words in cases:
        with case(args):
            lines = (init(), started("shell", **args))
            assert sentence(*lines, after_ms=42_000) == words
            assert sentence(*lines, after_ms=42_000, agent=BUSY) == f"{words} · its processes use CPU"
    line = started("shell", command="make", timeout=600_000)
    assert sentence(init(), line, after_ms=None) == "running make"
    untimed = session(init(), line, is_over=False)
    assert status(untimed, NOW) == "running make"
    assert not is_quiet(untimed, NOW)
    assert not is_quiet(session(init(), line, seen_ms=NOW, is_over=False), None)
    read = session(init(), started("shell", command="make"), is_over=False)
    apply_line(read, (), read.calls[0].started._replace(seen_ms=NOW), 0)  # type: ignore[union-attr]
    assert status(read, NOW + 99_000) == "running make"
    assert not is_quiet(read, NOW + 99_000)
    assert sentence(init(), started("shell", command="make"), after_ms=-5_000) == "running make · 0:00"
    # A call within its limit is not quiet.
    lines = (init(), started("shell", command="pytest -q", timeout=600_000))
    read = session(*lines, seen_ms=NOW, is_over=False)
    assert [is_quiet(read, NOW + ms) for ms in (0, 629_999, 630_000)] == [False, False, True]
    assert [is_stalled(read, NOW + ms) for ms in (659_999, 660_000)] == [False, True]
    assert not is_stalled(read, NOW + 660_000, BUSY)
    assert sentence(*lines, after_ms=659_999) == "running pytest -q · 10:59, 0:59 over its limit"
    assert sentence(*lines, after_ms=660_000) == "stalled? running pytest -q · 11:00, 1:00 over its limit"
    late = started("shell", "a", command="late", timeout=10_000)
    in_time = started("shell", "b", command="in time", timeout=500_000)
    read = session(init(), late, in_time, seen_ms=NOW, is_over=False)
    assert not is_quiet(read, NOW + 100_000)
    assert is_quiet(read, NOW + 530_000)
    noisy = paced([(0, init()), (0, late), (50, event("connection", "reconnected"))])
    assert not is_quiet(noisy[0], noisy[1] + 29_999)
    assert is_quiet(noisy[0], noisy[1] + 30_000)
    # Calls without a limit or in parallel.
    for tool, name in (("read", "read y"), ("shell", "y")):
        past = [
            other_line
            for number in range(5)
            for other_line in (
                (1, started(tool, f"p-{number}", command="x", path="x")),
                (4, completed(tool, f"p-{number}", DONE)),
            )
        ]
        other_read = paced([(0, init()), *past, (0, started(tool, "now", command="y", path="y"))])
        usual = " (usually under 0:05)" if tool == "read" else ""
        assert status_after(other_read, 4) == f"running {name} · 0:04"
        assert status_after(other_read, 62) == f"running {name} · 1:02{usual}"
        assert is_quiet(other_read[0], other_read[1] + 60_000) is (tool == "read")
        assert not is_quiet(other_read[0], other_read[1] + 59_999)
        assert is_quiet(other_read[0], other_read[1] + 600_000)
    reads = [
        other_line
        for number in range(5)
        for other_line in ((0, started("read", f"r-{number}")), (4, completed("read", f"r-{number}", DONE)))
    ]
    for past in ([(0, init())], [(0, init()), *reads]):
        seen, now = paced([*past, (0, started("webFetch", url="https://x.example"))])
        assert not is_quiet(seen, now + 599_999)
        assert is_quiet(seen, now + 600_000)
    past = [(0, init())]
    for number, length in enumerate([100] * 64 + [1] * 64):
        past += [(0, started("read", f"p-{number}")), (length, completed("read", f"p-{number}", DONE))]
    assert (
        status_after(paced([*past, (0, started("read", "now"))]), 6)
        == "running read · 0:06 (usually under 0:02)"
    )
    # Parallel calls of one step are counted down.
    other_lines = [init(), started("read", "before", path="z"), completed("read", "before", DONE)]
    other_lines += [of_step(name) for name in "abcd"]
    assert sentence(*other_lines, after_ms=3_000) == "4 parallel calls, 4 left: read a 0:03"
    other_lines += [completed("read", name, DONE) for name in "ab"]
    assert sentence(*other_lines, after_ms=3_000) == "4 parallel calls, 2 left: read c 0:03"
    other_lines += [completed("read", "c", DONE)]
    assert sentence(*other_lines, after_ms=12_000) == "4 parallel calls, 1 left: read d 0:12"
    assert sentence(*other_lines, after_ms=12_000, agent=IDLE).endswith(
        "read d 0:12 · its processes are idle"
    )
    assert sentence(init(), of_step("a"), after_ms=3_000) == "running read a · 0:03"
    many = [of_step(f"{number}") for number in range(300)]
    assert sentence(init(), *many) == "300 parallel calls, 300 left: read 0 0:00"
    later = [completed("read", f"l-{number}", DONE) for number in range(300)]
    assert sentence(*other_lines, *later).startswith("4 parallel calls, 1 left: read d")
    again = (result(), init(), of_step("a"))
    assert sentence(*other_lines, *again, after_ms=3_000) == "running read a · 0:03"
    other_lines = [started("read", name, path=name) for name in "abc"]
    other_words = sentence(init(), *other_lines, completed("read", "a", DONE), after_ms=3_000)
    assert other_words == "2 parallel calls, the oldest: read b 0:03"
    two_steps = (of_step("a"), of_step("b"), of_step("c", "m-2"))
    assert sentence(init(), *two_steps, after_ms=3_000) == "3 parallel calls, the oldest: read a 0:03"
    other_lines = [
        started("shell", name, command=name, timeout=limit) for name, limit in (("a", 90_000), ("b", 5_000))
    ]
    other_words = sentence(init(), *other_lines, after_ms=15_000)
    assert other_words == "2 parallel calls, overdue: b 0:15, 0:10 over its limit"


def thoughts(*seconds: int) -> list[tuple[int, bytes]]:
    """Return thoughts of these lengths, a piece each second, each followed by a wait of 2 s."""
    lines = [(0, init())]
    for length in seconds:
        lines += [(2, thought("a")), *[(1, thought("b"))] * length, (0, thought_through())]
    return lines


def waits(*seconds: int) -> list[tuple[int, bytes]]:
    """Return calls of no length, each preceded by a wait for the model of these seconds."""
    lines = [(0, init())]
    for number, length in enumerate(seconds):
        call_id = f"w-{number}"
        lines += [(length, started("read", call_id)), (0, completed("read", call_id, DONE))]
    return lines


def test_silences_and_pauses() -> None:
    """A thought shows the usual time if it is longer than nine of ten; a silence in it is compared with
    silences. The pause after the last delta counts as one. A wait shows its time from 5 s on, the usual
    time when it is longer, is quiet from three times that on, and then stalls. Only the newest 64 silences
    count. After 3 s of silence the state of the processes is shown; a busy process does not stall. The
    status of a paused agent names the rule; after the pause the silence begins again.
    """
    read = paced([*thoughts(3, 4, 8, 5, 8), (2, thought("a")), *[(1, thought("b"))] * 4])
    assert status_after(read, 0) == "thinking"
    assert status_after(read, 1) == "thinking · 0:05"
    read = paced([*thoughts(3, 4, 8, 5, 8), (2, thought("a")), *[(1, thought("b"))] * 9])
    assert status_after(read, 0) == "thinking · 0:09"
    assert status_after(read, 1) == "thinking · 0:10 (usually under 0:09)"
    assert status_after(read, 5) == "thinking · 0:14 (usually under 0:09)"
    few = paced([*thoughts(3, 4, 8, 5), (2, thought("a")), *[(1, thought("b"))] * 55])
    assert status_after(few, 4) == "thinking · 0:59"
    slow = paced([*thoughts(*[100] * 5), (2, thought("a")), *[(1, thought("b"))] * 62])
    assert status_after(slow, 0) == "thinking · 1:02"
    untimed = paced([*waits(1), (20, event("connection", "lost"))])
    apply_line(untimed[0], [Text(Channel.REASONING, "a")], Place(0, 1, None))
    assert status_after(untimed, 50) == "thinking"
    read = paced([*thoughts(60, 60, 60, 60, 60), (2, thought("a"))])
    assert status_after(read, 29) == "thinking · 0:29"
    assert status_after(read, 30) == "quiet for 0:30, no open call (usually under 0:02) · while thinking"
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
    assert status_after(read, 4) == "writing"
    assert status_after(read, 9) == "writing · quiet for 0:09"
    assert status_after(read, 11) == "writing · quiet for 0:11 (usually under 0:10)"
    # A wait is judged by the waits before it.
    read = paced(waits(12, 20, 3, 15, 18))
    assert status_after(read, 4) == "waiting for the model"
    assert status_after(read, 21) == "waiting for the model · 0:21"
    assert status_after(read, 22) == "waiting for the model · 0:22 (usually under 0:21)"
    assert status_after(read, 59).startswith("waiting")
    assert status_after(read, 60) == "quiet for 1:00, no open call (usually under 0:21)"
    assert status_after(read, 119) == "quiet for 1:59, no open call (usually under 0:21)"
    assert status_after(read, 120) == "stalled? quiet for 2:00, no open call (usually under 0:21)"
    slow = paced(waits(*[90] * 5))
    assert status_after(slow, 269) == "waiting for the model · 4:29 (usually under 1:31)".replace(
        "4:29", "4:29"
    )
    assert status_after(slow, 270) == "quiet for 4:30, no open call (usually under 1:31)"
    slower = paced(waits(*[300] * 5))
    assert status_after(slower, 400) == "waiting for the model · 6:40 (usually under 5:01)"
    read = paced(waits(1, 1, 1, 1, 1))
    assert status_after(read, 4) == "waiting for the model"
    assert status_after(read, 5) == "waiting for the model · 0:05 (usually under 0:02)"
    assert status_after(paced(waits(*[1] * 64, *[40] * 10)), 50).endswith("(usually under 0:41)")
    assert status_after(paced(waits(*[300] * 64, *[1] * 64)), 6).endswith("(usually under 0:02)")
    # Busy or paused is not stalled.
    lines = (init(), user())
    assert sentence(*lines, after_ms=2_999, agent=IDLE) == "waiting for the model"
    assert sentence(*lines, after_ms=3_000, agent=IDLE) == "waiting for the model · its processes are idle"
    idle = sentence(*lines, after_ms=200_000, agent=IDLE)
    assert idle == "stalled? quiet for 3:20, no open call · its processes are idle"
    busy = sentence(*lines, after_ms=200_000, agent=BUSY)
    assert busy == "quiet for 3:20, no open call · its processes use CPU"
    unknown = sentence(*lines, after_ms=200_000, agent=AgentFacts(4121))
    assert unknown == "stalled? quiet for 3:20, no open call"
    # A paused agent is not quiet and neither is the pause silence.
    other_read = paced([(0, init()), (2, user())])
    assert status_after(other_read, 600, AgentFacts(pid=7, paused_by="rm \x1boutside")).startswith(
        'paused by rule "rm '
    )
    before = status_after(other_read, 600)
    after = status_after(other_read, 600, AgentFacts(pid=7, continued_ms=other_read[1] + 595_000))
    assert "quiet for" in before
    assert "quiet" not in after
