"""Repeated calls are reported as a loop once per episode, and only if they are equal."""

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.loops import Loop, Loops, arguments_of
from agentwatch.feed.feed import Feed
from agentwatch.session.call import Call
from agentwatch.text.safe import columns
from tests.builders.lines import completed, event, init, line, started


def calls(names: Iterable[str], run: int = 1) -> list[Call]:
    """Return a call for each name, with the name as its target."""
    return [Call(n, run, f"c-{n}", "shell", "Ran", target=name) for n, name in enumerate(names, 1)]


class Asked(Counter[int]):
    """Counts how often the arguments of each call were read."""

    def each_anew(self, call: Call) -> int:
        """Return different arguments for each call."""
        self[call.number] += 1
        return call.number

    def all_the_same(self, call: Call) -> int:
        """Return the same arguments for each call."""
        self[call.number] += 1
        return 0


def loops_of(names: str, *, step: int = 1) -> list[tuple[int, int, bool]]:
    """Return number, times and is_row of each loop, found in `step` calls at a time."""
    loops, made, found = Loops(lambda _call: ()), calls(names), list[Loop]()
    for end in range(step, len(made) + step, step):
        found += loops.update(made[:end])
    return [(loop.calls[-1].number, loop.times, loop.is_row) for loop in found]


def test_what_is_a_loop() -> None:
    """The fourth equal call in a row, a call that is six of the last ten, and the fourth round of two or
    three calls are one; fewer, and rounds of four calls, are none. Edits and tests in turn, calls of two
    runs, of other arguments or of another tool are not counted together. An episode is reported when it
    begins, and again only after nine other calls; another looping call is a second one. Calls taken one by
    one or together give the same loops; arguments are read once for repeated targets, and 100,000 calls at
    once cost as much as 50.
    """
    assert loops_of("aaa") == []
    assert loops_of("baaaa") == [(5, 4, True)]
    assert loops_of("aabaabaa") == [(8, 6, False)]
    assert loops_of("aabaabacd") == []
    assert loops_of("ab" * 3 + "a") == loops_of("abc" * 3 + "ab") == []
    assert loops_of("ab" * 50) == [(8, 4, True)]
    assert loops_of("d" + "abc" * 50) == [(13, 4, True)]
    assert loops_of("abcd" * 50) == []
    # What is not a loop.
    made = calls(["app.py", "pytest -q"] * 20)
    assert Loops(lambda call: call.number if call.target == "app.py" else 0).update(made) == []
    assert Loops(lambda call: None if call.target == "app.py" else 0).update(made) == []
    assert loops_of("ababab" + "x" + "ababab" + "x" + "ab") == []
    loops = Loops(lambda _call: ())
    made = calls("aaaa")
    made[3].run = 2
    assert loops.update(made) == []
    rounds = calls("abababab")
    for call in rounds[4:]:
        call.run = 2
    assert Loops(lambda _call: ()).update(rounds) == []
    assert Loops(lambda call: call.number).update(calls("aaaaaaaaaa")) == []
    assert Loops(lambda _call: None).update(calls("aaaaaaaaaa")) == []
    made = calls("aaaa")
    made[2].tool = "read"
    assert Loops(lambda _call: ()).update(made) == []
    # An episode is reported once.
    assert loops_of("aaaa" + "ba" * 20) == [(4, 4, True)]
    assert loops_of("ab" * 4 + "a" * 20) == [(8, 4, True)]
    assert loops_of("aab" * 20) == [(8, 6, False)]
    assert loops_of("ab" * 4 + "cdefghijk" + "ba" * 4) == [(8, 4, True), (25, 4, True)]
    assert loops_of("a" * 300) == [(4, 4, True)]
    assert loops_of("aaaab" + "a" * 20) == [(4, 4, True)]
    assert loops_of("aaaa" + "bcdefghi" + "aaaa") == [(4, 4, True)]
    assert loops_of("aaaa" + "bcdefghij" + "aaaa") == [(4, 4, True), (17, 4, True)]
    assert loops_of("aaaabbbb") == [(4, 4, True), (8, 4, True)]
    # Calls can be taken in any portions.
    chance = random.Random(6)
    for _ in range(200):
        names = "".join(chance.choices("aabcd", k=40))
        assert loops_of(names) == loops_of(names, step=7) == loops_of(names, step=40)
    asked = Asked()
    Loops(asked.each_anew).update(calls("abcdefghijabcxxxx"))
    assert asked == dict.fromkeys((14, 15, 16, 17), 1)
    asked = Asked()
    Loops(asked.all_the_same).update(calls("a" * 100_000))
    assert asked.total() == 50


def test_a_loop_is_described_in_one_line(tmp_path: Path) -> None:
    """The line is safe and has at most 80 columns, of which each call of a round gets its share. Edits of
    one file with different contents differ, ids are ignored; calls without a name, a target or an end are
    compared like others.
    """
    [row] = Loops(lambda _call: ()).update(calls(["pytest -q"] * 4))
    assert row.words() == "the same call 4 times in a row: shell pytest -q"
    [turns] = Loops(lambda _call: ()).update(calls(["a.py", "pytest -q"] * 4))
    assert turns.words() == "the same 2 calls repeated 4 times: shell a.py, shell pytest -q"
    some = Loop((calls(["x\x1b]0;a\x07\r" * 40])[0],), 6, False).words()
    assert some.startswith("the same call 6 times in the last 10: shell x␛]0;a␇␍")
    assert some.isprintable()
    assert len(some) == 80
    words = Loop(tuple(calls(["x" * 90, "東" * 90, "short"])), 4, True).words()
    first, second, third = words.partition(": ")[2].split(", ")
    assert first.startswith("shell xxx")
    assert second.startswith("shell 東")
    assert third == "shell short"
    assert columns(words) <= 80
    # Arguments are read from the recording.
    odd = [event("tool_call", "started", call_id=str(n), tool_call={"function": {}}) for n in range(6)]
    path = tmp_path / "session.ndjson"
    path.write_bytes(init() + b"".join(odd) + line({"type": "tool_call"}))
    feed = Feed(saved_source(path).reader)
    feed.advance()
    found = Loops(lambda call: arguments_of(feed, call)).update(feed.session.calls)
    assert [loop.times for loop in found] == [4]
    edits = [("1", "same"), ("2", "same"), ("3", "other")]
    lines = [init()]
    for call_id, text in edits:
        lines.append(started("edit", call_id, path="/a", fileText=text, toolCallId=call_id))
    lines.append(started("edit", "4", path="/a", fileText="x" * 70_000))
    lines.append(completed("edit", "5", {"success": {}}, path="/a"))
    path = tmp_path / "session.ndjson"
    path.write_bytes(b"".join(lines))
    feed = Feed(saved_source(path).reader)
    feed.advance()
    other_first, other_second, other_third, large, startless = (
        arguments_of(feed, call) for call in feed.session.calls
    )
    assert other_first == other_second != other_third
    assert other_first is not None
    assert large is None
    assert startless is None
