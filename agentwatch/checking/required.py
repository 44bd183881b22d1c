"""Judges the facts of `require` at the end of a session."""

from __future__ import annotations

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.verdict_history import State as Tests
from agentwatch.analysis.verdict_history import final_verdicts
from agentwatch.checking.forbidden import hit
from agentwatch.checking.judgement import Judgement, State
from agentwatch.checking.rules import Fact, Require
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.session import Session
from agentwatch.text.safe import SafeText


def required(rule: Require, feed: Feed) -> Judgement:
    """Return the judgement on a fact about a session that was read to its end."""
    if rule.fact is Fact.TESTS:
        return _tests(rule, feed)
    if rule.fact is Fact.RESULT:
        state, words = _result(feed.session)
    elif rule.fact is Fact.INTEGRITY:
        state, words = _integrity(feed.session)
    else:
        state, words = _text(feed.session)
    is_known = state in (State.HOLDS, State.BROKEN)
    return Judgement(rule, state, SafeText(words), int(is_known), int(state is State.BROKEN))


def _result(session: Session) -> tuple[State, str]:
    outcome = session.outcome
    if outcome is Outcome.SUCCEEDED:
        return State.HOLDS, "succeeded"
    if not session.traits.has_result and outcome not in (Outcome.FAILED, Outcome.CANCELLED):
        return State.UNKNOWN, "this format has no result line"
    return State.BROKEN, "no result" if outcome in (Outcome.UNFINISHED, Outcome.RUNNING) else f"{outcome}"


def _integrity(session: Session) -> tuple[State, str]:
    """Judge the lines and the calls. Whether text and result differ is another fact."""
    found = integrity(session).without_text().problems()
    return (State.BROKEN, found) if found else (State.HOLDS, "nothing is missing or malformed")


def _text(session: Session) -> tuple[State, str]:
    matches = session.run.text_matches_result
    if matches is not None:
        return (State.HOLDS, "text = result") if matches else (State.BROKEN, "text ≠ result")
    if session.outcome is Outcome.SUCCEEDED or not session.traits.has_result:
        return State.UNKNOWN, "no result line with a text to compare"
    return State.SKIPPED, "no result to compare"


def _tests(rule: Require, feed: Feed) -> Judgement:
    """Judge the last verdicts. A session without a verdict is not green."""
    found = final_verdicts(feed)
    if found.state is Tests.GREEN:
        return Judgement(rule, State.HOLDS, SafeText("green"), len(found.commands))
    wrong = [each for each in found.commands if each.state is not Tests.GREEN]
    places = [hit(each.call) for each in wrong]
    words = f"{found.state}" if found.commands else "no test, linter or build has a verdict"
    return Judgement(rule, State.BROKEN, SafeText(words), len(found.commands), max(len(wrong), 1), places)
