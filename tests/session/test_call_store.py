"""All calls of a session and of its earlier lines are available unchanged, although old ones are packed."""

from collections.abc import Iterator
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.feed.checkpoints import EarlierCalls
from agentwatch.session import call as call_module
from agentwatch.session.call import Call, CallOrder, Calls, EndedCalls, Place
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import keep_few
from agentwatch.session.session import Session
from agentwatch.session.storage import Spill
from agentwatch.session.transcript import Kind
from tests.builders.lines import PROPERTY, completed, init, result, session, started

MANY = 500
MOST_SETTLED = call_module._MOST_SETTLED
NUMBERS = st.none() | st.integers(-(1 << 63), 1 << 63)
TEXTS = st.none() | st.text("ab\n é🙂\ud83d", max_size=9)
PLACES = st.none() | st.builds(Place, st.integers(0, 1 << 60), st.integers(0, 1 << 60), NUMBERS)
CALLS = st.builds(
    Call,
    number=st.just(1),
    run=st.integers(1, 9),
    **{name: st.text("ab\n é🙂\ud83d", max_size=9) for name in ("call_id", "tool", "phrase")},
    **dict.fromkeys(("target", "path", "group", "error", "note"), TEXTS),
    **dict.fromkeys(("limit_ms", "exit_code", "lines_added", "lines_removed"), NUMBERS),
    **dict.fromkeys(("started_ms", "ended_ms"), NUMBERS),
    **dict.fromkeys(("started", "ended"), PLACES),
    outcome=st.sampled_from(Outcome),
    has_result=st.booleans(),
)


@pytest.fixture(autouse=True, scope="module")
def _few_unpacked() -> Iterator[None]:
    """Pack all but the newest 32 settled calls, and drop those that are not referenced from 128 on."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(call_module, "_MOST_SETTLED", 32)
        patched.setattr(call_module, "_LEAST_HELD", 128)
        yield


def many(count: int = MANY) -> Calls:
    """Return `count` calls that have ended, most of them packed."""
    calls = Calls()
    for number in range(1, count + 1):
        calls.add(Call(number, 1, f"c-{number}", "read", "Read file", target=f"{number}.py"))
        calls.settle(calls[-1])
    return calls


@PROPERTY
@given(CALLS)
def test_a_packed_call_is_the_same(call: Call) -> None:
    """Each field is unpacked with its value and type, including lone surrogates and large numbers."""
    expected = [getattr(call, field.name) for field in fields(Call)]
    calls = Calls()
    calls.add(replace(call))
    calls.settle(calls[0])
    for number in range(2, 60):
        calls.add(Call(number, 1, "", "read", "Read file"))
        calls.settle(calls[-1])
    found = [getattr(calls[0], field.name) for field in fields(Call)]
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


def test_calls_are_a_sequence() -> None:
    """The store has a length, indices and slices; `indices` returns those of a range, and an entry refers
    to its call or its turn's end. A call that is referenced while it is packed or unpacked is returned as
    the same object. A start that arrives 500 calls after its end is applied, and a changed call is packed
    with the change.
    """
    calls = many()
    assert [call.number for call in calls] == list(range(1, MANY + 1))
    assert [call.target for call in calls[1:7:3]] == ["2.py", "5.py"]
    assert (calls[-1].number, calls[-MANY].number, calls[MANY:]) == (MANY, 1, [])
    order = EndedCalls(calls)
    for index in (7, 0, 400):
        order.append(calls[index])
    assert [call.number for call in order] == [8, 1, 401]
    assert [call.number for call in order[-2:]] == [1, 401]
    assert next(reversed(order)).number == 401
    calls = many(9)
    order = EndedCalls(calls)
    for index in (7, 0, 5, 2):
        order.append(calls[index])
    assert order.indices(1, 3) == [0, 5]
    assert order.indices(3, 9) == [2]
    assert list(CallOrder(calls, [4, 1])) == [calls[4], calls[1]]
    assert CallOrder(calls, [4, 1])[-1:] == [calls[1]]
    read = session(init(), *(line for n in range(600) for line in (started("read", f"{n}"),)), result("done"))
    references = {entry.kind: (entry.call, entry.result) for entry in reversed(read.transcript)}
    assert references == {Kind.CALL: (read.calls[0], None), Kind.RESULT: (None, read.run.turn_result)}
    assert [entry.text for entry in read.transcript[-1:]] == [""]
    # Calls stay the same.
    other_calls = many(10)
    held = other_calls[3]
    for number in range(11, MANY):
        other_calls.add(Call(number, 1, "", "read", "Read file"))
        other_calls.settle(other_calls[-1])
    assert other_calls[3] is held
    old = other_calls[5]
    assert all(
        other_call is other_calls[other_index] for other_index, other_call in enumerate(list(other_calls))
    )
    assert other_calls[5] is old
    # A packed call can be changed.
    others = [
        other_line
        for other_n in range(MANY)
        for other_line in (started("read", f"{other_n}"), completed("read", f"{other_n}"))
    ]
    other_read = session(
        init(),
        completed("read", "late", at_ms=9),
        *others,
        started("read", "late", at_ms=5, path="/a"),
        *others,
        completed("read", "late", at_ms=99),
    )
    assert (other_read.calls[0].started_ms, other_read.calls[0].ended_ms, other_read.calls[0].path) == (
        5,
        9,
        "/a",
    )
    assert (len(other_read.calls), len(other_read.ended_calls), other_read.completed_without_started) == (
        MANY + 1,
        MANY + 1,
        1,
    )
    other_calls = many(2)
    other_calls[0].target = "b.py"
    other_calls.settle(other_calls[0])
    for number in range(3, MANY):
        other_calls.add(Call(number, 1, "", "read", "Read file"))
        other_calls.settle(other_calls[-1])
    assert other_calls[0].target == "b.py"


def test_a_screen_keeps_few_calls_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """After `keep_few`, the newest 1,024 settled calls and 512 ended texts are read without the spill."""
    reads: list[int] = []
    get = Spill.get

    def counted(spill: Spill, place: int, length: int) -> bytes:
        reads.append(place)
        return get(spill, place, length)

    monkeypatch.setattr(call_module, "_MOST_SETTLED", MOST_SETTLED)
    read = Session()
    keep_few(read)
    for number in range(1, 1100):
        call = Call(number=number, run=1, call_id=f"{number}", tool="shell", phrase="run")
        read.calls.add(call)
        read.calls.settle(call)
    for number in range(600):
        read.transcript.add(Kind.PROMPT, f"{number}")
    del call
    monkeypatch.setattr(Spill, "get", counted)
    assert read.calls[-1024].number == 1099 - 1023
    assert read.transcript[-513].text == "87"  # the last has not ended
    assert not reads
    assert read.calls[-1025].number == 1099 - 1024
    assert read.transcript[-514].text == "86"
    assert len(reads) == 2


def test_the_newest_settled_calls_stay_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest 8,192 settled calls are read without the spill; every older one is read from it."""
    reads: list[int] = []
    get = Spill.get

    def counted(spill: Spill, place: int, length: int) -> bytes:
        reads.append(place)
        return get(spill, place, length)

    monkeypatch.setattr(call_module, "_MOST_SETTLED", MOST_SETTLED)
    calls = many(8192 + 10)
    monkeypatch.setattr(Spill, "get", counted)
    assert [call.number for call in calls[10:]] == list(range(11, 8192 + 11))
    assert not reads
    assert [call.number for call in calls[:10]] == list(range(1, 11))
    assert len(reads) == 10


