"""A silence counts as quiet, and then as a stall, relative to the session and the processes."""

from __future__ import annotations

from agentwatch.session.agent_process import AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import Channel, Text
from agentwatch.session.reducers import apply_line
from tests.builders.lines import DONE, completed, delta, event, init, started, thought, thought_through, user
from tests.builders.sentences import BUSY, IDLE, paced, sentence, status_after


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
