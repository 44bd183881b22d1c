"""Judges a recording while it grows, in a thread that also writes the action log.

The thread decodes the recording itself, so a rule is judged within 0.2 s even while the screen is busy,
hidden or blocked. It costs half a core at 10,000 lines a second. The place of an alarm in the log follows
from what had been read when its rule was hit.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from agentwatch.agents import Agent
from agentwatch.base.clock import now_ms
from agentwatch.base.config import SessionRule
from agentwatch.base.files import write_all
from agentwatch.feed.feed import POLL_SECONDS, Feed
from agentwatch.recording.acts import SessionActs
from agentwatch.recording.alarms import Alarm, AlarmsFile, alarm_words
from agentwatch.recording.lines import LineReader
from agentwatch.rules.alarms.events import HIT, Changes, Event, state_of
from agentwatch.rules.alarms.tripwire import Action, Tripwire
from agentwatch.rules.alarms.watch import Announcement, Cooldown, Hit, Watch
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.reducers import forget_texts
from agentwatch.text.safe import SafeText

_POLL_SECONDS = 0.1
MOST_LOGGED = 1000
"""The hits of one rule that are kept in the log and beside the recording."""


class ActionLog(Protocol):
    """The lines of the log, which the room that prints sessions makes."""

    def new_lines(self, is_over: bool) -> Iterable[str]:
        """Return the lines since the last call; with `is_over`, also the last ones."""


class Commands(Protocol):
    """Runs the user's commands, which the room that redacts does."""

    @property
    def faults(self) -> Mapping[str, OSError | None]:
        """The commands that have failed."""

    def tell(self, command: tuple[str, ...], event: Event) -> None:
        """Run a command with an event."""

    def finish(self) -> None:
        """Wait until all commands have ended."""


class News(NamedTuple):
    action: Action
    words: SafeText


