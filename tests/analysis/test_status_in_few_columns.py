"""In few columns the status has fewer words but still the essential facts."""

from __future__ import annotations

import pytest

from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.text.safe import columns
from tests.builders.lines import init, result, started, user
from tests.builders.sentences import BUSY, IDLE, of_step, sentence
from tests.conftest import case


@pytest.mark.parametrize(
    "path", ["/home/ada/app/" + "deep/" * 20 + "test_nearest.py", "東京/" * 30 + "東.py"]
)
def test_a_path_keeps_its_end(path: str) -> None:
    """A path is shortened to make space for the time, and keeps its end, which names the file."""
    words = sentence(init(), started("read", path=path), after_ms=12_000, width=37)
    assert words.startswith("running read …")
    assert words.endswith(path[-4:] + " · 0:12")
    assert columns(words) in (36, 37)
    short = sentence(init(), started("read", path="a/b.py"), after_ms=12_000, width=37)
    assert short == "running read a/b.py · 0:12"


COMMAND = started("shell", command="pytest -q " + "tests/test_nearest.py " * 9, timeout=120_000)
LATE = COMMAND.replace(b"120000", b"2000")
FETCH = started("webFetch", "f", url="https://docs.example.org/tide/tables")
STEP = tuple(of_step(name) for name in "abc")
MANY = tuple(started("shell", name, command=name, timeout=5000) for name in "ab")


def test_a_narrow_screen_still_has_the_time() -> None:
    """In few columns the wording is shorter, and the target is cut before the time."""
    cases: list[tuple[tuple[bytes, ...], AgentFacts, int, str]] = [
        ((COMMAND,), NO_FACTS, 37, "running pytest -q tes… · 0:12 of 2:00"),
        (
            (COMMAND,),
            IDLE,
            70,
            "running pytest -q tests/test_nearest.py test… · 0:12 of its 2:00 limit",
        ),
        ((LATE,), NO_FACTS, 37, "running pytest -q … · 0:12, 0:10 over"),
        ((COMMAND,), NO_FACTS, 60, "running pytest -q tests/test_neare… · 0:12 of its 2:00 limit"),
        ((COMMAND,), IDLE, 60, "running pytest -q tests/test_neare… · 0:12 of its 2:00 limit"),
        (
            (COMMAND,),
            IDLE,
            75,
            "running pytest -q tests/… · 0:12 of its 2:00 limit · its processes are idle",
        ),
        ((FETCH,), NO_FACTS, 37, "running fetch https://docs.ex… · 0:12"),
        ((FETCH,), NO_FACTS, 24, "running fetch · 0:12"),
        (STEP, NO_FACTS, 37, "3 of 3 left: read a 0:12"),
        ((*STEP[:2], FETCH), NO_FACTS, 37, "3 calls, the oldest: read a 0:12"),
        (MANY, NO_FACTS, 37, "2 calls, the oldest: a 0:12, 0:07 ov…"),
        ((started("t" * 99, "t", x="y"),), NO_FACTS, 37, "running tttttttttt… ttttttttt… · 0:12"),
    ]
    for lines, agent, width, words in cases:
        with case((lines, agent, width)):
            found = sentence(init(), *lines, after_ms=12_000, agent=agent, width=width)
            assert found == words
            assert len(found) <= width


def test_a_silence_is_explained_in_forty_columns() -> None:
    """40 columns are enough to show a stall and its evidence; cut text ends with an ellipsis."""
    cases: list[tuple[tuple[bytes, ...], int, bool, AgentFacts, str]] = [
        ((user(),), 119, False, NO_FACTS, "quiet 1:59, no open call"),
        ((user(),), 120, False, NO_FACTS, "stalled? quiet 2:00, no open call"),
        ((user(),), 120, False, BUSY, "quiet 2:00, no open call · uses CPU"),
        ((COMMAND,), 190, False, NO_FACTS, "stalled? pytest -q… · 3:10, 1:10 over"),
        ((result(),), 30, False, IDLE, "process 4121 alive 0:30 after result…"),
        (
            (user(),),
            0,
            True,
            AgentFacts(exit_code=1, stderr="no login"),
            "no result · exit 1 · stderr: no login",
        ),
    ]
    for lines, after_s, is_over, agent, words in cases:
        with case((lines, after_s, is_over)):
            found = sentence(init(), *lines, after_ms=after_s * 1000, is_over=is_over, agent=agent, width=37)
            assert found == words


def test_a_command_is_cut_at_60_columns() -> None:
    """A command is cut at 60 columns even where there is space, so that its time is easy to find."""
    command = "pytest -q " + "tests/test_nearest.py " * 9
    words = f"running {command[:59]}… · 0:12 of its 2:00 limit"
    for width in (None, 200):
        assert sentence(init(), COMMAND, after_ms=12_000, width=width) == words
        assert sentence(init(), COMMAND, after_ms=12_000, width=width, agent=IDLE).startswith(words)
