"""What users do in a terminal, and what the list has to show: each expectation stands here before it is run.

An expectation names the sessions that run by letters, in the order in which they appeared, and `new` for a
process whose session is not known yet. A session that is over is in none. `?` in one asks for an inferred
state. `unknown` are states by which agentwatch says that it does not know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.real.agents import SCENES, Place, RealAgent, Terminal, prepare
from tests.real.judge import NO_ROW, Phase
from tests.real.model import ScriptedModel
from tests.real.script import SCENARIOS, prompt
from tests.real.terminal import Driver, Tmux

Phases = Iterator[Phase]
_TURN, _WORK, _NEW = "A your turn", "A working", "new starting"


@dataclass
class Play:
    """What a scenario is played with."""

    agent: RealAgent
    how: Terminal
    place: Place
    tmux: Tmux
    model: ScriptedModel
    name: str
    names: dict[str, str]
    """The letter of each session."""

    def driver(self, window: str = "agent") -> Driver:
        cwd = self.place.work(self.name)
        return Driver(self.how, self.agent.program, cwd, self.tmux, self.model, window)

    def id_of(self, letter: str) -> str:
        """Return the id of a session: as the agent names it, without the path of a file."""
        return next(found for found, name in self.names.items() if name == letter)

    def earlier(self, *arguments: str) -> None:
        """Run a session with one turn, and end it; it is listed then."""
        agent, known = self.driver(), len(self.names)
        agent.open(*arguments)
        self.hello(agent)
        agent.until(lambda: len(self.names) > known, 15, "the session to be listed")
        agent.leave()

    def hello(self, agent: Driver) -> None:
        """Play a short turn, of which nothing is expected."""
        self.say(agent, "hello")
        time.sleep(2)

    def say(self, agent: Driver, scenario: str) -> float:
        """Send a prompt, wait until the last answer has begun, and return when the prompt was sent."""
        last = len(SCENARIOS[scenario]) - 1

        def ends() -> int:
            return sum(each["step"] == last for each in self.model.steps(scenario))

        played = ends()
        begins = agent.say(prompt(scenario))
        agent.until(lambda: ends() > played, 90, "the answer")
        return begins


def during(name: str, seconds: float, *right: str, unknown: tuple[str, ...] = ()) -> Phase:
    """Return a phase from now on."""
    begins = time.time()
    time.sleep(seconds)
    return Phase(name, begins, time.time(), frozenset(right), frozenset(unknown))


def turn(
    play: Play, agent: Driver, what: str, works: str, after: str, *, unknown: tuple[str, ...] = ()
) -> Phases:
    """Play a turn of 8 s: its session works while the model writes, and then it is the user's turn."""
    begins = play.say(agent, "slow")
    now = time.time()
    time.sleep(8)
    yield Phase(f"{what}: works", begins, now + 8, frozenset({works}), frozenset(unknown))
    yield during(f"{what}: turn over", play.how.late + 4, after)


def resumed(play: Play) -> Phases:
    """A session that is resumed comes alive, by its id and as the newest one, if it can; no other row does.

    Before its first line nothing may say which session it is, if its arguments do not name it.
    """
    play.earlier()
    play.earlier()
    for prompts, what, arguments in (
        (2, "by its id", [each.format(id=play.id_of("A")) for each in play.how.resumes]),
        (3, "the newest", list(play.how.continues)),
    )[: 2 if play.how.continues else 1]:
        agent = play.driver()
        agent.open(*arguments)
        phases = [during(f"{what}: resumed", play.how.late + 3, _TURN, unknown=(_NEW,))]
        phases += turn(play, agent, what, _WORK, _TURN)
        if play.model.steps("slow")[-1]["prompts"] < prompts:  # Gemini may delete A, and continue B
            phases = [
                each._replace(right=frozenset(state.replace("A", "B") for state in each.right))
                for each in phases
            ]
        yield from phases
        agent.leave()
        yield during(f"{what}: over", play.how.late + 3, NO_ROW)


