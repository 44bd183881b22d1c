"""A digest has the facts of the full session and the times of its lines, and stays small."""

import random
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.digest.reading import Tail
from agentwatch.session.counts import Use, Uses
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    LineTime,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    Traits,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.session.rules import span_ms
from tests.builders.captures import Captures
from tests.builders.on_disk.digested import digest_of, facts_of_digest, facts_of_session, found, session_of
from tests.catalog.digest.made_events import after, ended, said, started
from tests.conftest import case

HUGE = "x" * 1_000_000


def test_times_are_those_of_lines_or_of_their_arrival() -> None:
    """In a file whose lines have times, a line without one is not activity."""
    digest = Digest()
    digest.apply([Prompt("Go")], 5)
    assert (digest.began_ms, digest.seen_ms) == (5, 5)
    digest.apply([LineTime(9), Unknown("x")], 7)
    digest.apply([], 100)
    assert (digest.began_ms, digest.seen_ms) == (5, 9)
    # Without arrivals the times of the events count.
    digest = Digest()
    digest.apply([Notice("x", at_ms=5)])
    digest.apply([Unknown("x")])
    assert digest.seen_ms == 5


def turns(silences_ms: list[int]) -> Iterator[list[Event]]:
    """Yield the lines of turns with a silence after each prompt, and a long one after each turn and call."""
    at_ms = 0
    for silence_ms in silences_ms:
        yield [LineTime(at_ms), Prompt("Go")]
        yield [LineTime(at_ms + silence_ms), started(f"{at_ms}")]
        at_ms += silence_ms + 3_600_000
        yield [LineTime(at_ms), ended(f"{at_ms - 3_600_000 - silence_ms}")]
        yield [LineTime(at_ms), TurnEnded(Outcome.SUCCEEDED)]
        at_ms += 86_400_000


def test_the_usual_pause_is_that_of_the_model() -> None:
    """The time of calls and of the user does not count, and fewer than ten pauses say nothing."""
    digest = Digest()
    for events in turns([*range(1000, 10_000, 1000)]):
        digest.apply(events)
    assert digest.usual_pause_ms is None
    for events in turns([10_000]):
        digest.apply(events)
    assert digest.usual_pause_ms == 9000
    # Only the newest turns count.
    digest = Digest()
    for events in turns([90_000] * 30 + [1000] * 32):
        digest.apply(events)
    assert digest.usual_pause_ms == 1000
    # A prompt in an open turn: nobody knows when the agent stopped.
    digest = Digest()
    for number in range(30):
        digest.apply([LineTime(number * 10**6), Prompt("Go")])
        digest.apply([LineTime(number * 10**6 + 1000), started(f"{number}")])
        digest.apply([LineTime(number * 10**6 + 1000), ended(f"{number}")])
    assert digest.usual_pause_ms == 1000


def test_a_gap_leaves_what_does_not_change() -> None:
    """The title and the first prompt stay; calls, questions and counts begin again."""
    digest = after(
        RunInfo(title="T", cwd="/w"),
        Prompt("Go"),
        started(),
        ended("x"),
        Permission("Bash", None),
        *said("Hi"),
    )
    digest.is_whole = True
    digest.uses = Uses(by_request=False, others={Use("m", 0, 0): Tokens(1)})
    digest.skip()
    assert digest.uses == Uses(by_request=False)
    assert (digest.title, digest.cwd, digest.first_prompt) == ("T", "/w", "Go")
    assert (digest.open_calls, digest.question, digest.calls, digest.turn) == ({}, "", 0, Turn.NONE)
    assert (digest.last_prompt, digest.last_text, digest.is_whole) == ("", "", False)


def size(value: object) -> int:
    """Return the bytes of a value and its parts."""
    found = sys.getsizeof(value)
    if isinstance(value, dict):
        return found + sum(size(key) + size(each) for key, each in value.items())
    if isinstance(value, (tuple, list)):
        return found + sum(map(size, value))
    if isinstance(value, Digest):
        return found + sum(size(getattr(value, field.name)) for field in fields(value))
    return found


