"""Each kind of rule on recordings of which the truth is known: kept, broken, and not to be judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.recording.acts import Act, append_act
from agentwatch.rules.check.judgement import State
from agentwatch.rules.language.errors import RuleError
from tests.builders.lines import DONE, completed, delta, init, result, started, user
from tests.conftest import case
from tests.rules.check.judged import call, judge, rules, run, shell

OUTSIDE = call("edit", "c-2", 5000, 5100, path="/etc/hosts")
INSIDE = call("edit", "c-1", 1000, 1100, path="src/app.py")
REJECTED = started("shell", "c-9", 8000, command="rm -rf x") + completed(
    "shell", "c-9", {"rejected": {"reason": "no"}}, 8100
)
GREEN = shell("pytest -q", "c-3", 6000, stdout="3 passed in 0.10s")
RED = shell("pytest -q", "c-4", 7000, 1, stdout="1 failed, 2 passed in 0.10s")


def states(data: bytes, folder: Path, **given: list[str]) -> list[State]:
    """Return the states of rules of options."""
    return [each.state for each in judge(data, rules(**given), folder)]


def test_a_call_that_matches_breaks_forbid(tmp_path: Path) -> None:
    """A rule of `forbid` is broken by each call that matches, and names these calls and no others."""
    [found] = judge(run(INSIDE, OUTSIDE), rules(forbid=["tool:edit outside:cwd"]), tmp_path)
    assert found.state is State.BROKEN
    assert (found.looked_at, found.hits) == (2, 1)
    assert [(each.at, each.words.partition(" (")[0]) for each in found.places] == [
        ("#2", "Edited file /etc/hosts")
    ]


def test_no_call_that_matches_keeps_forbid(tmp_path: Path) -> None:
    """A rule of `forbid` holds if it checked calls and none matches."""
    [found] = judge(run(INSIDE, GREEN), rules(forbid=["tool:edit outside:cwd"]), tmp_path)
    assert (found.state, found.looked_at, found.hits) == (State.HOLDS, 2, 0)


def test_forbid_without_calls_looked_at_nothing(tmp_path: Path) -> None:
    """A rule about calls cannot be judged in a session without calls."""
    [found] = judge(run(), rules(forbid=["tool:edit"]), tmp_path)
    assert (found.state, found.words) == (State.UNKNOWN, "no calls")


def test_an_unknown_value_is_counted_with_its_field(tmp_path: Path) -> None:
    """A call of which a value that decides is unknown is not judged, and the field is named."""
    [found] = judge(run(INSIDE, OUTSIDE), rules(forbid=["exit>0"]), tmp_path)
    assert (found.state, found.not_judged, dict(found.unknown)) == (State.UNKNOWN, 2, {"exit": 2})
    assert found.words == "exit is unknown in all 2 calls"


def test_fields_of_the_session_are_those_of_the_moment(tmp_path: Path) -> None:
    """A rule with a count of the session matches from the call on that exceeds it, also if read at once."""
    data = run(RED, shell("ls a", "c-5", 9000), shell("ls b", "c-6", 10_000, 2))
    [found] = judge(data, rules(forbid=["failed>1"]), tmp_path)
    assert [each.at for each in found.places] == ["#3"]


def test_a_call_that_never_ended_is_judged(tmp_path: Path) -> None:
    """A call without an end is judged at the end of the stream."""
    data = init() + user() + started("shell", "c-1", 1000, command="sudo reboot")
    [found] = judge(data, rules(forbid=["program:sudo"]), tmp_path)
    assert found.state is State.BROKEN


def test_places_are_bounded_and_hits_are_counted(tmp_path: Path) -> None:
    """The first 100 places are kept, and all are counted."""
    data = run(*(shell(f"ls {number}", f"c-{number}", 1000 + number) for number in range(130)))
    [found] = judge(data, rules(forbid=["tool:shell"]), tmp_path)
    assert (found.hits, len(found.places), found.places[-1].at) == (130, 100, "#100")


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (run(), State.HOLDS),
        (init() + user() + result(is_error=True, subtype="error"), State.BROKEN),
        (init() + user(), State.BROKEN),
    ],
    ids=["good", "error", "none"],
)
def test_the_result_is_required(data: bytes, state: State, tmp_path: Path) -> None:
    """`result` holds if the run ended with a result that is no error."""
    assert states(data, tmp_path, require=["result"]) == [state]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (run(INSIDE), State.HOLDS),
        (run(started("read", "c-1", 1000, path="a")), State.BROKEN),
        (run(b"{broken\n"), State.BROKEN),
        (init() + user() + delta("a") + result("b"), State.HOLDS),
    ],
    ids=["whole", "orphan", "malformed", "text differs"],
)
def test_integrity_is_required(data: bytes, state: State, tmp_path: Path) -> None:
    """`integrity` is broken by an orphaned call and by a malformed line, not by a text that differs."""
    assert states(data, tmp_path, require=["integrity"]) == [state]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (init() + user() + delta("same") + result("same"), State.HOLDS),
        (init() + user() + delta("same") + result("other"), State.BROKEN),
        (init() + user() + delta("same"), State.SKIPPED),
    ],
    ids=["same", "other", "no result"],
)
def test_the_text_must_match_the_result(data: bytes, state: State, tmp_path: Path) -> None:
    """`text_matches_result` compares the two, and does not apply without a result."""
    assert states(data, tmp_path, require=["text_matches_result"]) == [state]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (run(GREEN), State.HOLDS),
        (run(RED), State.BROKEN),
        (run(RED, shell("pytest -q", "c-7", 9000, stdout="3 passed in 0.10s")), State.HOLDS),
        (run(GREEN, call("edit", "c-8", 9000, 9100, path="src/app.py")), State.BROKEN),
        (run(INSIDE), State.BROKEN),
    ],
    ids=["green", "red", "fixed", "changed since", "nothing ran"],
)
def test_tests_must_be_green_at_the_end(data: bytes, state: State, tmp_path: Path) -> None:
    """`tests` is broken by a red last run, by a file changed after it, and if nothing ran."""
    assert states(data, tmp_path, require=["tests=green"]) == [state]


LIMITS: list[tuple[bytes, str, State]] = [
    (run(RED), "failed=1", State.HOLDS),
    (run(RED), "failed=0", State.BROKEN),
    (run(REJECTED), "rejected=0", State.BROKEN),
    (run(GREEN), "rejected=0", State.HOLDS),
    (run(INSIDE, GREEN), "calls=2", State.HOLDS),
    (run(INSIDE, GREEN), "calls=1", State.BROKEN),
    (run(call("shell", "c-1", 0, 61_000, command="make")), "call=1m", State.BROKEN),
    (run(call("shell", "c-1", 0, 59_000, command="make")), "call=1m", State.HOLDS),
    (run(), "call=1m", State.UNKNOWN),
    (run(), "cost=1", State.UNKNOWN),
    (run(), "idle=1m", State.UNKNOWN),
    (run(INSIDE, OUTSIDE), "elapsed=1m", State.HOLDS),
    (run(INSIDE, OUTSIDE), "elapsed=4s", State.BROKEN),
]


def test_limits(tmp_path: Path) -> None:
    """A limit holds up to its value, is broken above it, and is not judged if the amount is unknown."""
    for data, limit, state in LIMITS:
        with case(f"{limit} {state}"):
            assert states(data, tmp_path, limit=[limit]) == [state]


def test_a_limit_names_the_calls_that_break_it(tmp_path: Path) -> None:
    """A limit of calls names those after it, one of failures the failed ones, one of a call the long ones."""
    data = run(INSIDE, RED, call("shell", "c-5", 10_000, 80_000, command="make"))
    found = judge(data, rules(limit=["calls=2", "failed=0", "call=1m"]), tmp_path)
    assert [[each.at for each in one.places] for one in found] == [["#3"], ["#2"], ["#3"]]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (run(INSIDE, call("read", "c-2", 1100 + 61_000, 70_000, path="a")), State.BROKEN),
        (run(INSIDE, call("read", "c-2", 1100 + 59_000, 70_000, path="a")), State.HOLDS),
        (run(call("shell", "c-1", 0, 600_000, command="make")), State.HOLDS),
        (
            run(INSIDE) + user("more") + call("read", "c-2", 600_000, 600_100, path="a") + result(),
            State.HOLDS,
        ),
    ],
    ids=["silence", "short", "a call", "the user"],
)
def test_idle_is_silence_that_nothing_explains(data: bytes, state: State, tmp_path: Path) -> None:
    """A silence counts unless a call runs, or the user has not written the next prompt."""
    assert states(data, tmp_path, limit=["idle=1m"]) == [state]


def test_a_silence_has_an_address(tmp_path: Path) -> None:
    """A silence is named by the moment at which it began."""
    data = run(INSIDE, call("read", "c-2", 91_100, 92_000, path="a"))
    [found] = judge(data, rules(limit=["idle=1m"]), tmp_path)
    assert [(each.at, each.words) for each in found.places] == [("@+0s", "silence of 1:30")]


def test_a_call_that_never_ended_ran_until_the_end_of_its_run(tmp_path: Path) -> None:
    """The time after the end of a run does not count for a call that was running then."""
    hung = started("shell", "c-1", 1000, command="make") + call("read", "c-2", 2000, 3000, path="a")
    next_run = run(call("shell", "c-3", 3_600_000, 3_601_000, command="make"))
    for end in (result(timestamp_ms=4000), b""):
        data = init() + user() + hung + end + next_run
        assert states(data, tmp_path, limit=["call=1m"]) == [State.HOLDS]


def test_what_the_user_did_can_be_forbidden_and_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An act belongs to the calls that ran at its time, or else to the next one, or else to the last one."""
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path))
    data = run(
        *(shell("a", "c-1", 10_000), shell("b", "c-2", 20_000)),
        *(started("shell", "c-3", 30_000), started("shell", "c-4", 30_100)),
        *(completed("shell", "c-4", DONE, 30_200), completed("shell", "c-3", DONE, 30_900)),
    )
    cases: list[tuple[int, list[str]]] = [
        (5_000, ["#1"]),
        (10_500, ["#1"]),
        (15_000, ["#2"]),
        (30_150, ["#4", "#3"]),
        (30_500, ["#3"]),
        (40_000, ["#4"]),
    ]
    for at_ms, places in cases:
        with case(at_ms):
            path = tmp_path / "acts" / "cursor-s-1.acts"
            path.unlink(missing_ok=True)
            append_act(path, Act(at_ms, "allow", "s-1", "list", "hook", "sent"))
            given = rules(
                forbid=["acted:allow", "acted:deny"], require=["acted:allow", "acted=deny", "acted:stop"]
            )
            found = judge(data, given, tmp_path)
            assert [each.at for each in found[0].places] == places
            assert [each.state for each in found[1:]] == [
                *(State.HOLDS, State.HOLDS, State.BROKEN, State.BROKEN)
            ]
            assert found[2].rule.name == 'require.acted = "allow"'


def test_what_the_user_did_elsewhere_is_unknown(tmp_path: Path) -> None:
    """Without the file of acts, as for a session of another machine, nothing is claimed."""
    given = rules(forbid=["acted:allow"], require=["acted:allow"])
    found = judge(run(GREEN), given, tmp_path, knows_acts=False)
    assert [each.state for each in found] == [State.UNKNOWN, State.UNKNOWN]
    assert found[0].words == "acted is unknown in the only call"
    for words in ("acted:alow", "acted", "acted=true"):
        with case(words), pytest.raises(RuleError, match="acted is one of continue, queue"):
            rules(require=[words])
