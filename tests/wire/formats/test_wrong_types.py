"""Lines of every format whose fields are absent or of any type are read without an exception."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.analysis.block_text import block_text
from agentwatch.session import Place, Session
from agentwatch.wire import Decoder
from tests.builders.formats.samples import every_sample, named
from tests.builders.formats.wrong_types import ABSENT, WRONG, paths, replaced, variants

_DEEPEST = 7
_MOST_SHAPES = 60


def shape(value: Any, depth: int = 0) -> Any:
    """Return the keys and types in a JSON value: lines of one shape are changed only once."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        kinds = [each for key, each in value.items() if key in ("type", "subtype", "kind", "sessionUpdate")]
        inner = {key: shape(each, depth + 1) for key, each in value.items()}
        return (str(kinds), tuple(sorted((key, repr(each)) for key, each in inner.items())))
    if isinstance(value, list):
        return ("list", *(shape(each, depth + 1) for each in value[:2]))
    return type(value).__name__


@every_sample
def test_no_field_of_any_type_raises(data: bytes, name: str) -> None:
    """Each field of each line, absent or of each wrong type, is read, shown and counted."""
    agent = named(name)
    decoder, session = Decoder(agent), Session()
    shapes: set[str] = set()
    lines = 0
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if repr(shape(value)) not in shapes and len(shapes) < _MOST_SHAPES:
            shapes.add(repr(shape(value)))
            for other in variants(value, most_items=2):
                row = json.dumps(other).encode()
                session.apply(decoder.decode(row), Place(0, len(row), None))
                lines += 1
                decoder.role(row)
                for block in decoder.blocks(row, "x"):
                    block_text(block)
                if agent.unknown_fields is not None and isinstance(other, dict):
                    assert all(isinstance(what, str) for what, _ in agent.unknown_fields(other))
        session.apply(decoder.decode(line), Place(0, len(line), None))
        lines += 1
    session.apply(decoder.end(), Place(0, 0, None), 0)
    session.close()
    assert session.lines.total == lines


@every_sample
def test_recognition_reads_any_field(data: bytes, name: str) -> None:
    """Every format is asked about lines with fields of any type, and answers."""
    seen: set[str] = set()
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict) or repr(shape(value, _DEEPEST - 1)) in seen:
            continue
        seen.add(repr(shape(value, _DEEPEST - 1)))
        for path in paths(value, most_items=2, depth=6):  # the fields, and those of the objects in them
            for wrong in (ABSENT, *WRONG):
                decoder = Decoder()
                decoder.decode(json.dumps(replaced(value, path, wrong)).encode())
                decoder.end()
    assert seen, name
