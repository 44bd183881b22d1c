"""The beginning of a Markdown document: the outcome, the facts, and the calls that did not succeed."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.actions import action, count_words
from agentwatch.analysis.status.line import status
from agentwatch.events import Outcome
from agentwatch.exports.exported import Exported
from agentwatch.exports.markdown.escapes import escaped
from agentwatch.session import calls_by_outcome
from agentwatch.text.amounts import plural
from agentwatch.text.durations import between, duration_words
from agentwatch.text.times import date_and_time

_MOST_LISTED = 20
_FINE = {Outcome.SUCCEEDED, Outcome.RETURNED}


def head(exported: Exported) -> Iterator[str]:
    """Yield the lines of the heading and of the table of facts."""
    session, timeline = exported.session, exported.timeline
    yield f"## {escaped(status(session, timeline.ms_at(exported.feed.offset)))}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, words in _facts(exported):
        yield f"| {name} | {escaped(words)} |"


def not_fine(exported: Exported) -> Iterator[str]:
    """Yield a list of the exported calls that have not succeeded; nothing if all have."""
    count = 0
    for call in exported.calls():
        if call.outcome in _FINE:
            continue
        count += 1
        if count == 1:
            yield "### Calls that did not succeed"
            yield ""
        if count <= _MOST_LISTED:
            yield f"- {number_words(call.number)} {escaped(action(call))}"
    if count > _MOST_LISTED:
        yield f"- … and {count - _MOST_LISTED} more"


def number_words(number: int) -> str:
    """Return the number of a call, which is no reference to an issue: `#12`."""
    return f"#&#8203;{number}"


def _facts(exported: Exported) -> Iterator[tuple[str, str]]:
    session, run = exported.session, exported.session.run
    yield "session", " · ".join(filter(None, (run.title, run.session_id or exported.name)))
    yield "agent", " · ".join(filter(None, (session.agent_name or session.format, run.model)))
    if run.outcome is not Outcome.RUNNING:
        yield "outcome", str(session.outcome)
    elif session.outcome is not None:
        yield "outcome", f"{session.outcome} at this moment"
    yield "duration", _duration(exported)
    yield "calls", ", ".join(count_words(calls_by_outcome(session)))
    if run.cwd:
        yield "folder", run.cwd
    tokens = run.tokens
    counts = [
        f"{count:,} {name}"
        for name, count in zip(("in", "out"), (tokens.input, tokens.output), strict=True)
        if count
    ]
    if counts:
        yield "tokens", ", ".join(counts)
    if not exported.is_whole:
        yield "part", ", ".join(_part(exported))
    yield "secrets", "not redacted" if exported.masked is None else exported.masked


def _duration(exported: Exported) -> str:
    """Return the duration of the turns, or, with `~`, the time between the first and the last line."""
    took_ms = exported.session.run.duration_of_turns_ms
    if took_ms is not None:
        return duration_words(took_ms)
    timeline = exported.timeline
    seen = between(timeline.first_ms, timeline.ms_at(exported.feed.offset))
    return seen if timeline.first_ms is None else f"~{seen}"


def _part(exported: Exported) -> Iterator[str]:
    timeline = exported.timeline
    if exported.start:
        yield f"from {date_and_time(timeline.ms_at(exported.start))}"
    if exported.feed.offset < timeline.size:
        yield f"until {date_and_time(timeline.ms_at(exported.feed.offset))}"
    if exported.filter_words:
        yield f"only {exported.filter_words}"
    yield plural(sum(exported.outcomes().values()), "call")
