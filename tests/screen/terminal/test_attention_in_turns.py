"""The bell rings once per question to the user, and once per turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.screen.terminal.attention import Attention
from agentwatch.session.events import Event, Outcome, Permission, Prompt, RunStarted, TurnEnded, TurnStarted
from agentwatch.text.safe import SafeText
from tests.builders.made_agent import MadeSession

BELL = "\x07"
ASKED = Permission("Bash", None, key="q", target="rm -rf build")
DONE = TurnEnded(Outcome.SUCCEEDED, "Done.")
START: list[Event] = [RunStarted("x", cwd="/src/tidepool"), Prompt("Do it.")]


class Watched:
    """A recording that grows event by event, and what its `Attention` writes to the terminal."""

    def __init__(self, folder: Path, session: MadeSession, config: Config) -> None:
        path = session.save(folder / "x.ndjson")
        path.with_suffix(".times").unlink()
        self._lines = path.read_bytes().splitlines(keepends=True)
        self._path = path
        path.write_bytes(b"".join(self._lines[: len(START)]))
        self._feed = Feed(saved_source(path, True).reader)
        self._written = list[str]()
        self._attention = Attention(self._feed, self._written.append, config, {"TERM": "xterm"})
        self._next = len(START)
        self.tick()

    def tick(self) -> str:
        """Run one tick, and return what it wrote."""
        self._written.clear()
        self._feed.advance()
        self._attention.update(SafeText("words"), is_quiet=False)
        return "".join(self._written)

    def step(self) -> str:
        """Append the next event, run one tick, and return what it wrote."""
        with self._path.open("ab") as file:
            file.write(self._lines[self._next])
        self._next += 1
        return self.tick()


def watched(
    folder: Path, monkeypatch: pytest.MonkeyPatch, events: list[Event], *, title: bool = False
) -> Watched:
    """Return a session that has begun and whose further events are to come."""
    session = MadeSession([*START, *events])
    session.use(monkeypatch)
    return Watched(folder, session, Config(title=title, bell=not title))


def test_each_question_rings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bell rings when the agent asks, not again while the question is open, nor when it is answered."""
    answered = ASKED._replace(answer="approved")
    live = watched(tmp_path, monkeypatch, [ASKED, answered, ASKED, DONE])
    assert live.step() == BELL
    assert live.tick() == ""
    assert live.step() == ""
    assert live.step() == BELL
    assert live.step() == BELL


def test_each_turn_rings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bell rings at the end of each turn of a run."""
    live = watched(tmp_path, monkeypatch, [DONE, Prompt("More."), DONE, TurnStarted(), DONE])
    assert [live.step() for _ in range(5)] == [BELL, "", BELL, "", BELL]


def test_a_turn_that_ended_in_a_burst_rings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a turn rings even if the next one has begun when the screen reads both."""
    live = watched(tmp_path, monkeypatch, [DONE, Prompt("More.")])
    path = tmp_path / "x.ndjson"
    with path.open("ab") as file:
        file.write(b"".join(live._lines[len(START) :]))
    assert live.tick() == BELL


def test_an_automatic_answer_does_not_ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to answer a question that the agent answers itself."""
    assert watched(tmp_path, monkeypatch, [ASKED._replace(is_automatic=True)]).step() == ""


def test_the_title_says_that_the_agent_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a question is open, the title of the terminal says so."""
    live = watched(tmp_path, monkeypatch, [ASKED, ASKED._replace(answer="denied")], title=True)
    assert "agentwatch asks – tidepool" in live.step()
    assert "agentwatch running – tidepool" in live.step()
