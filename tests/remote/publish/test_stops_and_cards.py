"""When the shipper stops, what it says on the card then, and how often it writes the card."""

import os
from functools import partial
from pathlib import Path

import orjson
import pytest

from agentwatch.base.clock import now_ms
from agentwatch.remote.chunk import SESSION_BYTES
from agentwatch.remote.engine import RemoteError, Trouble
from agentwatch.remote.publish import recorded
from agentwatch.remote.publish.sidecar import Shipped, ShipState
from tests.conftest import case
from tests.remote.publish.conftest import Begin
from tests.remote.publish.memory import Engine
from tests.remote.publish.world import World


def test_an_engine_is_awaited_for_some_time_after_the_end(world: World, engine: Engine, begin: Begin) -> None:
    """An absent engine is awaited for an hour, one that refuses for a minute."""
    # The process of a session that has ended does not stay for ever; the rest stays in the file.
    world.write(b"one\n")
    world.end()
    engine.is_away = True
    last = world.ship()
    assert 3600 <= world.now - 1000 < 3700
    assert (last.state, last.shipped) == (ShipState.WAITING, 0)
    assert last.problem
    # A refused login ends the process a minute after the recording has ended; the next one goes on.
    world, engine = begin()
    world.write(b"one\n")
    world.end()
    engine.refusal = RemoteError("the engine refuses the login", Trouble.REFUSED)
    last = world.ship()
    assert 60 <= world.now - 1000 < 75
    assert (last.state, last.shipped, last.problem) == (ShipState.STOPPED, 0, str(engine.refusal))
    engine.refusal = None
    last = world.ship(last._replace(state=ShipState.SHIPPING))
    assert (last.state, last.problem) == (ShipState.DONE, "")
    assert engine.read() == b"one\n"
    # An engine that is back after half an hour, and refuses for some seconds, gets everything.
    world, engine = begin()
    world.write(b"one\n")
    world.end()
    engine.is_away = True
    engine.refusal = RemoteError("the engine refuses the login", Trouble.REFUSED)
    world.at = [(2850.0, partial(setattr, engine, "refusal", None)), (2800.0, engine.come_back)]
    assert world.ship().state is ShipState.DONE
    # One lost answer is not news; an engine that cannot be reached for a second is noted.
    world, engine = begin()
    world.write(b"one\n")
    world.writes = [
        *[lambda: None] * 10,
        engine.lose_next,
        lambda: world.write(b"two\n"),
        *[lambda: None] * 20,
    ]
    world.is_asked_to_end = lambda: not world.writes
    world.ship()
    assert engine.read() == b"one\ntwo\n"
    assert {state.problem for state in world.states} == {""}
    engine.is_away, world.is_asked_to_end = True, lambda: world.now > 1010
    assert world.ship().problem == "the engine does not answer"


@pytest.mark.system
def test_a_refusal_is_awaited_while_the_agent_runs(world: World, engine: Engine) -> None:
    """A login that is renewed after hours publishes the rest of a live run."""
    world.write(b"one\n")
    engine.refusal = RemoteError("the engine refuses the login", Trouble.REFUSED)
    world.at = [(20_030.0, world.end), (20_000.0, partial(setattr, engine, "refusal", None))]
    assert world.ship().state is ShipState.DONE
    assert engine.read() == b"one\n"


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("trouble", ["away", "refused"])
def test_a_deleted_recording_is_given_up_at_once(
    world: World, engine: Engine, trouble: str, *, is_live: bool
) -> None:
    """Whatever keeps the engine from taking it: nobody waits for a recording that was deleted."""
    world.write(b"one\n")
    if not is_live:
        world.end()
    engine.is_away = trouble == "away"
    engine.refusal = RemoteError("the engine refuses the login", Trouble.REFUSED)
    world.at = [(1030.0, world.files.recording.unlink)]
    last = world.ship()
    assert world.now < 1036
    assert (last.state, last.problem) == (ShipState.STOPPED, "the recording was deleted")


