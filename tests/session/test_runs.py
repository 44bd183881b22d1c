"""Runs and their turns: results, texts, limits, usage counts and rhythm."""

import itertools
from collections import deque

import pytest

from agentwatch.agents import Decoder
from agentwatch.session import counts as session_counts
from agentwatch.session import transcript
from agentwatch.session.call import Pieces, Place
from agentwatch.session.counts import UsageCounts, Use, Uses, added, known_sum, usually_under
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Limits,
    LimitWindow,
    Notice,
    Outcome,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Traits,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageScope,
    agent_ms,
)
from agentwatch.session.limits import NO_LIMITS, KnownLimits, Reported, most_used, with_report
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Phase, Rhythm, Session, calls_by_outcome
from agentwatch.session.storage import GrowingText, is_joined
from agentwatch.session.transcript import Kind
from agentwatch.text.times import coming
from tests.builders.lines import (
    delta,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.subagents import begins, says
from tests.conftest import case


def apply(read: Session, decoder: Decoder, *lines: bytes) -> None:
    """Apply lines to a session that goes on."""
    for line in lines:
        apply_line(read, decoder.decode(line.rstrip(b"\n")), Place(0, len(line), None), 1)


def test_the_text_is_compared_once_with_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked at each frame, a run compares again only when text was added or another result came."""
    compared = 0

    def counted(whole: GrowingText, pieces: list[GrowingText]) -> bool:
        nonlocal compared
        compared += 1
        return is_joined(whole, pieces)

    monkeypatch.setattr(transcript, "is_joined", counted)
    read, decoder = Session(), Decoder()
    apply(read, decoder, init(), segment("a"), result("ab"))
    assert [read.run.text_matches_result for _ in range(3)] == [False] * 3
    assert compared == 1
    apply(read, decoder, final("b"))
    assert [read.run.text_matches_result for _ in range(3)] == [True] * 3
    assert compared == 2
    apply(read, decoder, result("xy"))
    assert [read.run.text_matches_result for _ in range(3)] == [False] * 3
    assert compared == 3


NOW_MS = 1_795_000_000_000
HOUR_MS = 3_600_000
SHORT = LimitWindow("5h", 62.0, NOW_MS + HOUR_MS)
WEEK = LimitWindow("7d", 87.0, NOW_MS + 50 * HOUR_MS)
REFUSED = Limits((), is_refused=True)


def known(*reports: Limits) -> KnownLimits:
    """Return what is known after reports, a minute apart."""
    found = NO_LIMITS
    for minute, report in enumerate(reports):
        found = with_report(found, report, NOW_MS + 60_000 * minute)
    return found


def after(*events: Event) -> Session:
    session = Session()
    for event in events:
        apply_line(session, [event], Place(0, 1, NOW_MS))
    return session


def test_windows_and_refusals() -> None:
    """A report of one window leaves the other; a share that is not repeated stays until the next window. Of
    more than 8, the newest are kept; a window whose reset has passed is empty by an unknown part. A line is
    as old as its report. Without a time, it lasts until the full windows are empty, a report allows
    requests, or the agent continues.
    """
    found = known(Limits((SHORT, WEEK)), Limits((SHORT._replace(used_percent=70.0),)))
    assert found.windows == (
        Reported("5h", 70.0, NOW_MS + HOUR_MS, NOW_MS + 60_000),
        Reported("7d", 87.0, NOW_MS + 50 * HOUR_MS, NOW_MS),
    )
    timed = with_report(NO_LIMITS, Limits((SHORT,), at_ms=5), NOW_MS)
    assert timed.windows[0].said_ms == 5
    bare, later = SHORT._replace(used_percent=None), SHORT._replace(used_percent=None, resets_ms=NOW_MS * 2)
    assert known(Limits((SHORT,)), Limits((bare,))).windows[0].used_percent == 62
    assert known(Limits((SHORT,)), Limits((later,))).windows[0] == Reported(
        "5h", None, NOW_MS * 2, NOW_MS + 60_000
    )
    many = Limits(tuple(LimitWindow(f"{hours}h", 1.0, None) for hours in range(20)))
    assert [window.name for window in known(many).windows] == [f"{hours}h" for hours in range(12, 20)]
    # The fullest window that is not over counts.
    windows = known(Limits((SHORT, WEEK))).windows
    assert most_used(windows, NOW_MS) == 87
    assert most_used(windows[:1], NOW_MS + HOUR_MS) is None
    assert most_used(windows, NOW_MS + 51 * HOUR_MS) is None
    assert most_used([Reported("5h", None, None, NOW_MS)], NOW_MS) is None
    refused = Limits((), is_refused=True, until_ms=NOW_MS + 3_600_000)
    assert agent_ms([refused]) is None
    assert agent_ms([refused._replace(at_ms=NOW_MS)]) == NOW_MS
    assert agent_ms([Text(Channel.ANSWER, "a", 5, 7), refused]) == 7
    soon = coming(NOW_MS + HOUR_MS, NOW_MS)
    assert known(REFUSED).words(NOW_MS) == "waits for the limit"
    full = SHORT._replace(used_percent=100.0)
    assert known(Limits((full,), is_refused=True)).words(NOW_MS) == f"waits for the limit until {soon}"
    # A refusal lasts until the time that was reported.
    other_full = SHORT._replace(used_percent=100.0)
    cases: list[tuple[tuple[Limits, ...], int | None]] = [
        ((Limits((WEEK,), is_refused=True, until_ms=NOW_MS + 5),), NOW_MS + 5),
        ((Limits((other_full, WEEK)), REFUSED), NOW_MS + HOUR_MS),
        ((Limits((other_full, WEEK._replace(used_percent=100.0))), REFUSED), NOW_MS + 50 * HOUR_MS),
        ((Limits((SHORT, WEEK)), REFUSED), None),
        ((Limits((other_full._replace(resets_ms=None),)), REFUSED), None),
    ]
    for reports, until_ms in cases:
        with case(reports):
            other_found = known(*reports)
            assert (other_found.is_refused, other_found.until_ms) == (True, until_ms)
            assert other_found.waits(NOW_MS)
            assert not other_found.waits(None)
            assert other_found.waits(NOW_MS + 100 * HOUR_MS) == (until_ms is None)
    assert known(REFUSED, Limits((SHORT,))).is_refused
    assert not known(REFUSED, Limits((SHORT,), is_refused=False)).is_refused
    assert not NO_LIMITS.waits(NOW_MS)
    other_refused = (RunStarted("x"), Prompt("a"), REFUSED, TurnEnded(Outcome.FAILED, "limit"))
    assert after(*other_refused).limits.is_refused
    for event in (Prompt("b"), begins("c", "Bash", "make"), RunStarted("x")):
        with case(event):
            assert not after(*other_refused, event).limits.is_refused


REQUEST, TURN, RUN = UsageScope


def counted(*counts: tuple[Tokens, UsageScope] | None) -> Tokens:
    """Return the counts after these; None begins a turn."""
    usage = UsageCounts()
    for count in counts:
        if count is None:
            usage.begin_turn()
        else:
            usage.add(Usage(*count))
    return usage.tokens


def test_requests_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request adds to the counts; that of a turn replaces its requests, that of the run everything.
    The sum of several runs has what any of them has, its context is the newest; a sum of no known number is
    unknown.
    """
    first, second = Tokens(input=10, output=2, cost_usd=0.5), Tokens(input=20, cached=5, cost_usd=0.25)
    expected = Tokens(input=30, cached=5, output=2, cost_usd=0.75)
    assert counted((first, REQUEST), (second, REQUEST)) == expected
    assert counted() == Tokens()
    request, turn = Tokens(input=10, output=1), Tokens(input=12, output=7)
    counts = (request, REQUEST), (turn, TURN), None, (request, REQUEST), (turn, TURN)
    assert counted(*counts) == Tokens(input=24, output=14)
    turn, cost = Tokens(input=12, output=7), Tokens(cost_usd=0.1)
    counts = (turn, TURN), (cost, RUN), None, (turn, TURN), (Tokens(cost_usd=0.3), RUN)
    assert counted(*counts) == Tokens(input=24, output=14, cost_usd=0.3)
    assert counted((turn, TURN), None, (Tokens(input=15), RUN)) == Tokens(input=15, output=7)
    figures = [(Tokens(context_used=used, context_size=100), REQUEST) for used in (40, 60, 20)]
    assert counted(*figures, None) == Tokens(context_used=20, context_size=100)
    # A reader of the session may ask for the tokens by request, model, span of time and size.
    lines = [
        Usage(Tokens(input=3, output=number), REQUEST, request=name) for number, name in enumerate("aab")
    ]
    long = Usage(Tokens(input=250_000), REQUEST, 1_000_000, model="large")
    quarter, large = Use("small", 900_000, 0), Use("large", 900_000, 200_000)
    both, other, alone = Tokens(6, None, 1), Tokens(3, None, 2), Tokens(250_000)
    for asked, requests, others in (
        (None, {}, {}),
        (
            Uses(by_request=True),
            {"a": (quarter, both), "b": (quarter, other)},
            {large: alone},
        ),
        (
            Uses(by_request=False),
            {},
            {quarter._replace(at_ms=0): Tokens(9, None, 3), large._replace(at_ms=0): alone},
        ),
    ):
        session = Session()
        session.uses = asked
        apply_line(session, [RunInfo(model="small")], Place(0, 1, 1_700_000))
        for number, event in enumerate([*lines, long], 1):
            apply_line(session, [event], Place(number, 1, 1_700_000))
        assert session.run.tokens.input == 250_009
        assert asked is None or (asked.requests, asked.others) == (requests, others)
    # A count of the context alone is none of tokens; in a session of too many kinds, the rest is of no kind.
    monkeypatch.setattr(session_counts, "_MOST_USES", 1)
    crowded = Uses(by_request=False)
    for number, used in enumerate((Tokens(context_used=9), Tokens(1), Tokens(2), Tokens(4))):
        crowded.count(UsageCounts(), Usage(used, REQUEST, model=f"{number}"), None)
    assert crowded.others == {Use("1", None, 0): Tokens(1), Use(None, None, 0): Tokens(6)}
    crowded.model = "last"
    assert crowded.priced() == [(Use("1", None, 0), Tokens(1)), (Use("last", None, 0), Tokens(6))]
    copy = Session()
    apply_line(copy, [RunInfo(repeats_history=True)], Place(0, 1, None))
    assert calls_by_outcome(copy) == {}
    replaced = Session()
    replaced.uses = Uses(by_request=True)
    for number, event in enumerate([Usage(Tokens(10), REQUEST), Usage(Tokens(8, None, 2), TURN)]):
        apply_line(replaced, [event], Place(number, 1, None))
    assert replaced.uses.others == {Use(None, None, 0): Tokens(8, None, 2)}
    # Counts of several runs are added.
    first, second = Tokens(input=10, context_used=5), Tokens(input=1, output=2, context_used=7)
    assert added([first, second]) == Tokens(input=11, output=2, context_used=7)
    assert added([]) == Tokens()
    assert known_sum([3, None, 4.5]) == 7.5
    assert known_sum([0, None]) == 0
    assert known_sum([None]) is None
    read, decoder = Session(), Decoder()
    apply(read, decoder, init(), user("Go."), segment("Done."), result("Done."))
    assert repr(read.run) == "<Run of cursor: succeeded, 1 turn>"


def test_the_phase_and_rhythm_of_a_session() -> None:
    """A session waits, thinks, writes or has an open call; after the run it does none of these. Each line
    with an arrival time updates it. A stay in a phase keeps its longest silence; the newest 64 lengths are
    kept, and arrivals that run backwards are none. Nine of ten lengths do not exceed the usual one; fewer
    than five lengths have no usual one.
    """
    cases: list[tuple[tuple[bytes, ...], Phase]] = [
        ((), Phase.WAITING),
        ((b"oops\n",), Phase.WAITING),
        ((init(), user()), Phase.WAITING),
        ((init(), thought("hm")), Phase.THINKING),
        ((init(), thought("hm"), thought_through()), Phase.WAITING),
        ((init(), delta("I")), Phase.WRITING),
        ((init(), started("read"), thought("hm")), Phase.CALLING),
        ((init(), started("read"), result()), Phase.NOTHING),
        ((init(), result(), init()), Phase.WAITING),
    ]
    for lines, phase in cases:
        with case(lines):
            assert session(*lines, is_over=False).phase is phase
            assert session(*lines).phase is Phase.NOTHING
    # The rhythm is that of the arrivals.
    read = session(init(), thought("hm"), seen_ms=1000, is_over=False)
    assert (read.rhythm.phase, read.rhythm.began_ms) == (Phase.THINKING, 1000)
    read = session(init(), thought("hm"), is_over=False)
    assert (read.rhythm.phase, read.rhythm.began_ms) == (Phase.NOTHING, None)
    rhythm = Rhythm()
    for phase, seen_ms in (
        *((Phase.WAITING, 5000), (Phase.WAITING, 5400), (Phase.THINKING, 5500)),
        *((Phase.THINKING, 5600), (Phase.THINKING, 6500), (Phase.THINKING, 6600), (Phase.WRITING, 6700)),
        *((Phase.WRITING, 6700), (Phase.CALLING, 6700), (Phase.WAITING, 9000), (Phase.NOTHING, 9003)),
        *((Phase.WAITING, 99_000), (Phase.THINKING, 99_000), (Phase.WAITING, 99_000)),
    ):
        rhythm.update(phase, seen_ms)
    assert {phase: list(lengths) for phase, lengths in rhythm.silences.items()} == {
        Phase.WAITING: [400, 3],
        Phase.THINKING: [900],
        Phase.WRITING: [],
    }
    assert list(rhythm.thoughts) == [1200]
    rhythm = Rhythm()
    for number in range(1000):
        rhythm.update(Phase.WAITING, number * 100)
        rhythm.update(Phase.THINKING, number * 100 + 70)
    assert list(rhythm.silences[Phase.WAITING]) == [70] * 64
    assert list(rhythm.thoughts) == [30] * 64
    rhythm = Rhythm()
    for seen_ms in (5000, 1000):
        for phase in (Phase.THINKING, Phase.WAITING):
            rhythm.update(phase, seen_ms)
    assert (rhythm.silences[Phase.THINKING], rhythm.silences[Phase.WAITING]) == (deque(), deque())
    assert not rhythm.thoughts
    # The usual length is not exceeded by nine of ten.
    usual: list[tuple[list[int], int | None]] = [
        ([], None),
        ([1, 2, 3, 4], None),
        ([9, 1, 2, 3, 4], 9),
        ([*range(1, 10), 1000], 9),
        ([*range(1, 20), 1000], 18),
        ([7] * 64, 7),
    ]
    for lengths, under in usual:
        with case(lengths):
            assert usually_under(lengths) == under


@pytest.mark.parametrize("times_ms", [[0, 40, 80], [0, 700, 710], [5, 5, 5], [0, 900, 100, 150]])
def test_lines_applied_at_once_have_the_rhythm_of_each(times_ms: list[int]) -> None:
    """Lines of one phase that are applied at once count as if each had been applied alone."""
    one_by_one, at_once = Rhythm(), Rhythm()
    for rhythm in (one_by_one, at_once):
        rhythm.update(Phase.WAITING, 0)
    for at_ms in times_ms:
        one_by_one.update(Phase.WRITING, 1_000 + at_ms)
    gaps = (later - earlier for earlier, later in itertools.pairwise(times_ms))
    pieces = Pieces(1_000 + times_ms[0], max(0, *gaps))
    at_once.update_by_pieces(Phase.WRITING, pieces, 1_000 + times_ms[-1])
    for rhythm in (one_by_one, at_once):
        rhythm.update(Phase.WAITING, 9_000)
    assert vars(one_by_one) == vars(at_once)


START = RunStarted("other", session_id="s")
WELL = TurnEnded(Outcome.SUCCEEDED)


def session_of(*events: Event, traits: Traits | None = None) -> Session:
    """Return a session after these events, one per line."""
    session = Session()
    apply_line(session, [FormatDetected("other-stream", traits or Traits(), "other")], Place(0, 1, None))
    for event in events:
        apply_line(session, [event], Place(0, 1, 1000))
    return session


def said(text: str) -> Text:
    """Return an answer of the main agent."""
    return Text(Channel.ANSWER, text)


def test_turns_of_a_run() -> None:
    """The run counts two turns, and keeps its first prompt and its text; a prompt belongs to the turn that
    was announced. The texts of turns that a rewind removes are not part of the answer; the calls stay.
    """
    events = START, Prompt("One"), said("A"), WELL, Prompt("Two"), said("B")
    session = session_of(*events)
    assert (len(session.runs), session.run.turns, session.outcome) == (1, 2, Outcome.RUNNING)
    assert (session.run.prompt, session.text) == ("One", "AB")
    assert session_of(*events, TurnEnded(Outcome.FAILED)).outcome is Outcome.FAILED
    session = session_of(START, TurnStarted(), Prompt("One"), WELL, TurnStarted(), Prompt("Two"))
    assert session.run.turns == 2
    assert session_of(START, TurnStarted(), TurnStarted()).run.turns == 2
    started = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "sleep 9")
    ended = ToolEnded("c", None, "Bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran")
    session = session_of(START, Prompt("One"), started, TurnStarted())
    assert len(session.open_calls) == 1
    session = session_of(START, Prompt("One"), started, WELL, TurnStarted(), ended)
    close_session(session)
    assert [call.outcome for call in session.calls] == [Outcome.SUCCEEDED]
    assert session.never_completed == 0
    session = session_of(START, RunInfo(model="one", cwd="/src"), RunInfo(model="two", agent_version="1.2"))
    run = session.run
    assert (run.format, run.model, run.cwd, run.agent_version) == ("other", "two", "/src", "1.2")
    assert session.agent_name == "other"
    assert session_of(START, RunInfo(agent_name="zed")).agent_name == "zed"
    # A rewind removes the last turns.
    call = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "ls")
    rewound = START, Prompt("1"), said("A"), Prompt("2"), said("B"), call, said("C"), Prompt("3"), said("D")
    session = session_of(*rewound, Rewound(2), Prompt("4"), said("E"))
    assert (session.text, session.run.turns, len(session.calls)) == ("AE", 2, 1)
    assert [entry.text for entry in session.transcript if entry.kind is Kind.NOTICE] == ["rewound by 2 turns"]
    assert session_of(*rewound, Rewound(99)).text == ""
    assert session_of(*rewound, Rewound(0)).text == "ABCD"
    assert session_of(START, Rewound(1)).run.turns == 0
    thought = Text(Channel.REASONING, "hm")
    session = session_of(START, said("A"), TextEnded(Channel.ANSWER), said("Bc"), thought, said("d"))
    assert session.text == "ABcd"
    apply_line(session, [TextRetracted(3), said("Bcd!")], Place(0, 1, None))
    assert session.text == "ABcd!"
    apply_line(session, [TextRetracted(99)], Place(0, 1, None))
    assert session.text == ""


