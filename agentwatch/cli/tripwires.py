"""Reads the rules of `--on` and of the settings, and attaches them to a session."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

from agentwatch.agents.session_entry import OWN
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.messages import say
from agentwatch.cli.options import Options
from agentwatch.output.log import ActionLog
from agentwatch.recording.acts import SessionActs
from agentwatch.rules.alarms.thread import AlarmThread
from agentwatch.rules.alarms.tripwire import Action, Tripwire, tripwire
from agentwatch.rules.language.errors import RuleError
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.sources.source import News, Source
from agentwatch.text.safe import cut, safe_line

_SHOWN_COLUMNS = 80
_MOST_RULES = 100


def tripwires_of(options: Options, *, is_started: bool) -> tuple[Tripwire, ...]:
    """Return the rules of the command line and of the settings, before the agent starts. Rules that pause or
    stop the agent require `is_started`; without it, such rules of the settings are left out."""
    given = tuple(_given(options.on, is_started=is_started))
    if len(given) > _MOST_RULES:
        raise Fault(f"--on: at most {_MOST_RULES} rules", USAGE)
    if options.prints() and not os.isatty(2) and any(each.action is Action.PAUSE for each in given):
        raise Fault(
            "--on … pause: nobody could continue the agent, because no terminal is open; use stop", USAGE
        )
    settings = [tripwire(*each, allows_patterns=True) for each in options.config.on]
    return (*given, *(each for each in settings if is_started or not each.action.needs_agent))


def watch_rules(source: Source, options: Options) -> AlarmThread:
    """Attach rules to the source of a session; their thread also writes the log."""
    written, pausing = source.written, source.pausing

    def act(action: Action, rule: str) -> bool:
        if not source.runs_agent or pausing is None:
            return False
        if action is Action.PAUSE:
            return pausing.pause(rule)
        threading.Thread(target=source.stop, name="stop", daemon=True).start()
        return True

    def facts() -> AgentFacts:
        if pausing is None:
            return NO_FACTS
        return AgentFacts(pausing.agent, paused_by=pausing.rule, continued_ms=pausing.continued_ms)

    def is_silenced() -> bool:
        from agentwatch.screen.screens.sessions.rings import is_silenced

        return is_silenced((OWN, address))

    address = "" if written.files is None else written.files.recording.stem
    session_rules, commands = options.config.on_sessions, None
    if session_rules or any(each.command for each in options.tripwires):
        from agentwatch.output.commands import Commands  # 25 ms, most of them for the redaction

        commands = Commands()
    thread = AlarmThread(
        source.reader,
        options.tripwires,
        act,
        log=lambda feed, alarms: ActionLog(feed.session, alarms, lambda: feed.acts),
        log_fd=written.log_fd,
        alarms_path=None if written.files is None else written.files.alarms,
        acts=SessionActs.of_file(source.path),
        agent=options.agent(),
        facts=facts,
        announce=(lambda news: print_news(news, source)) if options.prints() else None,
        woken=lambda: None if source.wakeup is None else source.wakeup.ring(),
        session_rules=session_rules,
        is_silenced=is_silenced,
        commands=commands,
        address=address,
    )
    written.log = written.watch = thread
    return thread


def print_news(news: News, source: Source) -> None:
    """Report that a rule was hit. The report of a pause has the command that continues the agent."""
    pausing = source.pausing
    is_paused = news.action == Action.PAUSE
    say(f"{news.words} · to continue: kill -CONT -{pausing.agent}" if pausing and is_paused else news.words)
    if news.action == Action.BELL and os.isatty(2):
        os.write(2, b"\a")


def end_watching(source: Source) -> None:
    """Continue a paused agent, because nobody watches it any more, and report that; print later hits."""
    if source.written.watch is not None:
        source.written.watch.announce_by(lambda news: print_news(news, source))
    if source.pausing is not None:
        source.pausing.is_attended = False
        if source.pausing.resume():
            say("the agent was paused by a rule; it continues now")


def _given(words: Sequence[tuple[str, str]], *, is_started: bool) -> Iterator[Tripwire]:
    for rule, action in words:
        try:
            found = tripwire(rule, action)
        except RuleError as error:
            shown = cut(safe_line(rule), _SHOWN_COLUMNS)
            raise Fault(safe_line(f"--on '{shown}': {error.reason}"), USAGE) from None
        if found.action.needs_agent and not is_started:
            raise Fault(
                f"--on … {found.action}: acts on an agent that agentwatch has started: agentwatch run --on …",
                USAGE,
            )
        yield found
