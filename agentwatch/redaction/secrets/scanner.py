"""Finds the secrets of a text, a piece at a time.

Most texts have no secret. So a piece is first asked for words and letters that secrets have: which first
letters its words have takes one pass, and a search for a literal is ten times as fast as a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.redaction.decoding import decoded
from agentwatch.redaction.found import Found, joined
from agentwatch.redaction.secrets.blocks import key_blocks, signed_tokens
from agentwatch.redaction.secrets.cells import arguments, cells
from agentwatch.redaction.secrets.contexts import surrounded
from agentwatch.redaction.secrets.key_files import shown
from agentwatch.redaction.secrets.labels import labelled, labelled_abroad
from agentwatch.redaction.secrets.prefixed import LONG_WORD, SPLITTING, tokens
from agentwatch.redaction.secrets.providers import of_providers
from agentwatch.redaction.secrets.view import plain
from agentwatch.redaction.secrets.wrapped import wrapped

_SHORTEST = 8
"""No secret is shorter than this with what shows that it is one."""
_LEAST_WORD = 20
"""Letters alone that are fewer are a word."""
_STEP = 16 << 10
_OVERLAP = 4 << 10
"""Characters that a piece shares with the next one: no secret with its label is longer."""
_BEFORE = 96
"""Characters before a piece that show where its first word begins, and its label."""


def find(text: str) -> list[Found]:
    """Return where a text has secrets, sorted and without overlaps.

    It takes linear time. 16 KiB of ordinary text take about a millisecond.

    Args:
        text: Any text, best decoded: inside a JSON string, escapes hide where a secret begins.
    """
    if len(text) < _SHORTEST or (len(text) < _LEAST_WORD and text.isalpha()):
        return []
    whole = plain(text)
    found = _in_text(text, whole)
    for view in (decoded(text), arguments(text)):
        if view is not None:
            found += [Found(*view.span(each.start, each.end), each.kind) for each in _in_text(view.text)]
    found += wrapped(whole, found, _in_text)
    return joined(found) if found else found


def _in_text(text: str, view: str = "") -> list[Found]:
    """Return the secrets of a text, in no order. They may overlap.

    Args:
        text: The text.
        view: The same as a plain text, if it was made.
    """
    view = view or plain(text)
    found = [*key_blocks(view), *cells(view)]
    for start in range(0, len(view), _STEP):
        first = max(0, start - _BEFORE)
        piece = slice(first, start + _STEP + _OVERLAP)
        found += [
            Found(first + each.start, first + each.end, each.kind)
            for each in _in_piece(view[piece], text[piece])
            if first + each.start < start + _STEP and first + each.end > start
        ]
    return found


def _in_piece(piece: str, text: str) -> Iterator[Found]:
    """Yield the secrets of a piece, those that are known best first.

    Args:
        piece: A piece of a plain text.
        text: The same piece of the text itself.
    """
    words = set(piece.encode("ascii").translate(SPLITTING).split())
    heads = {head.decode("ascii") for head in {word[:4] for word in words}}
    long_words = {word.decode("ascii") for word in words if len(word) > LONG_WORD}
    yield from tokens(piece, long_words, heads)
    if "eyJ" in piece:
        yield from signed_tokens(piece)
    lower = piece.lower()
    heads = {head.lower() for head in heads}
    yield from surrounded(piece, lower, heads, max(map(len, long_words), default=LONG_WORD))
    yield from labelled(piece, lower)
    yield from labelled_abroad(piece, text, heads)
    yield from shown(piece, heads)
    yield from of_providers(piece, lower, heads)
