"""Finds values whose label is in another cell: of a table, an insert into a database, a form, a list."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import lru_cache

from agentwatch.output.redact.decoding import Decoded, rewritten
from agentwatch.output.redact.mask import Found
from agentwatch.output.redact.secrets.labels import STEMS, Category, category_of, value_of

_NAMES = ("pass", "pwd", "secret", "token", "key", "cred", "psk")
_CELL_NAME = re.compile(r"[\"'`\[]?([A-Za-z][A-Za-z0-9_. -]{1,40})[\"'`\]]?")
_INTO = re.compile(r"(?i)into\s{1,4}[^\s(]{1,80}\s{0,4}\(([^()]{3,1000})\)\s{0,4}values\s{0,4}\(")
_LITERAL = re.compile(
    r"\s{0,20}(?:[A-Za-z]{0,2}'((?:[^'\\]|''|\\.){0,200})'|\"([^\"\n]{0,200})\"|([^,()'\"\s]{1,100}))"
    r"\s{0,20}([,)])"
)
_NEXT_ROW = re.compile(r"\s{0,20},\s{0,20}\(")
_FORM = re.compile(
    r"(?i)form-data;[ ]{0,2}name=[\\]?\"?([A-Za-z0-9_.\[\]-]{2,60})[\\]?\"?[^\n]{0,200}\s{0,4}\n"
    r"(?:[A-Za-z-]{3,40}:[^\n]{0,200}\n){0,4}\s{0,8}\n[ \t]{0,8}([^\s][^\n]{0,600})"
)
_SEPARATORS = (",", ";", "\t", "|")
_BETWEEN_NAMES = re.compile(r"[,;\t|]|  ")
_RULE = re.compile(r"[ \t|+:-]{1,600}")
_COLUMNS = re.compile(r"[ \t]{2,40}")
_MOST_CELLS, _LONGEST_LINE = 100, 4000
_MOST_ROWS = 5000
_MOST_SPACES = 2
_HEAD = re.compile(r"[A-Za-z0-9_ .|;,\t\"'`\[\]-]{3,1000}\r?")
_MARK = re.compile(r"[\",;\t|]")

_OPTION = re.compile('"--?[A-Za-z]')
_SINGLE_QUOTED_OPTION = re.compile("'--?[A-Za-z]")
_LISTED_OPTION = re.compile("- [ \t]{0,3}--?[A-Za-z]")
_CONTINUED = re.compile(r"\\\n")
_ARGUMENTS = (
    ('"-', _OPTION),
    ("'-", _SINGLE_QUOTED_OPTION),
    ("- -", _LISTED_OPTION),
    ("\\\n", _CONTINUED),
)
"""The patterns of options in a list of arguments, each with the literal that the option begins with."""
_BETWEEN = re.compile(r"[\"'][ ]?,\s{0,60}[\"']|[\"']?\n[ \t]{0,40}-[ \t]{1,4}[\"']?|\\\n[ \t]{0,80}")
_REACH = 300


def arguments(text: str) -> Decoded | None:
    """Return the commands of a text that are lists of arguments, as they are typed; None without any."""
    matches: set[tuple[int, int, str]] = set()
    for literal, pattern in _ARGUMENTS:
        done = 0
        for option in pattern.finditer(text) if literal in text else ():
            first, last = max(done, option.start() - _REACH), option.end() + _REACH
            between = [match.span() for match in _BETWEEN.finditer(text, first, last)]
            matches.update((start, end, " ") for start, end in between)
            done = max(done, between[-1][1] if between else option.start())
    return rewritten(text, _apart(sorted(matches))) if matches else None


def _apart(places: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    found = places[:1]
    for place in places[1:]:
        if place[0] >= found[-1][1]:
            found.append(place)
    return found


def cells(view: str) -> Iterator[Found]:
    """Yield the secrets of a plain text whose label is in another cell."""
    lower = view.lower()
    if not any(name in lower for name in _NAMES):
        return
    if "into" in lower:
        yield from _inserted(view, lower)
    if "form-data" in lower:
        yield from _posted(view)
    yield from _tables(view, lower)


@lru_cache(maxsize=1024)
def _category(cell: str) -> Category | None:
    """Return what the name of a column or a field labels; None if that is not a secret."""
    match = _CELL_NAME.fullmatch(cell.strip())
    if match is None:
        return None
    name = match[1].strip()
    lower = name.lower()
    for stem in STEMS:
        at = lower.rfind(stem)
        if at < 0:
            continue
        before, after = lower[:at].replace(" ", "_"), lower[at + len(stem) :]
        begins = not before[-1:].isalpha() or (name[at].isupper() and name[at - 1].islower())
        squeezed = "".join(filter(str.isalnum, before)), "".join(filter(str.isalnum, after))
        category = category_of(stem, *squeezed, begins=begins, is_query=False)
        if category is not None:
            return category
    return None


def _found(text: str, start: int, end: int, category: Category) -> Iterator[Found]:
    """Yield the value of a cell, without its quotes, if it is a secret."""
    value = text[start:end]
    start += len(value) - len(value.lstrip(" \t\"'`"))
    value = value.strip(" \t\"'`\r")
    if value and value_of(value, category):
        yield Found(start, start + len(value), "key" if category == "weak" else category)


def _inserted(view: str, lower: str) -> Iterator[Found]:
    into = lower.find("into")
    while into >= 0:
        match = _INTO.match(view, into)
        categories = [] if match is None else [_category(each) for each in match[1].split(",")]
        if match is not None and any(categories):
            at = match.end()
            while at >= 0:
                at = yield from _row(view, at, categories)
        into = lower.find("into", into + 1)


def _row(view: str, at: int, categories: list[Category | None]) -> Generator[Found, None, int]:
    """Yield the secrets of a row; return the start of the next row, or -1 after the last one."""
    for category in [*categories, None]:
        match = _LITERAL.match(view, at)
        if match is None:
            return -1
        if category is not None:
            group = next(number for number in (1, 2, 3) if match[number] is not None)
            yield from _found(view, *match.span(group), category)
        at = match.end()
        if match[4] == ")":
            break
    following = _NEXT_ROW.match(view, at)
    return -1 if following is None else following.end()


def _posted(view: str) -> Iterator[Found]:
    for match in _FORM.finditer(view):
        category = _category(match[1].replace("[", "_").replace("]", ""))
        if category is not None:
            yield from _found(view, *match.span(2), category)


def _tables(view: str, lower: str) -> Iterator[Found]:
    """Yield the secrets in columns: of files, of databases, in Markdown, and aligned by spaces."""
    heads: dict[int, int] = {}
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            end = view.find("\n", at)
            if end < 0:
                break
            start = view.rfind("\n", 0, at) + 1
            if (
                end - start <= _LONGEST_LINE
                and _BETWEEN_NAMES.search(view, start, end)
                and _HEAD.fullmatch(view, start, end)
            ):
                heads[start] = end
            at = lower.find(name, end)
    done = 0
    for start, end in sorted(heads.items()):
        if start >= done:
            done = yield from _table(view, start, end)


def _table(view: str, start: int, end: int) -> Generator[Found, None, int]:
    """Yield the secrets below a line if it is the head of a table, and return where the table ends."""
    head = view[start:end]
    separator = next((each for each in _SEPARATORS if each in head), "")
    if separator:
        places: list[tuple[int, int]] = []
        names = head.split(separator)
    else:
        begins = [0, *(match.end() for match in _COLUMNS.finditer(head.rstrip()) if match.start())]
        places = [*zip(begins, [*begins[1:], _LONGEST_LINE], strict=True)]
        names = [head[first:last] for first, last in places]
    at = end + 1
    if not _is_head(names):
        return at
    categories = [_category(name) for name in names]
    if not any(categories):
        return at
    for _ in range(_MOST_ROWS):
        line_end = view.find("\n", at)
        line_end = len(view) if line_end < 0 else line_end
        line = view[at:line_end]
        if not line.strip() or len(line) > _LONGEST_LINE:
            break
        if not _RULE.fullmatch(line):
            values = _cells_of(line, separator) if separator else places
            if len(values) != len(names):
                break
            for category, (first, last) in zip(categories, values, strict=True):
                if category is None:
                    continue
                if not separator and line[first - 1 : first].strip():
                    return at
                yield from _found(view, at + first, min(at + last, line_end), category)
        at = line_end + 1
    return at


def _is_head(names: list[str]) -> bool:
    """Return whether each cell of a line is a name, or empty at an end of it."""
    inner = [name.strip() for name in names[not names[0].strip() : len(names) - (not names[-1].strip())]]
    return 1 < len(inner) <= _MOST_CELLS and all(
        _CELL_NAME.fullmatch(name) and name.count(" ") <= _MOST_SPACES for name in inner
    )


def _cells_of(line: str, separator: str) -> list[tuple[int, int]]:
    """Return the start and the end of each cell of a line; a separator in quotes separates nothing."""
    found, start, is_quoted = [], 0, False
    for match in _MARK.finditer(line):
        if match[0] == '"':
            is_quoted = not is_quoted
        elif match[0] == separator and not is_quoted:
            found.append((start, match.start()))
            start = match.end()
    return [*found, (start, len(line))]