BEGIN: list[Event] = [RunStarted("x", "s"), Prompt("One.")]
DONE = TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=7)


def made(*events: Event) -> Session:
    """Return the session with these events, whose lines arrived a second apart."""
    read = Session()
    for number, event in enumerate([*BEGIN, *events]):
        apply_line(read, [event], Place(number, 1, 1000 * number))
    return read


def notes(read: Session) -> list[str]:
    """Return the notices of the transcript."""
    return [entry.text for entry in read.transcript if entry.kind == "notice"]


def test_results_and_pauses_of_turns() -> None:
    """Text that arrives after the result counts until the next turn; some formats repeat only the last
    texts. A pause lasts from a result to the next turn's first line; an error belongs to its turn.
    """
    traits = Traits(result_is_last_text=True)
    events = (
        START,
        said("First."),
        TextEnded(Channel.ANSWER),
        said("Do"),
        TextEnded(Channel.ANSWER),
        said("ne"),
    )
    for repeated, matches in (("Done", True), ("none", False), ("", None), (None, None)):
        ended = TurnEnded(Outcome.SUCCEEDED, repeated)
        assert session_of(*events, ended, traits=traits).run.text_matches_result is matches
    assert session_of(*events, TurnEnded(Outcome.SUCCEEDED, "Done")).run.text_matches_result is False
    ended = TurnEnded(Outcome.CANCELLED, "Done")
    assert session_of(*events, ended, traits=traits).run.text_matches_result is None
    other_result = TurnEnded(Outcome.SUCCEEDED, "ab")
    read = made(*says("a"), other_result)
    other_ended = read.run.turn_result
    assert other_ended is not None
    assert other_ended.matches_text is False
    for event in says("b"):
        apply_line(read, [event], Place(9, 1, None))
    assert other_ended.matches_text is True
    for event in (TurnStarted(), *says("c")):
        apply_line(read, [event], Place(9, 1, None))
    assert other_ended.matches_text is True
    assert read.run.text_matches_result is None
    other_ended = made(*says("Done."), DONE).run.turn_result
    assert other_ended is not None
    assert other_ended.is_streamed
    other_ended.forget_text()
    other_ended.settle()
    assert (
        other_ended.text,
        other_ended.length,
        other_ended.part(0, 9),
        other_ended.is_streamed,
        other_ended.matches_text,
    ) == (None, 0, "", False, None)
    # A turn has its pauses notes and errors.
    run = made(DONE, Prompt("Two."), DONE, DONE).run
    assert (run.pauses, run.ended_turns, run.duration_of_turns_ms) == ([(2000, 3000)], 2, 14)
    over = Compaction(is_over=True, tokens_before=150_000, tokens_after=30_000)
    assert notes(made(over)) == ["context compacted: 150,000 → 30,000 tokens"]
    assert notes(made(Compaction(is_over=True))) == ["context compacted"]
    error = Notice("overloaded", is_error=True)
    assert made(error).last_error == "overloaded"
    assert made(error, TurnStarted()).last_error == ""
