"""Whatever is known about a session, its state claims no more than that."""

import random
from typing import TypeVar

import pytest

from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.digest import Digest, OpenCall, Turn
from agentwatch.catalog.session_status import LIVE, Ground, Process, SessionStatus
from agentwatch.catalog.states import knowledge_of, may_ask, status
from agentwatch.session.events import Outcome, ToolKind
from tests.catalog.states.cases import NOW_MS, found
from tests.conftest import case

T = TypeVar("T")
AGENTS = [
    "claude",
    "codex",
    "gemini",
    "qwen",
    "opencode",
    "pi",
    "copilot",
    "cursor",
    "amp",
    "agentwatch",
    "new",
]
MODES = ["", "default", "bypassPermissions", "acceptEdits", "never", "on-request", "yolo", "a new mode"]
SAYABLE = [None, State.WORKING, State.ASKS, State.YOUR_TURN, State.SHELL, State.SUCCEEDED, State.FAILED]


class Any:
    """Values of any kind, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, values: list[T]) -> T:
        """Return one of some values."""
        return self._random.choice(values)

    def time(self) -> int | None:
        """Return a time within the last hours, in the future, or none."""
        return self.of([None, NOW_MS, NOW_MS - self._random.randrange(10_000_000), NOW_MS + 5_000])

    def call(self, number: int) -> OpenCall:
        agent = self.of([None, None, "c0"])
        kind = self.of([*ToolKind, *[ToolKind.EXECUTE] * 6])
        return OpenCall(
            f"c{number}",
            "Tool",
            kind,
            self.of(["", "ls"]),
            self.time(),
            agent,
            asks=self.of([False] * 9 + [True]),
        )

    def digest(self) -> Digest:
        calls = [self.call(number) for number in range(self._random.randrange(4))]
        turn = self.of([*Turn, Turn.OPEN, Turn.OPEN])
        return Digest(
            is_whole=self.of([True, False]),
            permission_mode=self.of(MODES),
            last_text=self.of(["", "Done.\nMore?"]),
            seen_ms=self.time(),
            turn=turn,
            turn_ms=self.time(),
            outcome=self.of([None, Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED]),
            calls=len(calls),
            open_calls={each.call_id: each for each in calls} if turn is not Turn.ENDED else {},
            question=self.of(["", "", "", "ls"]),
            question_ms=self.time(),
            retry=self.of(["", "retry 1"]),
            usual_pause_ms=self.of([None, 5, 10**6]),
            is_one_liner=self.of([False, False, True]),
        )

    def process(self, agent: str) -> Process:
        children = self._random.randrange(2)
        return Process(
            7,
            1,
            agent,
            began_ms=self.time(),
            children=children,
            child_began_ms=self.time() if children else None,
            is_shared=self.of([False, False, True]),
            viewer=self.of([None, 0, 1]),
            is_idle=self.of([None, True, False]),
            has_one_prompt=self.of([False, False, True]),
            is_guess=self.of([False, False, True]),
        )

    def reported(self, agent: str) -> StateReport:
        """Return what the agent says."""
        about = self.of(["", "permission", "question"])
        return StateReport(agent, "s1", Life.LIVE, state=self.of(SAYABLE), since_ms=self.time(), about=about)


def assert_it_claims_no_more(
    known: SessionStatus,
    digest: Digest | None,
    says: StateReport | None,
    runs: Process | None,
    agent: str,
    life: Life,
) -> None:
    """Check a state of a session that is not a subagent against what is known."""
    assert known.by
    if life is Life.UNKNOWN:
        assert known[:2] == (State.UNKNOWN, Ground.UNKNOWN)
    if life is Life.DEAD:
        assert known.state not in LIVE
    if known.state not in LIVE and known.state is not State.UNKNOWN and life is Life.LIVE:
        has_no_viewer = runs is not None and runs.is_shared and runs.viewer == 0
        has_one_prompt = agent == "agentwatch" or (runs is not None and runs.has_one_prompt)
        assert has_no_viewer or has_one_prompt or (says is not None and says.state is known.state)
    is_reported = says is not None and says.state is not None
    if known.state is State.ASKS and known.ground is Ground.SAID:
        is_logged = digest is not None and (
            digest.question or any(each.asks for each in digest.open_calls.values())
        )
        assert is_reported or is_logged
    is_guess = runs is not None and runs.is_guess
    if known.state is State.ASKS and known.ground is Ground.INFERRED and not is_guess:
        assert digest is not None
        assert runs is not None
        assert not digest.is_one_liner
        kinds = [each.kind for each in digest.open_calls.values()]
        assert any(may_ask(knowledge_of(agent), digest.permission_mode, kind) for kind in kinds)
        assert known.since_ms is not None
        assert NOW_MS - known.since_ms >= 2_000
    if known.state is State.QUIET:
        assert known.ground is Ground.INFERRED
        assert known.since_ms is not None
        assert NOW_MS - known.since_ms > 60_000
    assert known.ground is not Ground.UNKNOWN or known.state is State.UNKNOWN
    assert len(known.now) <= 230


@pytest.mark.system
@pytest.mark.slow
def test_a_state_claims_no_more_than_is_known() -> None:
    """Rules that hold for any session: dead is not live, a guess is marked, and silence has its time."""
    for seed in range(8):
        with case(f"seed {seed}"):
            some = Any(seed)
            states = set()
            for _ in range(1_500):
                agent, life = some.of(AGENTS), some.of([*Life, Life.LIVE, Life.LIVE])
                digest = some.of([None, some.digest(), some.digest()])
                says = some.of([None, None, some.reported(agent)])
                runs = some.of([None, some.process(agent), some.process(agent)])
                known = status(found(agent), digest, says, runs, life, NOW_MS)
                assert_it_claims_no_more(known, digest, says, runs, agent, life)
                states.add(known[:2])
            assert len(states) >= 14


def test_a_subagent_never_waits_for_a_prompt_after_its_answer() -> None:
    """A subagent that has answered has ended, whatever is known about its parent."""
    for seed in range(4):
        with case(f"seed {seed}"):
            some = Any(seed)
            for _ in range(500):
                agent, digest = some.of(AGENTS), some.digest()
                known = status(
                    found(agent, "main"), digest, None, some.process(agent), some.of([*Life]), NOW_MS
                )
                if digest.turn is Turn.ENDED:
                    assert known.state in {State.SUCCEEDED, State.FAILED, State.CANCELLED}
