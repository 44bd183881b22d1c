"""The export `html`: the session as one HTML file that loads nothing.

The page has a header, content for readers without scripts, and the transcript, in compressed chunks that its
script inflates. A Content-Security-Policy allows only its own script and stylesheet, by their hashes.
"""

from __future__ import annotations

import gzip
from array import array
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentwatch.analysis.prices import cost_of
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import figures, turn_words
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.output.export.html.content import (
    CallBody,
    Node,
    element,
    escaped,
    markup,
    preformatted,
    prose,
    texts,
)
from agentwatch.session.actions import count_words, shown_note, shown_target, shown_tool
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.session import ending_of_turn
from agentwatch.session.storage import Spill
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.amounts import about_dollars
from agentwatch.text.durations import duration_words
from agentwatch.text.paths import last_name
from agentwatch.text.safe import SafeText, cut, page_line, page_text
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day, time_with_zone, zone_minutes

_LENGTH_BITS = 24
"""The facts of a call have a few texts of at most 4,096 characters."""
_LINE = 80
"""Characters of a line of the transcript, for the estimate of its height."""


class Row(NamedTuple):
    facts: dict[str, Any]
    """What the page knows before it inflates the content. Absent members are empty."""
    content: list[Node]

    @property
    def is_call(self) -> bool:
        return bool(self.facts["k"] == "call")


class Rows:
    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._first_ms = exported.timeline.first_ms
        self._spill = Spill()
        self._places = array("Q", bytes(8 * len(exported.session.calls)))
        """The place and length of the facts of each call in the spill; 0 if they were not asked for."""

    def of(self, entry: Entry) -> Row:
        call = entry.call
        if call is not None:
            return Row(self.call_facts(call), CallBody(self._exported.feed, call).nodes())
        if entry.kind is Kind.RESULT:
            return self._result(entry)
        content = (
            [element("div", "prose", *prose(entry.text))]
            if entry.kind is Kind.ANSWER
            else preformatted(entry.text.strip("\n"), "plain", _plain)
        )
        took = 0 if entry.started_ms is None or entry.ended_ms is None else entry.ended_ms - entry.started_ms
        facts = {
            "k": str(entry.kind),
            "h": _height(content),
            "b": self._since(entry.started_ms),
            "u": entry.parent,
            "d": duration_words(took)
            if entry.kind is Kind.REASONING and took > 0 and not entry.is_open
            else "",
        }
        return Row(_filled(facts), content)

    def call_facts(self, call: Call) -> dict[str, Any]:
        """Return what the page knows of a call before it inflates its content. The page has it twice: in the
        table without scripts, and in the list of entries. It takes 20 µs."""
        if place := self._places[call.number - 1]:
            data = self._spill.get(place >> _LENGTH_BITS, place & (1 << _LENGTH_BITS) - 1)
            kept: dict[str, Any] = orjson.loads(data)
            return kept
        facts = self._facts_of(call)
        data = orjson.dumps(facts)
        self._places[call.number - 1] = self._spill.add(data) << _LENGTH_BITS | len(data)
        return facts

    def _facts_of(self, call: Call) -> dict[str, Any]:
        feed = self._exported.feed
        found = call_verdict(feed, call)
        note = shown_note(call) if found is None else page_line(found.words)
        facts = {
            "k": "call",
            "n": call.number,
            "o": call.outcome.value,
            "t": shown_tool(call.tool),
            "p": page_line(call.phrase)[:200],
            "g": shown_target(call),
            "r": note.replace("-", "−") if call.lines_added is not None and found is None else note,
            "v": "" if found is None else -1 if found.is_red else 1 if found.is_green else "",
            "d": call_clock(call, feed.session.last_seen_ms, ""),
            "b": self._since(_first(call.started_ms, call.started)),
            "e": self._since(_first(call.ended_ms, call.ended)),
            "u": call.parent,
        }
        return _filled(facts)

    def _result(self, entry: Entry) -> Row:
        """Return the end of a turn; its text only if it differs from the text above."""
        result = entry.result
        assert result is not None
        ending = ending_of_turn(self._exported.session, result)
        facts = {
            "k": "result",
            "o": ending.outcome.value,
            "w": ending.words,
            "d": "" if result.duration_ms is None else duration_words(result.duration_ms),
            "b": self._since(result.place.seen_ms),
        }
        content: list[Node] = []
        if result.length and not result.is_streamed:
            if result.outcome is Outcome.SUCCEEDED and not result.is_bare:
                content.append(element("p", "note", "the result differs from the text above:"))
            if result.outcome is Outcome.SUCCEEDED:
                content.append(element("div", "prose", *prose(result.text or "")))
            else:
                content += preformatted(result.text or "", "plain", _plain)
        facts["h"] = _height(content)
        return Row(_filled(facts), content)

    def _since(self, at_ms: int | None) -> int | None:
        return None if at_ms is None or self._first_ms is None else at_ms - self._first_ms