def test_a_recording_that_became_another_stops(world: World, engine: Engine, begin: Begin) -> None:
    """A file that is shorter than what the engine has, or begins with other bytes, is not followed."""
    # A file that is shorter than what the engine has is not followed; the card says why.
    world.write(b"one\ntwo\n")
    world.writes = [*[lambda: None] * 3, lambda: os.ftruncate(world.fd, 4)]
    last = world.ship()
    assert (last.state, last.problem) == (ShipState.STOPPED, "the recording was cut back")
    assert orjson.loads(engine.cards[-1])["problem"] == last.problem
    assert engine.end is None
    # Where the engine has more than the file, the file is another one.
    world, engine = begin()
    world.write(b"one\ntwo\n")
    world.is_asked_to_end = lambda: world.now > 1003
    world.ship()
    os.ftruncate(world.fd, 4)
    world.is_asked_to_end = lambda: False
    last = world.ship()
    assert last.state is ShipState.STOPPED
    assert orjson.loads(engine.cards[-1])["problem"] == last.problem
    # Other bytes before the next one show that the file is another recording.
    world, engine = begin()

    def fill_again() -> None:
        os.ftruncate(world.fd, 0)
        world.write(b"two\n" * 30)

    world.write(b"one\n" * 20)
    world.writes = [*[lambda: None] * 3, fill_again]
    assert world.ship().problem == "the recording was cut back"
    # A file that was renamed is the same recording.
    world, engine = begin()
    path = world.files.recording
    world.write(b"one\n")
    world.writes = [
        lambda: path.rename(path.with_name("moved")),
        lambda: world.write(b"two\n"),
        world.end,
    ]
    assert world.ship().state is ShipState.DONE
    assert engine.read() == b"one\ntwo\n"
    # A deleted session is not published any further, nor another file in its place.
    for change, problem in (("unlink", "the recording was deleted"), ("replace", "replaced by another file")):
        with case(change):
            world, engine = begin()
            path = world.files.recording
            world.write(b"one\n")

            def go(change: str = change, path: Path = path) -> None:
                if change == "unlink":
                    path.unlink()
                else:
                    other = path.with_name("other")
                    other.write_bytes(b"other\n")
                    path.rename(path.with_name("moved"))
                    other.rename(path)

            world.writes = [*[lambda: None] * 3, go]
            last = world.ship()
            assert last.state is ShipState.STOPPED
            assert last.problem.endswith(problem)