def test_no_event_makes_a_digest_large() -> None:
    """All of its texts are bounded, however long those of the lines are."""
    hostile: list[Event] = [
        RunStarted(HUGE, HUGE, HUGE, HUGE, HUGE),
        FormatDetected(HUGE, Traits(), HUGE),
        RunInfo(HUGE, HUGE, HUGE, HUGE, agent_name=HUGE, branch=HUGE, title=HUGE, last_prompt=HUGE),
        Prompt(HUGE),
        Plan(tuple(PlanEntry(f"{n}{HUGE}", PlanStatus.IN_PROGRESS) for n in range(5))),
        Text(Channel.ANSWER, HUGE),
        Notice(HUGE, is_error=True),
        *(started(f"{n}{HUGE}", tool=HUGE, target=HUGE, parent_call=HUGE) for n in range(40)),
        *(Permission(HUGE, None, key=f"{n}{HUGE}", call_id=HUGE, target=HUGE) for n in range(20)),
        Retry(HUGE),
    ]
    digest = after(*hostile)
    assert size(digest) < 70_000
    digest.apply([TurnEnded(Outcome.FAILED, HUGE, HUGE)])
    assert size(digest) < 8_000


_CUTS = 8


@pytest.mark.slow
@pytest.mark.system
def test_a_file_that_grows_ends_in_the_digest_of_the_whole(captures: Captures, tmp_path: Path) -> None:
    """The file is cut at any byte, and continued by one or more pieces."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            copy.write_bytes(data)
            expected = digest_of(copy, agent)
            for _ in range(_CUTS):
                copy.unlink()
                copy.write_bytes(b"")
                tail = Tail(found(copy, agent))
                cuts = sorted(chance.choices(range(len(data) + 1), k=chance.choice((1, 2, 20))))
                for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                    with copy.open("ab") as file:
                        file.write(data[start:end])
                    tail.update()
                tail.settle()
                assert tail.digest is not None
                if agent == WITHOUT_TIMES:  # each piece has the time of its arrival
                    now, whole = facts_of_digest(tail.digest), facts_of_digest(expected)
                    began_ms, seen_ms = tail.digest.began_ms, tail.digest.seen_ms
                    assert began_ms is None or b"\n" not in data[: cuts[0]], cuts  # else nobody saw it begin
                    took = span_ms(began_ms, seen_ms) if whole["took"] is None else whole["took"]
                    assert {**now, "seen": 0} == {**whole, "seen": 0, "took": took}, cuts
                else:
                    assert tail.digest == expected, cuts


@pytest.mark.slow
def test_no_damage_to_a_file_raises(captures: Captures, tmp_path: Path) -> None:
    """Bytes are lost, doubled or changed anywhere; the digest is of what is left."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            for _ in range(5):
                damaged = bytearray(data)
                for _ in range(chance.choice((1, 5, 50))):
                    at = chance.randrange(len(damaged) or 1)
                    damaged[at : at + chance.choice((0, 1, 40))] = chance.randbytes(chance.choice((0, 1, 9)))
                copy.write_bytes(damaged)
                assert len(repr(digest_of(copy, agent))) < 30_000


FOLDERS = {
    "claude-transcript": "claude",
    "codex-rollout": "codex",
    "gemini-chat": "gemini",
    "qwen-chat": "qwen",
    "pi-session": "pi",
    "copilot-events": "copilot",
    "cursor-transcript": "cursor",
}
"""The agent of the files in each folder of `disk` and `agents`."""
PROGRAMS = ("claude", "codex", "gemini", "qwen", "pi", "copilot", "droid")
"""The programs in `real` whose own files are read, by the beginning of the folder's name."""
WITHOUT_TIMES = "cursor"
"""The agent whose lines have no times: its digest has those of the file."""