def called(number: int, outcome: Outcome = Outcome.SUCCEEDED) -> Call:
    return Call(number, 1, f"c-{number}", "shell", "Ran terminal command", outcome=outcome)


def newest_calls(count: int) -> Calls:
    """Return this number of calls that have succeeded."""
    calls = Calls()
    for number in range(1, count + 1):
        calls.add(called(number))
        calls.settle(calls[number - 1])
    return calls


def test_a_call_that_ends_as_in_the_newest_session_is_shared() -> None:
    """A call differs from the newest session only if it ended otherwise there, or began later; a line about
    an open call changes the view alone.
    """
    earlier = EarlierCalls(newest_calls(3))
    for number in (1, 2):
        earlier.add(called(number, Outcome.RUNNING))
    assert [*earlier.differing] == [1, 2]
    earlier.settle(called(1))
    earlier.settle(called(2, Outcome.UNFINISHED))
    assert [*earlier.differing] == [2]
    assert [call.outcome for call in earlier] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert [*newest_calls(3).differing] == []
    earlier = EarlierCalls(newest_calls(3))
    earlier.restore(2, [called(2, Outcome.RUNNING)], 0)
    found = [earlier.find(1, None, f"c-{number}") for number in (1, 2, 3)]
    assert [call and call.outcome for call in found] == [Outcome.SUCCEEDED, Outcome.RUNNING, None]
    newest = newest_calls(1)
    earlier = EarlierCalls(newest)
    earlier.add(called(1, Outcome.RUNNING))
    again = called(1, Outcome.RUNNING)
    again.target = "pytest"
    earlier.changed(again)
    assert (earlier[0].target, newest[0].target) == ("pytest", None)


def test_the_effect_of_late_starts_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call is as it was before a late start after the checkpoint; only so many of them are kept."""
    monkeypatch.setattr(call_module, "_MOST_LATE", 2)
    newest = newest_calls(3)
    for number, offset in ((1, 100), (2, 200), (3, 300)):
        newest.changes_late(newest[number - 1], offset)
        newest[number - 1].target = "late"
    earlier = EarlierCalls(newest)
    earlier.restore(3, [], 150)
    assert [call.target for call in earlier] == ["late", None, "late"]
