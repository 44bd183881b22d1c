"""Replaces the prompts and tool descriptions that a vendor's program wrote into a capture by made-up words.

A capture keeps every other byte: only letters of such texts are changed, so lines, lengths and escapes stay.

    python -m tests.builders.made_up FILE…
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PIECE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|</?[a-z_-]{1,40}>|([A-Za-z]{1,39})")
_SYLLABLES = "kalominerusatoviba" * 4
_WORDS = {length: [_SYLLABLES[at : at + length] for at in range(0, 18, 2)] for length in range(3, 40)}
_KEYS = {
    *("systemPrompt", "base_instructions", "developer_instructions", "addedLines", "rendered", "sections"),
    *("toolsAdded", "host_skills", "skills", "availableCommands", "system", "gitStatus"),
}
"""Keys whose texts are the vendor's, wherever they are."""
_REMINDERS = (
    *("<system-reminder>", "<skills_instructions>", "<collaboration_mode>"),
    *("<permissions instructions>", "<apps_instructions>", "<plugins_instructions>"),
)
"""How a message begins that a program inserted into the conversation."""


def made_up(line: str) -> str:
    """Return a line of JSON in which a vendor's texts are made up; made-up texts stay as they are."""
    texts = _texts(json.loads(line, object_pairs_hook=_Pairs), ())
    return _STRING.sub(lambda found: _replaced(found.group(), next(texts)), line)


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with its keys in order, also those that are there twice."""


def _texts(value: object, keys: tuple[str, ...], role: str = "", kind: str = "") -> Iterator[bool]:
    """Yield for each string of a document, in its order, whether it is a vendor's text."""
    match value:
        case str():
            yield _is_vendors(value, keys, role, kind)
        case _Pairs():
            found = dict(value)
            kind = found["type"] if isinstance(found.get("type"), str) else kind
            role = found["role"] if isinstance(found.get("role"), str) else role
            for key, inner in value:
                yield False
                yield from _texts(inner, (*keys, key), role, kind)
        case list():
            for inner in value:
                yield from _texts(inner, keys, role, kind)


def _is_vendors(text: str, keys: tuple[str, ...], role: str, kind: str) -> bool:
    if text.startswith(_REMINDERS):
        return True
    if keys[-1] in {"name", "type", "role", "id", "path", "source"}:
        return False
    if "args" in keys and "input_schema" not in keys:
        return False
    if kind == "skill_listing" and keys[-1] == "content":
        return True
    if keys[-1] == "description" and {"tools", "input_schema", "toolCalls"} & {*keys}:
        return True
    return (
        bool(_KEYS & {*keys}) or (kind == "system.message" and keys[-1] == "content") or role == "developer"
    )


def _replaced(token: str, is_vendors: bool) -> str:
    return _PIECE.sub(_word, token) if is_vendors else token


def _word(found: re.Match[str]) -> str:
    word = found.group(1)
    if word is None or len(word) < 3:
        return found.group()
    words = _WORDS[len(word)]
    lowered = word.lower()
    other = lowered if lowered in words else words[sum(map(ord, lowered)) % len(words)]
    return "".join(new.upper() if old.isupper() else new for old, new in zip(word, other, strict=False))


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        text = path.read_bytes().decode(errors="surrogateescape")
        lines = [text] if path.suffix == ".json" else text.split("\n")
        made = "\n".join(made_up(line) if line else line for line in lines)
        path.write_bytes(made.encode(errors="surrogateescape"))
