"""The page: header, content for readers without scripts, chunks with the list of entries, script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.exports.html import sources
from agentwatch.exports.html.chunks import Chunks, inert
from agentwatch.exports.html.head import head
from agentwatch.exports.html.header import header, page_title
from agentwatch.exports.html.rows import Rows
from agentwatch.exports.html.static import is_small, static_pieces
from agentwatch.text.safe import safe_line
from agentwatch.text.times import zone_minutes

_ROWS_AT_ONCE = 200


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the pieces of the page. One chunk and its rows are in memory at a time."""
    rows = Rows(exported)
    yield head(page_title(exported), sources.script(), sources.style()).encode()
    yield header(exported).encode()
    yield b'<main id="main">\n'
    for piece in static_pieces(exported, rows):
        yield piece.encode()
    yield b"</main>\n"
    first_ms = exported.timeline.first_ms
    yield _json("meta", {"first": first_ms, "zone": zone_minutes(first_ms), "name": safe_line(exported.name)})
    yield from _contents(exported, rows, choices)
    yield f"<script>{sources.script()}</script>\n</body>\n</html>\n".encode()


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