def _plain(foreign: str) -> list[Node]:
    return [page_text(foreign)]


def call_line(facts: dict[str, Any]) -> list[Node]:
    """Return the line of a call in the transcript: `✓ #12 Read file nearest.py (20 lines)`."""
    outcome = facts["o"]
    style = "failed" if facts.get("v") == -1 else outcome
    parts = (
        (f"sign {outcome}", SIGNS[outcome]),
        ("number", f"#{facts['n']}"),
        ("phrase", facts.get("p", "")),
        ("target", facts.get("g", "")),
        (f"result {style}", _result(facts)),
        ("took", facts.get("d", "")),
    )
    return [element("span", name, words) for name, words in parts if words]


def _result(facts: dict[str, Any]) -> str:
    """Return the result of a call: its test verdict with a sign, or its outcome and its note."""
    outcome, note = facts["o"], facts.get("r", "")
    if verdict := facts.get("v"):
        return f"{'✗' if verdict < 0 else '✓'} {note}"
    if not note:
        return "" if outcome == "succeeded" else str(outcome)
    return note if outcome == "succeeded" or note.startswith(outcome) else f"{outcome}: {note}"


def _first(agent_ms: int | None, place: Place | None) -> int | None:
    """Return the agent's time, or else the arrival time of the line."""
    return agent_ms if agent_ms is not None or place is None else place.seen_ms


