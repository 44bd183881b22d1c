"""A JSON value as a tree with foldable branches; initially, two levels are open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from agentwatch.analysis.block_text import as_json, cut_line
from agentwatch.screen.panes.detail.sections import Section, StyleOf
from agentwatch.screen.widgets.folding import Run
from agentwatch.session.blocks import Block, FieldsBlock
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, exact_line

_OPEN_LEVELS = 2
_MOST_NODES = 20_000
_MOST_DIGITS = 400
_READS_AS_A_VALUE = re.compile(r"\A\s*+(?:-?\d[\d.eE+-]*+|true|false|null)?+\s*")
Path = tuple[int, ...]
"""The position of a node: the index of the child at each level."""


class _Node(NamedTuple):
    path: Path
    name: str | None
    value: object
    is_branch: bool
    is_open: bool


class JsonTree(Section):
    """The members of a JSON object or array, one line per visible node. With `folded_as`, the whole value is
    folded into one line with these words."""

    def __init__(self, value: object, folded_as: SafeText | None = None) -> None:
        super().__init__([])
        self._value = value if folded_as is None else {folded_as: value}
        self._folded_as = folded_as
        self._turned: set[Path] = set()
        """The branches whose state differs from the initial one."""
        self._nodes: list[_Node] = []
        self._build()

    def is_branch(self, row: int) -> bool:
        number = self.line_at(row)
        is_first = self._tops is None or self._tops[number] == row
        return is_first and number < len(self._nodes) and self._nodes[number].is_branch

    def turn(self, row: int) -> None:
        """Fold or open the branch at a row; the caller must lay out the section again."""
        self._turned ^= {self._nodes[self.line_at(row)].path}
        self._build()

    @property
    def is_turned(self) -> bool:
        return bool(self._turned)

    def turn_as(self, other: JsonTree) -> None:
        """Fold and open the branches as in another tree; the caller must lay out the section again."""
        self._turned = set(other._turned)
        self._build()

    def member(self, block: Block | None, field: str | None) -> str | None:
        """Return the member of the tree that shows a field of a block; None if the tree shows no fields."""
        shows_fields = self.field is None and isinstance(block, FieldsBlock)
        return field if shows_fields else None

    def value_at(self, row: int) -> tuple[SafeText, str]:
        """Return the name and the text of the value at a row: a string as it is, another value as JSON."""
        node = self._nodes[self.line_at(row)]
        value = node.value if isinstance(node.value, str) else as_json(node.value, indent=2)
        return _safe(node.name or ""), value

    def open_to(self, pattern: re.Pattern[str], nth: int, under: str | None = None) -> int:
        """Open the branches above a match; the caller lays out the section again. `nth` counts the matches
        before it with all branches open, in the member `under` or in all. Return how many are seen."""
        passed = 0
        level, is_inside = (1 if self._folded_as is None else 2), under is None
        for node in islice(self._walk(lambda node: node.is_branch), _MOST_NODES):
            if under is not None and len(node.path) <= level:
                is_inside = len(node.path) == level and node.name == under
            hits = len(pattern.findall(self._line(node, any_branch=True))) if is_inside else 0
            if passed + hits > nth:
                above = {node.path[:level] for level in range(1, len(node.path))}
                self._turned ^= {path for path in above if not self._is_open(path)}
                self._build()
                index = [shown.path for shown in self._nodes].index(node.path)
                return nth - passed + sum(len(pattern.findall(line)) for line in self.lines[:index])
            passed += hits
        return nth

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        if number >= len(self._nodes):
            return [(0, len(self.lines[number]), style_of("muted"))]
        node, line = self._nodes[number], self.lines[number]
        indent = len(line) - len(line.lstrip(" "))
        if node.name is None:
            return []
        if self._is_fold(node):
            return [(0, len(line), style_of("muted"))]
        ended = indent + (2 if node.is_branch else 0) + len(_safe(node.name)) + 1
        runs = [(indent, ended, style_of("strong" if node.is_branch else "muted"))]
        if node.is_branch or not isinstance(node.value, str):
            runs.append((ended, len(line), style_of("muted" if node.is_branch else "code")))
        return runs

    def _build(self) -> None:
        nodes = self._walk(lambda node: node.is_open)
        self._nodes = list(islice(nodes, _MOST_NODES))
        any_branch = any(node.is_branch for node in self._nodes)
        self.lines = [self._line(node, any_branch) for node in self._nodes]
        left_out = sum(1 for _ in nodes)
        if left_out:
            self.lines = [*self.lines, SafeText(f"… {left_out:,} more below (press r for the raw line)")]

    def _walk(self, enters: Callable[[_Node], bool]) -> Iterator[_Node]:
        """Yield the nodes from top to bottom; `enters` decides for which nodes the children follow."""
        pending = [self._children((), self._value)]
        while pending:
            node = next(pending[-1], None)
            if node is None:
                pending.pop()
                continue
            yield node
            if enters(node):
                pending.append(self._children(node.path, node.value))

    def _is_open(self, path: Path) -> bool:
        is_open = self._folded_as is None and len(path) < _OPEN_LEVELS
        return is_open != (path in self._turned)

    def _is_fold(self, node: _Node) -> bool:
        return self._folded_as is not None and len(node.path) == 1

    def _line(self, node: _Node, any_branch: bool) -> SafeText:
        indent = "  " * (len(node.path) - 1)
        if node.name is None:
            return SafeText(f"{indent}  {_safe(str(node.value))}")
        sign = ("▾ " if node.is_open else "▸ ") if node.is_branch else "  " if any_branch else ""
        name = f"{indent}{sign}{_safe(node.name)}"
        return SafeText(name if self._is_fold(node) else f"{name}: {_value_text(node)}")

    def _children(self, path: Path, value: object) -> Iterator[_Node]:
        for nth, (name, inner) in enumerate(_members(value)):
            own = (*path, nth)
            is_branch = (isinstance(inner, (dict, list)) and bool(inner)) or (
                isinstance(inner, str) and "\n" in inner.rstrip("\n")
            )
            yield _Node(own, name, inner, is_branch, is_branch and self._is_open(own))


def is_tree(value: object) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def from_text(text: str, most: int) -> Any:
    """Return the object or array in a text of at most `most` characters; None if none or empty."""
    if len(text) > most or text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_tree(value) else None


def _members(value: object) -> Iterator[tuple[str | None, object]]:
    if isinstance(value, dict):
        yield from ((str(name), inner) for name, inner in value.items())
    elif isinstance(value, list):
        yield from ((str(nth), inner) for nth, inner in enumerate(value))
    elif isinstance(value, str):
        yield from ((None, line) for line in value.rstrip("\n").split("\n"))


def _value_text(node: _Node) -> SafeText:
    value = node.value
    if isinstance(value, str):
        if node.is_branch:
            return SafeText(f"{value.rstrip(chr(10)).count(chr(10)) + 1} lines")
        is_ambiguous = _READS_AS_A_VALUE.fullmatch(value[:_MOST_DIGITS]) is not None
        return _safe(json.dumps(value, ensure_ascii=False) if is_ambiguous else value)
    if node.is_branch and isinstance(value, (dict, list)):
        noun = "member" if isinstance(value, dict) else "item"
        return SafeText(plural(len(value), noun))
    return _safe(json.dumps(value, ensure_ascii=False, default=str))


def _safe(text: str) -> SafeText:
    return cut_line(exact_line(text))
