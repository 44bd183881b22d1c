"""The header of the page: how the session ended, what ran where, how many calls, and what was masked."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.actions import count_words
from agentwatch.analysis.status.figures import figures, turn_words
from agentwatch.events import Outcome
from agentwatch.exports.exported import Exported
from agentwatch.exports.html.content.nodes import escaped
from agentwatch.session import Run
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day, time_with_zone

_TITLE_COLUMNS = 120


def page_title(exported: Exported) -> SafeText:
    """Return the title of the session: the user's or the agent's, else its first prompt, else its name."""
    run = exported.session.run
    prompts = (each.prompt for each in exported.session.runs)
    first = run.title or next(filter(None, prompts), None) or exported.name
    line = next((line for line in first[:4000].splitlines() if line.strip()), exported.name)
    return cut(safe_line(line.strip()), _TITLE_COLUMNS)


def header(exported: Exported) -> str:
    """Return the header as markup. It needs no script."""
    facts = "".join(f"<li>{words}</li>" for words in _facts(exported))
    counts = "".join(f"<li>{words}</li>" for words in _counts(exported))
    notes = "".join(f'<p class="scope">{escaped(words)}</p>' for words in _scope(exported))
    return (
        '<header id="top" role="banner">'
        f"<h1>{escaped(page_title(exported))}</h1>"
        f'<ul class="facts" aria-label="Session">{facts}</ul>'
        f'<ul class="counts" aria-label="Counts">{counts}</ul>{notes}'
        "</header>\n"
    )


def _facts(exported: Exported) -> Iterator[str]:
    session, run = exported.session, exported.session.run
    outcome = session.outcome or Outcome.UNFINISHED
    took = run.duration_of_turns_ms if run.duration_ms is None else run.duration_ms
    words = f"{SIGNS[outcome]} {outcome}" + ("" if took is None else f" {duration_words(took)}")
    yield f'<strong class="outcome {escaped(outcome)}">{escaped(words)}</strong>'
    agent = session.agent_name or run.format or session.format
    named = " ".join(filter(None, (agent, run.agent_version)))
    project = _project(run) + (f" ⎇ {run.branch}" if run.branch else "")
    for fact in (named, run.model, project.strip(), (run.session_id or "")[:8], exported.name):
        if fact and safe_line(fact) != page_title(exported):
            yield escaped(safe_line(fact))
    if date := time_with_zone(exported.timeline.first_ms):
        yield f"<time>{escaped(date)}</time>"


def _counts(exported: Exported) -> Iterator[str]:
    found = exported.outcomes()
    by_outcome = {outcome: found[outcome] for outcome in Outcome if outcome in found}
    total, *_ = count_words(by_outcome)
    if (turn := turn_words(exported.session.run)) is not None:
        yield escaped(turn)
    yield escaped(total)
    for outcome, count in by_outcome.items():
        if outcome is not Outcome.SUCCEEDED:
            words = f"{SIGNS[outcome]} {count} {outcome}"
            yield f'<span class="{escaped(outcome)}" data-filter="{escaped(outcome)}">{escaped(words)}</span>'
    for figure in figures(exported.session.run.tokens):
        yield escaped(figure)


def _scope(exported: Exported) -> Iterator[str]:
    """Yield which part of the session the page contains, and what was masked."""
    if not exported.is_whole:
        yield f"a part: {'; '.join(_part(exported))}"
    yield "not redacted" if exported.masked is None else f"redacted: {exported.masked}"


def _part(exported: Exported) -> Iterator[str]:
    timeline, last_ms = exported.timeline, exported.session.last_seen_ms
    is_to_end = exported.feed.offset >= timeline.size
    if exported.start or not is_to_end:
        start = time_of_day(timeline.ms_at(exported.start), "") if exported.start else ""
        until = "" if is_to_end else time_of_day(last_ms, "")
        yield f"from {start or ('a moment' if exported.start else 'the start')} until " + (
            until or ("the end" if is_to_end else "a moment")
        )
    if exported.filter_words:
        yield f"only calls that match “{safe_line(exported.filter_words)}”"


def _project(run: Run) -> str:
    cwd = (run.cwd or "").replace("\\", "/").rstrip("/")
    return cwd.rpartition("/")[2] or cwd