def test_cards_are_written_once_a_second_and_every_30_s(
    world: World, engine: Engine, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card is written on change, at most once a second; and as a sign of life."""
    world.writes = [partial(world.write, b'{"a":%d}\n' % n) for n in range(200)]
    world.is_asked_to_end = lambda: not world.writes
    world.ship()
    busy = world.now - 1000
    assert busy / 2 < len(engine.cards) <= busy + 2
    began, before = world.now, len(engine.cards)
    world.is_asked_to_end = lambda: world.now > began + 300
    world.ship()
    assert 300 / 30 - 1 <= len(engine.cards) - before <= 300 / 30 + 3
    # Where the login may write no cards, the bytes arrive all the same.
    world, engine = begin()
    engine.refuses_cards = True
    world.write(b"one\n")
    world.writes = [*[lambda: None] * 10, world.end]
    assert world.ship().state is ShipState.DONE
    assert engine.read() == b"one\n"
    assert engine.opened < 10
    # A full stream is a problem on the card until a piece is stored.
    world, engine = begin()
    world.write(b"one\n")
    engine.refusal = RemoteError("the engine's room for sessions is used up", Trouble.FULL)
    world.is_asked_to_end = lambda: world.now > 1020
    assert world.ship().state is ShipState.WAITING
    assert orjson.loads(engine.cards[-1])["problem"] == str(engine.refusal)
    engine.refusal, world.is_asked_to_end = None, lambda: False
    world.end()
    assert world.ship().problem == ""
    assert "problem" not in orjson.loads(engine.cards[-1])
    # The list of the watcher says how it ended, as the list of the publisher does.
    world, engine = begin()
    world.write(b'{"type":"system","subtype":"init","session_id":"a","model":"m","cwd":"/"}\n')
    text = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    }
    world.write(orjson.dumps(text) + b"\n")
    world.write(b'{"type":"result","subtype":"success","is_error":false,"result":"Done."}\n')
    world.writes = [lambda: None] * 3
    world.writes.append(world.end)
    world.ship()
    running, ended = (orjson.loads(engine.cards[at]) for at in (0, -1))
    assert running["state"] == "succeeded"
    assert "last" not in running
    assert (ended["outcome"], ended.get("last", "")) == ("succeeded", "")
    # A job that waits for that may end the machine, which cannot write the card any more.
    world, engine = begin()
    world.states = states = Noted(engine)
    world.write(b"one\n")
    world.writes = [*[lambda: None] * 100, world.end]
    world.ship()
    assert states[-1].state is ShipState.DONE
    assert (states.card["shipped"], len(str(states.card["sha256"]))) == (4, 64)
    # A session that has just ended is not hidden as older than a week because the agent's clock is wrong.
    world, engine = begin()
    world.write(b'{"type":"system","subtype":"init","session_id":"a","model":"m","cwd":"/"}\n')
    world.write(
        b'{"type":"thinking","subtype":"delta","text":"a","session_id":"a","timestamp_ms":1600000000000}\n'
    )
    world.end()
    world.ship()
    changed_ms = world.files.recording.stat().st_mtime_ns // 1_000_000
    assert orjson.loads(engine.cards[-1])["seen_ms"] == changed_ms
    # Shipping an ended session again sends nothing.
    world, engine = begin()
    world.write(b"one\n")
    world.end()
    world.ship()
    pieces = [*engine.pieces]
    assert world.ship().state is ShipState.DONE
    assert engine.pieces == pieces
    # It is limited until the reset, and the card has the windows of the account.
    world, engine = begin()
    resets_s = now_ms() // 1000 + 3600
    info = {"status": "rejected", "rateLimitType": "five_hour", "utilization": 1.0, "resetsAt": resets_s}
    for line in (
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "claude_code_version": "2.1"},
        {"type": "user", "message": {"role": "user", "content": "Do it"}, "session_id": "s"},
        {"type": "rate_limit_event", "rate_limit_info": info, "session_id": "s"},
    ):
        world.write(orjson.dumps(line) + b"\n")
    minutes_ago = os.stat(world.fd).st_mtime - 600
    os.utime(world.fd, (minutes_ago, minutes_ago))
    world.is_asked_to_end = lambda: world.now > 1003
    world.ship()
    card = orjson.loads(engine.cards[-1])
    known = card["state"], card["last"], card["until_ms"]
    assert known == ("limited", "waits for the limit", resets_s * 1000)
    [window] = card["limits"]
    assert (window["name"], window["used_percent"], window["resets_ms"]) == ("5h", 100, resets_s * 1000)
    # Beyond the limit the rest stays on the machine; the card says so, and has the outcome at the end.
    world, engine = begin()
    monkeypatch.setattr(recorded, "SESSION_BYTES", 10)
    world.write(b"one\ntwo\nthree\n")
    world.writes = [*[lambda: None] * 40, world.end]
    last = world.ship()
    assert len(engine.read()) == 10
    assert engine.end is None
    assert last.state is ShipState.STOPPED
    card = orjson.loads(engine.cards[-1])
    assert f"{SESSION_BYTES >> 20} MiB" in card["problem"]
    assert (card["outcome"], card["bytes"], card["shipped"]) == ("unfinished", 14, 10)


class Noted(list[Shipped]):
    """The states that a shipper notes, and the last card that the engine has by then."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self.card: dict[str, object] = {}

    def append(self, state: Shipped) -> None:
        """Note a state."""
        super().append(state)
        self.card = orjson.loads(self._engine.cards[-1]) if self._engine.cards else {}