def _filled(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that are known. 0 is known: it is the first moment, or a parent that is not here."""
    return {name: value for name, value in facts.items() if value not in ("", None)}


def _height(content: list[Node]) -> int:
    return sum(-(-len(line) // _LINE) or 1 for node in texts(content) for line in node.split("\n")[:10_000])


# _Chunks.

_FULL = 1 << 20
"""The size of a chunk before compression, in bytes. Inflating it takes 20 ms; smaller ones compress worse."""
_LEVEL = 6
_SCRIPT = b'<script type="%s" id="chunk-%d">%s</script>\n'


class _Chunks:
    """Packs contents, one JSON line each, in chunks of texts and chunks of calls, which are inflated only
    when a call is opened. Without compression, a page can be printed while it loads."""

    def __init__(self, *, compresses: bool) -> None:
        self._compresses = compresses
        self._count = 0
        self._open: dict[str, _Chunk] = {}
        self._full: list[_Chunk] = []

    def add(self, kind: str, nodes: list[Node]) -> tuple[int, int]:
        """Add the content of an entry to the chunk of a kind; return the numbers of chunk and line."""
        line = orjson.dumps(nodes)
        chunk = self._open.get(kind)
        if chunk is not None and chunk.size + len(line) > _FULL:
            self._full.append(chunk)
            chunk = None
        if chunk is None:
            chunk = self._open[kind] = _Chunk(self._count)
            self._count += 1
        return chunk.number, chunk.add(line)

    def packed(self, *, is_last: bool = False) -> Iterator[bytes]:
        """Yield the full chunks as scripts that no browser runs; with `is_last`, also the open ones."""
        if is_last:
            self._full += self._open.values()
            self._open = {}
        while self._full:
            yield self._full.pop(0).packed(compresses=self._compresses)


class _Chunk:
    def __init__(self, number: int) -> None:
        self.number = number
        self.size = 0
        self._lines: list[bytes] = []

    def add(self, line: bytes) -> int:
        self._lines.append(line)
        self.size += len(line) + 1
        return len(self._lines) - 1

    def packed(self, *, compresses: bool) -> bytes:
        """Return the chunk as a script. The same lines give the same bytes: no time is written."""
        data = b"\n".join(self._lines)
        if not compresses:
            return _SCRIPT % (b"application/x-ndjson", self.number, inert(data))
        return _SCRIPT % (b"text/plain", self.number, b64encode(gzip.compress(data, _LEVEL, mtime=0)))


def inert(data: bytes) -> bytes:
    """Return JSON in which no text can end the script that contains it."""
    return data.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


# Stylesheet, script and policy.

_FOLDER = Path(__file__).resolve().parent / "assets"
SCRIPTS = (
    *("data", "nodes", "rows", "build", "colours", "transcript", "calls", "strip", "finding", "moves"),
    *("printing", "dialog", "start"),
)
"""The parts of the script, in the order in which they are joined. They share one scope."""
STYLES = ("page", "content")


@cache
def script() -> str:
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def style() -> str:
    return "\n".join(map(stylesheet, STYLES))


def stylesheet(name: str) -> str:
    """Return one of the parts of the stylesheet; `page` has the colours and fonts."""
    return _read(f"{name}.css")


def policy(script: str, style: str) -> str:
    """Return the policy: nothing is loaded, and only this script (empty for none) and stylesheet are used."""
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


def head(title: SafeText, script: str, style: str) -> str:
    """Return the head of a page up to the begin of its body. The policy is first in it, because it applies
    only to what follows. `script` is empty if the page has none."""
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


# Header.

_TITLE_COLUMNS = 120


def _page_title(exported: Exported) -> SafeText:
    """Return the title of the session: the user's or the agent's, else its first prompt, else its name."""
    run = exported.session.run
    prompts = (each.prompt for each in exported.session.runs)
    first = run.title or next(filter(None, prompts), None) or exported.name
    line = next((line for line in first[:4000].splitlines() if line.strip()), exported.name)
    return cut(page_line(line.strip()), _TITLE_COLUMNS)


def header(exported: Exported) -> str:
    facts = "".join(f"<li>{words}</li>" for words in _facts(exported))
    counts = "".join(f"<li>{words}</li>" for words in _counts(exported))
    notes = "".join(f'<p class="scope">{escaped(words)}</p>' for words in _scope(exported))
    return (
        '<header id="top" role="banner">'
        f"<h1>{escaped(_page_title(exported))}</h1>"
        f'<ul class="facts" aria-label="Session">{facts}</ul>'
        f'<ul class="counts" aria-label="Counts">{counts}</ul>{notes}'
        "</header>\n"
    )


def _facts(exported: Exported) -> Iterator[str]:
    session, run = exported.session, exported.session.run
    outcome = session.outcome or Outcome.UNFINISHED
    took = session.duration_ms
    words = f"{SIGNS[outcome]} {session.outcome_words or outcome}" + (
        "" if took is None else f" {duration_words(took)}"
    )
    yield f'<strong class="outcome {escaped(outcome)}">{escaped(words)}</strong>'
    agent = session.agent_name or run.format or session.format
    named = " ".join(filter(None, (agent, run.agent_version)))
    folder = last_name(run.cwd or "").strip("/\\")
    project = folder + (f" ⎇ {run.branch}" if run.branch else "")
    for fact in (named, run.model, project.strip(), (run.session_id or "")[:8], exported.name):
        if fact and page_line(fact) != _page_title(exported):
            yield escaped(page_line(fact))
    if date := time_with_zone(exported.timeline.first_ms):
        yield f"<time>{escaped(date)}</time>"


def _counts(exported: Exported) -> Iterator[str]:
    found = exported.outcomes()
    by_outcome = {outcome: found[outcome] for outcome in Outcome if outcome in found}
    total, *_ = count_words(by_outcome)
    if (turn := turn_words(exported.session.turns)) is not None:
        yield escaped(turn)
    yield escaped(total)
    for outcome, count in by_outcome.items():
        if outcome is not Outcome.SUCCEEDED:
            words = f"{SIGNS[outcome]} {count:,} {outcome}"
            yield f'<span class="{escaped(outcome)}" data-filter="{escaped(outcome)}">{escaped(words)}</span>'
    for figure in figures(exported.session.tokens):
        yield escaped(figure)
    if (estimate := cost_of(exported.session)) is not None:
        yield escaped(SafeText(about_dollars(estimate)))


def _scope(exported: Exported) -> Iterator[str]:
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
        yield f"only calls that match “{page_line(exported.filter_words)}”"


# Without scripts: a table of the calls and the final answer; the whole transcript if it is short.

_SMALL = 2_000_000
"""Bytes of a recording whose whole transcript is written for readers without scripts too."""
_NAMES = {
    "prompt": "Prompt",
    "answer": "Answer",
    "reasoning": "Thinking",
    "notice": "Notice",
    "result": "Result",
}


def _is_small(exported: Exported) -> bool:
    """Return whether the page has the whole transcript for readers without scripts."""
    return exported.timeline.size <= _SMALL


def _static_pieces(exported: Exported, rows: Rows) -> Iterator[str]:
    yield "<noscript>\n"
    yield from _table(exported, rows)
    if _is_small(exported):
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
        name = f"{SIGNS[Outcome(facts['o'])]} {facts['w']}" + (f" in {facts['d']}" if "d" in facts else "")
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
    rows = Rows(exported)
    yield head(_page_title(exported), script(), style()).encode()
    yield header(exported).encode()
    yield b'<main id="main">\n'
    for piece in _static_pieces(exported, rows):
        yield piece.encode()
    yield b"</main>\n"
    first_ms = exported.timeline.first_ms
    yield _json("meta", {"first": first_ms, "zone": zone_minutes(first_ms), "name": page_line(exported.name)})
    yield from _contents(exported, rows, choices)
    yield f"<script>{script()}</script>\n</body>\n</html>\n".encode()


def _contents(exported: Exported, rows: Rows, choices: Choices) -> Iterator[bytes]:
    chunks, listed = _Chunks(compresses=not _is_small(exported)), list[dict[str, Any]]()
    offsets, total = exported.session.transcript.offsets, exported.timeline.size
    for entry in exported.entries():
        row = rows.of(entry)
        if row.content:
            kind = "call" if row.is_call else "text"
            row.facts["c"], row.facts["s"] = chunks.add(kind, row.content)
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


EXPORTER = Exporter(name="html", suffix=".html", write=write)
