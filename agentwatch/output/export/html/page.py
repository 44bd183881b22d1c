"""The page: header, content for readers without scripts, chunks with the list of entries, script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from agentwatch.analysis.status import figures, turn_words
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.output.export.html.content import element, escaped, markup
from agentwatch.output.export.html.rows import Chunks, Row, Rows, call_line, inert
from agentwatch.session.actions import count_words
from agentwatch.session.events import Outcome
from agentwatch.session.runs import Run
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day, time_with_zone, zone_minutes

# The stylesheet and the script of the page, and the policy that allows only these two.

_FOLDER = Path(__file__).resolve().parent / "assets"
SCRIPTS = (
    "data",
    "nodes",
    "rows",
    "build",
    "colours",
    "transcript",
    "calls",
    "strip",
    "finding",
    "moves",
    "printing",
    "dialog",
    "start",
)
"""The parts of the script, in the order in which they are joined. They share one scope."""
STYLES = ("page", "content")


@cache
def script() -> str:
    """Return the script of the page."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def style() -> str:
    """Return the stylesheet of the page."""
    return "\n".join(map(stylesheet, STYLES))


def stylesheet(name: str) -> str:
    """Return one of the parts of the stylesheet; `page` has the colours and fonts."""
    return _read(f"{name}.css")


def policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded, and only this script and stylesheet are used.

    Args:
        script: The script of the page; empty if it has none.
        style: The stylesheet of the page.
    """
    scripts = (f"script-src '{_hash(script)}'",) if script else ()
    return "; ".join(
        (
            "default-src 'none'",
            *scripts,
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


# The head of a page: its policy, its title and its stylesheet.


def head(title: SafeText, script: str, style: str) -> str:
    """Return the head of a page up to the begin of its body.

    The policy is first in it, because it applies only to what follows.

    Args:
        title: The title of the page.
        script: The script that the page will run; empty for a page without one.
        style: The stylesheet.
    """
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="generator" content="agentwatch">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escaped(title)}</title>\n"
        f"<style>{style}</style>\n"
        "</head>\n<body>\n"
    )


# The header of the page: how the session ended, what ran where, how many calls, and what was masked.

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


# What the page shows without scripts: a table of the calls and the final answer; of a small session, all.

_SMALL = 2_000_000
"""Bytes of a recording whose whole transcript is written for readers without scripts too."""
_NAMES = {
    "prompt": "Prompt",
    "answer": "Answer",
    "reasoning": "Thinking",
    "notice": "Notice",
    "result": "Result",
}


def is_small(exported: Exported) -> bool:
    """Return whether the page has the whole transcript for readers without scripts."""
    return exported.timeline.size <= _SMALL


def static_pieces(exported: Exported, rows: Rows) -> Iterator[str]:
    """Yield the content of the page for a reader without scripts."""
    yield "<noscript>\n"
    yield from _table(exported, rows)
    if is_small(exported):
        yield '<section class="static"><h2>Transcript</h2>\n'
        for entry in exported.entries():
            yield _entry(rows.of(entry))
        yield "</section>\n"
    elif (answer := _final_answer(exported)) is not None:
        words = "Without scripts, this page shows the calls and the final answer only."
        yield f'<section class="static"><p class="note">{words}</p></section>\n'
        yield f'<section class="static"><h2>Final answer</h2>\n{markup(rows.of(answer).content)}</section>\n'
    yield "</noscript>\n"


def _table(exported: Exported, rows: Rows) -> Iterator[str]:
    yield '<section class="static"><h2>Calls</h2>\n<table class="all"><thead><tr>'
    yield "".join(f"<th>{name}</th>" for name in ("#", "outcome", "tool", "target", "result", "time"))
    yield "</tr></thead><tbody>\n"
    for call in exported.calls():
        yield _table_row(rows.call_facts(call))
    yield "</tbody></table></section>\n"


def _table_row(facts: dict[str, Any]) -> str:
    outcome = f"{SIGNS[Outcome(facts['o'])]} {facts['o']}"
    cells = (outcome, facts.get("t", ""), facts.get("g", ""), facts.get("r", ""), facts.get("d", ""))
    number = f'<a href="#{facts["n"]}">#{facts["n"]}</a>'
    return f"<tr><td>{number}</td>{''.join(f'<td>{escaped(cell)}</td>' for cell in cells)}</tr>\n"


def _entry(row: Row) -> str:
    """Return an entry of the transcript; a call opens without a script too."""
    facts = row.facts
    if row.is_call:
        line = markup(call_line(facts))
        body = markup([element("div", "body", *row.content)])
        return f'<details class="entry call" id="{facts["n"]}"><summary>{line}</summary>{body}</details>\n'
    kind = facts["k"]
    if kind == "reasoning":
        words = f"thinking {facts.get('d', '')}".strip()
        content = markup([element("summary", "", words), element("div", "body", *row.content)])
        return f'<details class="entry reasoning">{content}</details>\n'
    name = _NAMES[kind]
    if kind == "result":
        outcome = Outcome(facts["o"])
        name = f"{SIGNS[outcome]} {outcome}" + (f" in {facts['d']}" if "d" in facts else "")
    content = markup([element("div", "text", *row.content)])
    return f'<section class="entry {kind}"><h3>{escaped(name)}</h3>{content}</section>\n'


def _final_answer(exported: Exported) -> Entry | None:
    """Return the last text of the assistant, or the last result if it has a text of its own."""
    transcript = exported.session.transcript
    for number in range(len(transcript) - 1, -1, -1):
        entry = transcript[number]
        if entry.kind is Kind.ANSWER and entry.parent is None:
            return entry
        result = entry.result
        if result is not None and result.length and not result.is_streamed:
            return entry
    return None


_ROWS_AT_ONCE = 200


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the pieces of the page. One chunk and its rows are in memory at a time."""
    rows = Rows(exported)
    yield head(page_title(exported), script(), style()).encode()
    yield header(exported).encode()
    yield b'<main id="main">\n'
    for piece in static_pieces(exported, rows):
        yield piece.encode()
    yield b"</main>\n"
    first_ms = exported.timeline.first_ms
    yield _json("meta", {"first": first_ms, "zone": zone_minutes(first_ms), "name": safe_line(exported.name)})
    yield from _contents(exported, rows, choices)
    yield f"<script>{script()}</script>\n</body>\n</html>\n".encode()