def renewed(play: Play) -> Phases:
    """After `/new` the next prompt makes another session, and the one before is over, unless it stays open.

    The new session has no line yet: until the prompt the old one, or a start, may be shown. When an empty new
    session is left, the newest with a prompt is continued, unless the agent keeps empty ones. Of sessions
    that stay open, the first is left last.
    """
    old = "A your turn, " if play.how.keeps else ""
    empty = (f"{old}{_NEW}", f"{old}B your turn", f"{old}B starting")
    agent = play.driver()
    agent.open()
    play.hello(agent)
    agent.say(play.how.new)
    yield during("empty", play.how.late + 3, _TURN, *empty)
    yield from turn(play, agent, "new", f"{old}B working", f"{old}B your turn", unknown=(_NEW,))
    agent.say(play.how.new)
    time.sleep(3)
    agent.leave()
    yield during("left empty", play.how.late + 3, NO_ROW)
    if not play.how.continues:
        return
    agent.open(*play.how.continues)
    name = "C" if play.how.continues_empty else "A" if play.how.keeps else "B"
    yield during("continued", play.how.late + 3, f"{name} your turn", unknown=(_NEW,))
    yield from turn(play, agent, "continued", f"{name} working", f"{name} your turn")
    agent.leave()


def two(play: Play) -> Phases:
    """Two processes in one folder are two sessions; each is right by its file that grows."""
    first, second = play.driver(), play.driver("second")
    first.open()
    play.hello(first)
    second.open()
    yield during("second starts", play.how.late + 3, f"{_TURN}, {_NEW}", "A your turn, B your turn")
    begun = ("A your turn, new starting",)
    yield from turn(
        play, second, "second", "A your turn, B working", "A your turn, B your turn", unknown=begun
    )
    yield from turn(play, first, "first", "A working, B your turn", "A your turn, B your turn")
    second.leave()
    yield during("second over", play.how.late + 3, _TURN)
    first.leave()
    yield during("both over", play.how.late + 3, NO_ROW)


def retried(play: Play) -> Phases:
    """A request that is refused with 500 is tried again: the turn is open until the agent gives up.

    When the user stops the tries, the turn is over; where nothing says so, the state is inferred, or still
    that of a turn that is open.
    """
    agent = play.driver()
    agent.open()
    play.hello(agent)
    begins = play.say(agent, "flaky")
    yield Phase("tries again", begins, time.time(), frozenset({_WORK}))
    yield during("answered", play.how.late + 4, _TURN)
    failed = play.model.refusals
    begins = agent.say(prompt("broken"))
    agent.until(lambda: play.model.refusals > failed + 1, 60, "a second try")
    time.sleep(2)
    for key in play.how.stop:
        now = agent.keys(key)
        time.sleep(0.5)
    yield Phase("tries until stopped", begins, now, frozenset({_WORK}))
    stopped = ("A your turn" if play.how.says_stop else "A your turn?", "A turn failed", "A cancelled")
    yield during("stopped", play.how.late + 6, *stopped, unknown=("A quiet", "A working?"))
    agent.keys("C-u")  # Claude takes the prompt back into its line
    agent.leave()


def refused(play: Play) -> Phases:
    """A refused permission ends the question; the turn is over when the agent is ready for a prompt."""
    agent = play.driver()
    agent.open()
    yield during("ready", 4, _NEW, "A starting", _TURN)
    played = len(play.model.steps("turn"))
    begins = agent.say(prompt("turn"))
    agent.until(lambda: len(play.model.steps("turn")) > played, 30, "the answer")
    assert play.how.asks is not None
    now = agent.waits(play.how.asks, "the question")
    yield Phase("before the question", begins, now, frozenset({_WORK}), frozenset({_NEW}))
    yield during("asks", play.how.late + 3, "A asks", unknown=("A quiet",))
    agent.keys("Escape")
    time.sleep(3)  # an agent may tell the model, whose answer takes 0.3 s
    yield during("refused", play.how.late + 4, _TURN, "A turn failed")
    agent.leave()
    yield during("over", play.how.late + 3, NO_ROW)


def elsewhere(play: Play) -> Phases:
    """A process whose home is another one has its sessions there: it is not shown, or said to be unknown."""
    place = replace(play.place, owner="another")
    prepare(play.agent, place)
    agent = play.driver()
    agent.open(HOME=str(place.home))
    yield during("starts", play.how.late + 3, NO_ROW, "new unknown")
    play.hello(agent)
    yield during("answers", play.how.late + 3, NO_ROW, "new unknown")
    agent.leave()


PLAYED: dict[str, Callable[[Play], Phases]] = {
    each.__name__: each for each in (resumed, renewed, two, retried, refused, elsewhere)
}
assert tuple(PLAYED) == SCENES


def missing(name: str, how: Terminal) -> str:
    """Return why an agent cannot play a scenario; empty if it can."""
    needs = {"renewed": how.new, "refused": how.asks}
    return "" if needs.get(name, True) else "it has none, or it was not tried"
