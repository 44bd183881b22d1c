"""Tries rules on the sessions of this machine that began within a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from agentwatch.cli.check.command import BROKEN
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.faults import USAGE, Fault, reading
from agentwatch.feed import Feed
from agentwatch.machine.places import Places
from agentwatch.machine.problems import notes_of
from agentwatch.rules.check.judge import Judge
from agentwatch.rules.check.judgement import Checked
from agentwatch.rules.check.kinds import Rule, Severity
from agentwatch.rules.check.trial import Trial, json_report, lines
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line
from agentwatch.wire.found import Found, Reach
from agentwatch.wire.opening import saved_source

_MOST_SESSIONS = 1000
_STEP_SECONDS = 0.2
_OWN = "agentwatch"


def try_rules(rules: Sequence[Rule], since_ms: int, *, as_json: bool) -> int:
    """Print how often each rule would have fired in the newest 1,000 sessions that began since a time.

    Args:
        rules: The rules.
        since_ms: The time, in milliseconds since the epoch.
        as_json: Print one JSON object.

    Returns:
        The exit code: 1 if a rule would have fired, 2 if a rule that is no warning looked at nothing.
    """
    trial, unreadable = Trial(rules), 0
    every = _changed_since(since_ms)
    progress = ShownProgress().step("reading sessions")
    seen: set[str] = set()
    for index, found in enumerate(every[:_MOST_SESSIONS]):
        progress(index, min(len(every), _MOST_SESSIONS))
        try:
            with reading(found.path):
                checked = _check(found, rules, since_ms, seen)
        except (Fault, OSError):
            unreadable += 1
            continue
        if checked is not None:
            trial.add(checked)
    progress.clear()
    for words in _notes(len(every), unreadable):
        say(words)
    blind = trial.blind() if trial.sessions else []
    for each in blind:
        say(f"the rule {safe_line(each.rule.name)} looked at nothing")
    if not trial.sessions:
        say("no session began since then")
    is_misused = any(each.rule.severity is Severity.ERROR for each in blind)
    code = USAGE if is_misused or not trial.sessions else BROKEN if trial.is_broken else 0
    return (print_json([json_report(trial)]) if as_json else print_lines(lines(trial))) or code


def _notes(count: int, unreadable: int) -> Iterator[str]:
    if count > _MOST_SESSIONS:
        yield f"the newest {_MOST_SESSIONS:,} of {count:,} sessions were read"
    if unreadable:
        yield f"{plural(unreadable, 'session')} cannot be read"


def _changed_since(since_ms: int) -> list[Found]:
    """Return the sessions that changed since a time: recordings of agentwatch first, then the newest."""
    places = Places(os.environ, Path.home(), os.geteuid())
    every = {each.key: each for batch in places.first() for each in batch}
    for note in notes_of(places.problems.values()):
        say(note)
    wanted = (
        each for each in every.values() if each.reach is not Reach.LISTED and _changed_ms(each) >= since_ms
    )
    return sorted(wanted, key=lambda each: (each.agent != _OWN, -_changed_ms(each)))


def _changed_ms(found: Found) -> int:
    return max(found.changed_ns // 10**6, found.metadata.changed_ms or 0)


def _check(found: Found, rules: Sequence[Rule], since_ms: int, seen: set[str]) -> Checked | None:
    """Judge a session; None if it began earlier, or was already judged as a recording of agentwatch.

    Raises:
        Fault: The session cannot be opened.
        OSError: The session cannot be read.
    """
    if found.agent != _OWN and found.id in seen:
        return None
    with closing(saved_source(found.path)) as source:
        feed = Feed(source.reader)
        judge = Judge(feed, rules)
        while not feed.is_over:
            feed.advance(_STEP_SECONDS)
            if judge.began_ms is not None and judge.began_ms < since_ms:
                return None
        session = feed.session
        began_ms = judge.began_ms or found.metadata.began_ms
        if session.outcome is None or (began_ms is not None and began_ms < since_ms):
            return None
        if found.agent == _OWN and session.run.session_id:
            seen.add(session.run.session_id)
        address = os.fspath(found.path)
        return Checked(address, judge.judgements(), len(session.calls), session.format, 0.0)
