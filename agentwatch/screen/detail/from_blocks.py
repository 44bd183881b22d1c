"""What a call was given and gave back, each piece as the section of lines that suits it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.style import Style

from agentwatch.events import Part
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.detail.code_lines import CodeLines
from agentwatch.screen.detail.diff import Diff
from agentwatch.screen.detail.diff_lines import DiffLine, compared, parsed
from agentwatch.screen.detail.json_tree import JsonTree, from_text, is_tree
from agentwatch.screen.detail.sections import Heading, Matches, Section, Signed, bounded
from agentwatch.screen.detail.shell_output import shell_section
from agentwatch.screen.detail.syntax import CodeStyle
from agentwatch.session import Call, Place

MOST_LINES = 20_000
_LEAST_LINES = 200
"""What a piece is given when those before it have used up the lines."""
_MOST_PARTS = 500
_MOST_RAW_BYTES = 1 << 18
_MOST_JSON_CHARACTERS = 1 << 20
_STYLES = {"stderr": "failed", "error": "failed"}
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)


class PartSections:
    """Turns the pieces of one call into sections, and keeps count of the lines."""

    def __init__(self, call: Call, code_theme: str, ground: Style) -> None:
        """Colour code by a theme of pygments, and output on the ground of the pane."""
        self._call = call
        self._code_theme = code_theme
        self._ground = ground
        self._left = MOST_LINES

    def sections(self, parts: Iterable[Part], place: Place) -> Iterator[Section]:
        """Yield the pieces of the line at a place, each under its title."""
        for nth, part in enumerate(parts):
            if nth == _MOST_PARTS:
                yield Section([SafeText(f"… more pieces than {_MOST_PARTS}{_whereabouts(place)}")], "muted")
                return
            most = max(self._left, _LEAST_LINES)
            section, left_out = self._section(part, most)
            section.part = part
            yield Heading(_title(part, len(section.lines) + left_out))
            yield section
            self._left -= len(section.lines)
            if left_out:
                words = f"… {left_out:,} more {'line' if left_out == 1 else 'lines'}"
                yield Section([SafeText(words + _whereabouts(place))], "muted")

    def raw(self, data: bytes, place: Place) -> Iterator[Section]:
        """Yield a line as the recording has it, each of its members in a line."""
        lines, left_out = bounded(pretty(data.decode("utf-8", "replace")), MOST_LINES)
        yield CodeLines(lines, self._code(".json"), first_line=None)
        if left_out:
            yield Section([SafeText(f"… {left_out:,} more lines{_whereabouts(place)}")], "muted")
        if place.length > len(data):
            words = f"… {place.length - len(data):,} more bytes, from byte {place.offset + len(data)} of the"
            yield Section([SafeText(f"{words} recording on")], "muted")

    def _section(self, part: Part, most: int) -> tuple[Section, int]:
        """Return a piece as a section, and how many lines of it are left out."""
        match part.kind:
            case "diff":
                return self._diff_section(*parsed(part.text, most))
            case "change":
                return self._diff_section(*compared(part.before or "", part.text, most))
            case "stdout" | "stderr":
                return shell_section(part.text, _STYLES.get(part.kind, "plain"), self._ground, most)
        if part.value is not None and is_tree(part.value):
            return JsonTree(part.value), 0
        if part.kind == "content" and not self._call.path:
            value = from_text(part.text, _MOST_JSON_CHARACTERS)
            if value is not None:
                return JsonTree(value), 0
        lines, left_out = bounded(part.text, most)
        if part.kind == "content" and self._call.path:
            return CodeLines(lines, self._code(self._call.path), first_line=part.first_line), left_out
        if part.kind == "matches":
            return Matches(lines), left_out
        if part.kind in {"to-do list", "steps"}:
            return Signed(lines), left_out
        return Section(lines, _STYLES.get(part.kind, "plain")), left_out

    def _diff_section(self, lines: list[DiffLine], left_out: int) -> tuple[Section, int]:
        if not lines:
            return Section([SafeText("nothing is different")], "muted"), left_out
        return Diff(lines, self._code(self._call.path or "")), left_out

    def _code(self, name: str) -> CodeStyle:
        return CodeStyle(name, self._code_theme, self._ground)


def raw_piece(place: Place) -> Place:
    """Return how much of the line at a place is read to be shown raw."""
    return place._replace(length=min(place.length, _MOST_RAW_BYTES))


def pretty(text: str) -> str:
    """Return JSON with each member in a line of its own; no word of it is changed, whole or cut off."""
    pieces: list[str] = []
    depth = 0
    words = _TOKEN.findall(text)
    for nth, word in enumerate(words):
        if word in {"{", "["}:
            depth += 1
            is_empty = words[nth + 1 : nth + 2] in (["}"], ["]"])
            pieces.append(word if is_empty else f"{word}\n{_indent(depth)}")
        elif word in {"}", "]"}:
            depth -= 1
            is_empty = nth > 0 and words[nth - 1] in {"{", "["}
            pieces.append(word if is_empty else f"\n{_indent(depth)}{word}")
        elif word == ",":
            pieces.append(f",\n{_indent(depth)}")
        else:
            pieces.append(": " if word == ":" else word)
    return "".join(pieces)


def _indent(depth: int) -> str:
    return "  " * min(max(depth, 0), 40)


def _title(part: Part, lines: int) -> SafeText:
    if part.kind == "list":
        return SafeText(f"{lines:,} {'file' if lines == 1 else 'files'}")
    return safe_line(part.kind)


def _whereabouts(place: Place) -> str:
    return f", in the recording's line at byte {place.offset}"
