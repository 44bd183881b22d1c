"""What the page shows without scripts: a table of the calls and the final answer; of a small session, all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentwatch.events import Outcome
from agentwatch.exports.exported import Exported
from agentwatch.exports.html.content.nodes import element, escaped, markup
from agentwatch.exports.html.rows import Row, Rows, call_line
from agentwatch.session import Entry, Kind
from agentwatch.text.signs import SIGNS

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
