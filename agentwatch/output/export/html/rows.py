"""Rows: the entries of the transcript as the page lists them, and their contents."""

from __future__ import annotations

import gzip
from array import array
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.html.content import CallBody, Node, element, preformatted, prose, texts
from agentwatch.output.tool_names import ToolNames
from agentwatch.session.actions import outcome_note, shown_target
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.storage import Spill
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import safe_line
from agentwatch.text.signs import SIGNS

_LENGTH_BITS = 24
"""The facts of a call have a few texts of at most 4,096 characters."""
_LINE = 80
"""Characters of a line of the transcript, for the estimate of its height."""


class Row(NamedTuple):
    """An entry of the transcript."""

    facts: dict[str, Any]
    """What the page knows before it inflates the content. Absent members are empty."""
    content: list[Node]

    @property
    def is_call(self) -> bool:
        """Whether the entry is a call."""
        return bool(self.facts["k"] == "call")


class Rows:
    """Makes the rows of a session."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._first_ms = exported.timeline.first_ms
        self._tools = ToolNames()
        for call in exported.calls():
            self._tools.add(call.tool, call.number)
        self._spill = Spill()
        self._places = array("Q", bytes(8 * len(exported.session.calls)))
        """The place and length of the facts of each call in the spill; 0 if they were not asked for."""

    def of(self, entry: Entry) -> Row:
        """Return the row of an entry."""
        call = entry.call
        if call is not None:
            return self._call(call)
        if entry.kind is Kind.RESULT:
            return self._result(entry)
        content = (
            [element("div", "prose", *prose(entry.text))]
            if entry.kind is Kind.ANSWER
            else preformatted(entry.text.strip("\n"), "plain")
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
        """Return what the page knows of a call before it inflates its content.

        The page has it twice: in the table without scripts, and in the list of entries. It takes 20 µs.
        """
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
        note = outcome_note(call) if found is None else safe_line(found.words)
        facts = {
            "k": "call",
            "n": call.number,
            "o": call.outcome.value,
            "t": self._tools[call.tool],
            "p": safe_line(call.phrase)[:200],
            "g": shown_target(call),
            "r": note.replace("-", "−") if call.lines_added is not None and found is None else note,
            "v": "" if found is None else -1 if found.is_red else 1 if found.is_green else "",
            "d": call_clock(call, feed.session.last_seen_ms, ""),
            "b": self._since(_first(call.started_ms, call.started)),
            "e": self._since(_first(call.ended_ms, call.ended)),
            "u": call.parent,
        }
        return _filled(facts)

    def _call(self, call: Call) -> Row:
        return Row(self.call_facts(call), CallBody(self._exported.feed, call).nodes())

    def _result(self, entry: Entry) -> Row:
        """Return the end of a turn; its text only if it differs from the text above."""
        result = entry.result
        assert result is not None
        facts = {
            "k": "result",
            "o": result.outcome.value,
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
                content += preformatted(result.text or "", "plain")
        facts["h"] = _height(content)
        return Row(_filled(facts), content)

    def _since(self, at_ms: int | None) -> int | None:
        """Return a time in milliseconds since the first time of the recording."""
        return None if at_ms is None or self._first_ms is None else at_ms - self._first_ms


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
    """Return an estimate of the number of lines that a text takes."""
    return sum(-(-len(line) // _LINE) or 1 for node in texts(content) for line in node.split("\n")[:10_000])


# Chunks: the contents of the page, compressed, of which the script inflates what it shows.

_FULL = 1 << 20
"""The size of a chunk before compression, in bytes. Inflating it takes 20 ms; smaller ones compress worse."""
_LEVEL = 6
_SCRIPT = b'<script type="%s" id="chunk-%d">%s</script>\n'


class Slot(NamedTuple):
    """Where the content of an entry is."""

    chunk: int
    line: int
    """The number of its line in the chunk, counted from 0."""


class Chunks:
    """Gathers contents, one JSON line each, and packs those of a full chunk.

    Texts and calls have chunks of their own: scrolling shows many texts, and calls only when they are opened.
    """

    def __init__(self, *, compresses: bool) -> None:
        """Create the chunks; without compression, a page can be printed while it loads."""
        self._compresses = compresses
        self._count = 0
        self._open: dict[str, _Chunk] = {}
        self._full: list[_Chunk] = []

    def add(self, kind: str, nodes: list[Node]) -> Slot:
        """Add the content of an entry to the chunk of a kind."""
        line = orjson.dumps(nodes)
        chunk = self._open.get(kind)
        if chunk is not None and chunk.size + len(line) > _FULL:
            self._full.append(chunk)
            chunk = None
        if chunk is None:
            chunk = self._open[kind] = _Chunk(self._count)
            self._count += 1
        return Slot(chunk.number, chunk.add(line))

    def packed(self, *, is_last: bool = False) -> Iterator[bytes]:
        """Yield the full chunks as scripts that no browser runs; with `is_last`, also the open ones."""
        if is_last:
            self._full += self._open.values()
            self._open = {}
        while self._full:
            yield self._full.pop(0).packed(compresses=self._compresses)


class _Chunk:
    """The contents of a chunk."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.size = 0
        self._lines: list[bytes] = []

    def add(self, line: bytes) -> int:
        """Add a line, and return its number."""
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