class AlarmThread:
    """The rules that watch a recording, and its action log."""

    def __init__(
        self,
        reader: LineReader,
        tripwires: Sequence[Tripwire],
        act: Callable[[Action, str], bool],
        *,
        log: Callable[[Feed, Sequence[Alarm]], ActionLog],
        log_fd: int | None = None,
        alarms_path: Path | None = None,
        acts: SessionActs | None = None,
        agent: Agent | None = None,
        facts: Callable[[], AgentFacts] = lambda: NO_FACTS,
        announce: Callable[[News], object] | None = None,
        woken: Callable[[], object] = lambda: None,
        session_rules: Sequence[SessionRule] = (),
        is_silenced: Callable[[], bool] = lambda: False,
        commands: Commands | None = None,
        address: str = "",
    ) -> None:
        """Start the thread. The own position of `reader` stays unchanged. `act` pauses or stops the agent
        because of the rule with this name, and returns whether that succeeded. `act`, `announce` and
        `is_silenced` are called in the thread. `log` makes the action log of the session of a feed, to which
        alarms are added while it grows. `log_fd` is closed at the end; None for no log. `alarms_path` is None
        to keep no alarms, `acts` None if they are not known. `announce` is None to keep hits for `take_news`.
        `woken` is called when `take_news` has new hits. `commands` is None if no rule has one."""
        self.has_rules = bool(tripwires)
        """Whether calls or the run may hit a rule."""
        self.fault: OSError | None = None
        """The fault that made the log incomplete; None while no write has failed."""
        self.alarms: list[Alarm] = []
        """The rules that were hit so far, at most 1,000 hits of each."""
        self.stopped_by = ""
        """The rule that has stopped the agent; empty if none has."""
        self._feed = Feed(LineReader(reader.fd, reader.growth, reader.times), agent=agent)
        self._feed.acts_of = acts
        self._watch = Watch(self._feed, tripwires)
        self._act, self._facts, self._woken = act, facts, woken
        self._announce = announce
        self._session_rules, self._commands, self._address = session_rules, commands, address
        self._is_silenced = is_silenced
        self._session_changes = Changes(self._feed.session)
        self._log, self._log_fd, self._file = log, log_fd, AlarmsFile(alarms_path)
        self._broken: OSError | None = None
        self._counts: Counter[tuple[str, Action]] = Counter()
        self._cooldown = Cooldown()
        self._news: SimpleQueue[News] = SimpleQueue()
        self._finishing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tripwires", daemon=True)
        self._thread.start()

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults: a message for each, with its error if it occurred."""
        return {
            "the alarms are not kept": self._file.fault,
            "the rules do not watch the session any longer": self._broken,
            **({} if self._commands is None else self._commands.faults),
        }

    def take_news(self) -> list[News]:
        found: list[News] = []
        while True:
            try:
                found.append(self._news.get_nowait())
            except Empty:
                return found

    def announce_by(self, announce: Callable[[News], object]) -> None:
        """Announce the waiting and all later hits with this function, in the thread."""
        self._announce = announce
        for news in self.take_news():
            announce(news)

    def finish(self) -> None:
        """Wait until an ended recording is judged and logged."""
        self._finishing.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: rules that watch no more must be known
            self._broken = OSError(errno.EIO, f"internal error: {type(error).__name__}")
            self._woken()
        finally:
            self._file.close()
            if self._log_fd is not None:
                os.close(self._log_fd)
            if self._commands is not None:
                self._commands.finish()

    def _follow(self) -> None:
        log = self._log(self._feed, self.alarms)
        while not self._feed.is_over:
            if not self._feed.advance(POLL_SECONDS) and not self._feed.is_over:
                self._finishing.wait(_POLL_SECONDS)
            for hit in self._watch.update(now_ms(), self._facts()):
                self._take(hit)
            for name, words, asked in self._session_changes.new(now_ms()):
                for rule in self._session_rules:
                    if rule.event == name and not self._is_silenced():
                        self._tell(rule.command, name, rule.name, words, asked)
            for each in self._cooldown.due(now_ms(), is_over=self._feed.is_over):
                self._publish(each)
            self._write("".join(f"{line}\n" for line in log.new_lines(self._feed.is_over)))
            forget_texts(self._feed.session)

    def _take(self, hit: Hit) -> None:
        wire, action = hit.tripwire, hit.tripwire.action
        if action.needs_agent and not self._act(action, wire.name):
            action = Action.LOG
        if action is Action.STOP and not self.stopped_by:
            self.stopped_by = wire.name
        key = wire.name, wire.action
        self._counts[key] += 1
        count = self._counts[key]
        alarm = self._watch.alarm(hit, now_ms(), action, is_last=count == MOST_LOGGED)
        if count <= MOST_LOGGED:
            self.alarms.append(alarm)
            self._file.append(alarm)
        if action.needs_agent:
            self._publish(Announcement(alarm))
        elif action is Action.RUN:
            self._tell(wire.command, HIT, wire.name, hit.words, hit.command, hit.call)
        elif action is not Action.LOG and (each := self._cooldown.add(alarm)) is not None:
            self._publish(each)

    def _tell(
        self,
        run: tuple[str, ...],
        name: str,
        rule: str,
        words: str,
        command: str | None,
        call: int | None = None,
    ) -> None:
        session, at_ms = self._feed.session, now_ms()
        if self._commands is not None:
            state, agent = state_of(session, at_ms), session.agent_name or ""
            address, title = self._address or session.run.session_id or "", session.run.prompt or ""
            event = Event(name, rule, at_ms, state, agent, address, title, call, words, command)
            self._commands.tell(run, event)

    def _publish(self, each: Announcement) -> None:
        more = f" … and {each.more:,} more" if each.more else ""
        news = News(Action(each.alarm.action), SafeText(f"{alarm_words(each.alarm)}{more}"))
        if self._announce is not None:
            self._announce(news)
        else:
            self._news.put(news)
            self._woken()

    def _write(self, lines: str) -> None:
        if self._log_fd is None or self.fault is not None or not lines:
            return
        try:
            write_all(self._log_fd, lines.encode())
        except OSError as error:
            self.fault = error