def _contents(exported: Exported, rows: Rows, choices: Choices) -> Iterator[bytes]:
    """Yield the chunks, and the list of the entries in them piece by piece."""
    chunks, listed = Chunks(compresses=not is_small(exported)), list[dict[str, Any]]()
    offsets, total = exported.session.transcript.offsets, exported.timeline.size
    for entry in exported.entries():
        row = rows.of(entry)
        if row.content:
            slot = chunks.add("call" if row.is_call else "text", row.content)
            row.facts["c"], row.facts["s"] = slot
        listed.append(row.facts)
        yield from chunks.packed()
        if len(listed) >= _ROWS_AT_ONCE:
            yield _json("rows", listed)
            listed = []
        if choices.progress is not None:
            choices.progress(offsets[entry.number], total)
    yield _json("rows", listed)
    yield from chunks.packed(is_last=True)


def _json(name: str, value: object) -> bytes:
    """Return a value as a script that no browser runs."""
    data = inert(orjson.dumps(value))
    return b'<script type="application/json" class="%s">%s</script>\n' % (name.encode(), data)


# The session as one HTML file that loads nothing.
# The file has the session as the screen shows it, for a browser: a list of calls, the transcript, and each
# call in full. It contains everything that it shows. A Content-Security-Policy allows its own script and
# stylesheet, by their hashes, and nothing else.

EXPORTER = Exporter(name="html", suffix=".html", write=write)