def sessions(captures: Captures) -> list[tuple[Path, str]]:
    """Return the captures of files that agents write, each with its agent."""
    agents = {f"{root}/{folder}/": agent for root in ("disk", "agents") for folder, agent in FOLDERS.items()}
    agents |= {f"real/{program}-": program for program in PROGRAMS}
    found = captures.find("disk/*/**/*.jsonl", "agents/*/**/*.jsonl", "real/*/sessions/**/*.jsonl")
    return [
        (path, agent)
        for path in found
        for start, agent in agents.items()
        if captures.name(path).startswith(start)
    ]


def test_the_digest_of_a_capture_agrees_with_its_session(captures: Captures, tmp_path: Path) -> None:
    """Counts, outcome, prompts, model, folder, branch and title are those of the full session."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            copy = tmp_path / path.name
            copy.write_bytes(path.read_bytes())
            session = session_of(path.read_bytes().splitlines(keepends=True), agent)
            digest = digest_of(copy, agent)
            assert digest.is_whole
            expected = facts_of_session(session)
            if agent == WITHOUT_TIMES:
                expected["seen"] = copy.stat().st_mtime_ns // 10**6
            assert facts_of_digest(digest) == expected


def test_calls_are_counted_once() -> None:
    """A line may repeat the start or the end of a call; at most 32 calls are open."""
    digest = after(
        *(started("a"), started("a"), ended("a", Outcome.FAILED), ended("a", Outcome.FAILED), started("a")),
        *(ended("b", Outcome.REJECTED), ended("b"), started("b"), ended("c", lines_added=3, lines_removed=1)),
        ended("d", Outcome.CANCELLED),
    )
    assert (digest.calls, digest.failed, digest.rejected, digest.cancelled) == (4, 1, 1, 1)
    assert digest.open_calls == {}
    assert (digest.lines_added, digest.lines_removed) == (3, 1)
    # All of a session may be written again.
    calls = [event for number in range(100) for event in (started(f"{number}"), ended(f"{number}"))]
    assert after(*calls, *calls).calls == 100
    # Only a line that says so describes it again.
    digest = after(started(target=None, parent_call="p", limit_ms=5, at_ms=3), started(target="other"))
    assert digest.open_calls["c"].target == ""
    digest.apply([started(target="pytest", is_update=True)])
    call = digest.open_calls["c"]
    assert (call.target, call.parent_call, call.limit_ms, call.started_ms) == ("pytest", "p", 5, 3)
    digest.apply([started(target=None, is_update=True)])
    assert digest.open_calls["c"].target == "pytest"
    # The oldest are left out; they were counted, and their ends are not further calls.
    digest = after(*(started(f"c{number}") for number in range(40)))
    assert list(digest.open_calls) == [f"c{number}" for number in range(8, 40)]
    digest.apply([ended("c0")])
    assert digest.calls == 40


def test_a_question_is_open_until_it_is_answered() -> None:
    """The oldest of at most eight is shown, with the time at which it was asked."""
    digest = after(Permission("shell", None, key="1", target="npm ci"), Permission("Edit", None, key="2"))
    assert (digest.question, digest.question_ms) == ("shell npm ci", 1000)
    digest.apply([Permission("shell", "approved", key="1")])
    assert digest.question == "Edit"
    digest.apply([Permission("Edit", "denied", key="2")])
    assert (digest.question, digest.question_ms) == ("", None)
    # Not every answer is logged: a question ends with its call and with the turn.
    asked = Permission("Bash", None, key="1", call_id="c", at_ms=7)
    assert after(started(), asked).question_ms == 7
    assert after(started(), asked, ended()).question == ""
    assert after(started(), asked, ended("other")).question == "Bash"
    assert after(asked, TurnEnded(Outcome.CANCELLED)).question == ""
    # Nobody has to answer an automatic question.
    assert after(Permission("Bash", None, is_automatic=True)).question == ""
    # A call that the agent may not run without permission is not a question.
    itself = Permission("AskUserQuestion", None, key="c", call_id="c")
    assert after(started(), itself).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None, key="1", call_id="c")).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None)).open_calls["c"].asks
    # The oldest are dropped.
    assert after(*(Permission(f"q{n}", None) for n in range(10))).question == "q2"


def test_the_to_do_list_is_counted() -> None:
    """Entries that were given up count as completed, as on the screen of a session."""
    pending, doing, done, gone = (
        PlanEntry(name, PlanStatus(status))
        for name, status in (("a", "pending"), ("b", "in_progress"), ("c", "completed"), ("d", "cancelled"))
    )
    digest = after(Plan((pending, doing, done, gone)))
    assert (digest.todo, digest.doing) == ((2, 4), "b")
    digest.apply([Plan((PlanEntry("b", PlanStatus.COMPLETED),), is_update=True)])
    assert (digest.todo, digest.doing) == ((3, 4), "")
    digest.apply([Plan((doing,))])
    assert (digest.todo, digest.doing) == ((0, 1), "b")
    digest.apply([Plan(())])
    assert (digest.todo, digest.doing) == (None, "")
    # Of a long list, 256 entries are counted: updates of other entries push out the oldest.
    entries = [PlanEntry(f"{number}", PlanStatus.PENDING) for number in range(1000)]
    assert after(Plan(tuple(entries))).todo == (0, 256)
    digest = after(*(Plan((entry,), is_update=True) for entry in entries))
    assert digest.todo == (0, 256)


def test_the_facts_of_the_run_are_the_newest() -> None:
    """A fact that a line does not contain keeps its value."""
    digest = after(
        FormatDetected("claude-code", Traits(), "claude"),
        RunStarted("claude-code", "s", "opus", "/w", "plan"),
        RunInfo(model="haiku", branch="main", title="T", is_one_liner=True),
        RunInfo(agent_name="other", last_prompt="Go"),
    )
    assert (digest.format, digest.agent, digest.session_id) == ("claude-code", "other", "s")
    assert (digest.model, digest.cwd, digest.permission_mode) == ("haiku", "/w", "plan")
    assert (digest.branch, digest.title, digest.is_one_liner) == ("main", "T", True)
    assert digest.last_prompt == "Go"
    assert after(FormatDetected("cursor", Traits())).agent == "cursor"
    # A title of the agent does not replace it, but another one of the user.
    users = RunInfo(title="Mine", is_users_title=True)
    assert after(RunInfo(title="Theirs"), users, RunInfo(title="Theirs")).title == "Mine"
    assert after(users, RunInfo(title="Other", is_users_title=True)).title == "Other"
    # A count without a context changes nothing.
    digest = after(
        Usage(Tokens(context_used=5, context_size=100), UsageScope.REQUEST),
        Usage(Tokens(input=7), UsageScope.REQUEST),
        Usage(Tokens(context_used=9), UsageScope.REQUEST),
    )
    assert (digest.context_used, digest.context_size) == (9, 100)
    # What was open ended with its process; the ids of calls may come again.
    digest = after(
        *(Prompt("Go"), started(), Permission("Bash", None), Retry("x"), RunStarted("cursor", "2"))
    )
    assert (digest.turn, digest.outcome, digest.open_calls) == (Turn.NONE, None, {})
    assert (digest.question, digest.retry, digest.session_id) == ("", "", "2")
    digest.apply([started()])
    assert digest.calls == 2


def test_a_turn_is_open_from_its_prompt_to_its_end() -> None:
    """The time is that of the line which began or ended it."""
    digest = Digest()
    assert digest.turn is Turn.NONE
    digest.apply([LineTime(5), Prompt(" Fix it ")])
    assert (digest.turn, digest.turn_ms, digest.first_prompt) == (Turn.OPEN, 5, "Fix it")
    digest.apply([LineTime(9), TurnEnded(Outcome.SUCCEEDED, "Done.")])
    assert (digest.turn, digest.turn_ms, digest.outcome) == (Turn.ENDED, 9, Outcome.SUCCEEDED)
    assert digest.last_text == "Done."
    digest.apply([LineTime(20), Prompt("More")])
    assert (digest.turn, digest.first_prompt, digest.last_prompt) == (Turn.OPEN, "Fix it", "More")
    # The prompt that follows a turn without one begins no other turn.
    digest = Digest()
    digest.apply([LineTime(5), TurnStarted()])
    digest.apply([LineTime(9), Prompt("Go")])
    assert (digest.turn, digest.turn_ms) == (Turn.OPEN, 5)
    # The prompt of a subagent begins no turn.
    digest = after(Prompt("Look", "c"))
    assert (digest.turn, digest.first_prompt) == (Turn.NONE, "")
    # A call that was running may end after its turn.
    digest = after(Prompt("Go"), started(), TurnEnded(Outcome.CANCELLED), ended(), *said("x"))
    assert (digest.turn, digest.calls, digest.open_calls) == (Turn.ENDED, 1, {})
    # The duration of a turn is not a second end: the time of the end stays.
    digest = after(Prompt("Go"), TurnEnded(Outcome.SUCCEEDED))
    digest.apply([LineTime(99), TurnEnded(Outcome.SUCCEEDED, duration_ms=5)])
    assert digest.turn_ms == 1000


def test_work_without_a_prompt_is_a_turn() -> None:
    """A stream need not contain its prompt. If lines were left out, the beginning is unknown."""
    for event in (*said("Hm")[:1], started(), ended()):
        for is_whole, began_ms in ((True, 7), (False, None)):
            with case((event, is_whole)):
                digest = Digest(is_whole=is_whole)
                digest.apply([event], 7)
                assert (digest.turn, digest.turn_ms) == (Turn.OPEN, began_ms)


def test_the_reason_of_a_failure_is_the_result_or_the_last_error() -> None:
    """A turn that ended well has none."""
    cases: list[tuple[list[Event], str]] = [
        ([TurnEnded(Outcome.FAILED, " overloaded\nsorry ")], "overloaded\nsorry"),
        ([Notice("no login", is_error=True), Notice("x"), TurnEnded(Outcome.FAILED)], "no login"),
        ([TurnEnded(Outcome.CANCELLED)], ""),
        ([TurnEnded(Outcome.FAILED, "bad"), Prompt("Go"), TurnEnded(Outcome.SUCCEEDED)], ""),
        ([Notice("old", is_error=True), TurnStarted(), TurnEnded(Outcome.FAILED)], ""),
    ]
    for events, reason in cases:
        with case(events):
            assert after(Prompt("Go"), *events).reason == reason


def test_a_retry_lasts_until_the_next_text_or_call() -> None:
    """Its words have its number, if that is known."""
    assert after(Retry("overloaded", 4, 10)).retry == "retry 4 of 10: overloaded"
    assert after(Retry("", 4)).retry == "retry 4"
    assert after(Retry("")).retry == "retry"
    for event in (*said("x")[:1], started(), TurnEnded(Outcome.FAILED)):
        assert after(Retry("overloaded"), event).retry == ""
    # A compaction lasts until its end or that of the turn.
    begun = Compaction(is_over=False)
    assert after(begun).is_compacting
    assert not after(begun, Compaction(is_over=True)).is_compacting
    assert not after(begun, TurnEnded(Outcome.SUCCEEDED)).is_compacting


def test_the_last_text_is_the_end_of_the_last_answer() -> None:
    """Pieces of one text are joined; thoughts and subagents are left out."""
    pieces: list[Event] = [
        Text(Channel.ANSWER, "All "),
        Text(Channel.ANSWER, "pass."),
        TextEnded(Channel.ANSWER),
    ]
    assert after(*said("First."), *pieces).last_text == "All pass."
    assert (
        after(*pieces, *said("Hm", Channel.REASONING), *said("No", parent_call="c")).last_text == "All pass."
    )
    assert after(*pieces[:1], started(), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], Prompt("Go"), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], *said("Hm", Channel.REASONING), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], started(parent_call="c"), *pieces[1:]).last_text == "All pass."
    assert after(Text(Channel.ANSWER, "a" * 1000 + "end")).last_text.endswith("aend")
    # A text that is taken back is replaced by what follows.
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2)).last_text == ""
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(0)).last_text == "No"
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2), *said("Yes")).last_text == "Yes"
