"""The page of the Python API: signatures, fields and examples, from the docstrings and annotations."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from textwrap import dedent
from types import FunctionType
from typing import Any, NamedTuple, get_args, is_typeddict

import agentwatch

_HEAD = """\
# Python

This page is generated from the docstrings of the package: `python docs/reference.py`.
[Use it from Python](../howto/python.md) shows what it is for.

The names of the package `agentwatch` are stable under semantic versioning. Importing the package takes 1 ms, and loads neither Textual nor rich nor click; each name is imported when it is used. The examples run as tests, in a checkout.

None is a value that is not known. A name that ends in `_ms` is in milliseconds: a time is counted from 1970 UTC, by the agent's clock; `seen_ms` is the time of arrival, by the clock of the machine that recorded it. `cost_usd` is in US dollars.
"""  # noqa: E501 - Markdown has a line for each paragraph
_SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Read a session",
        "Four functions read a recording, a session that an agent keeps, a pipe, an open file, or lines.",
        ("load", "summary", "read", "follow", "Summary", "CallSummary", "Events", "Placed", "Place"),
    ),
    (
        "The session",
        "`load` returns a `Session`.",
        ("Session", "Run", "TurnResult", "Call", "Entry", "Kind", "LineCounts", "OddLine"),
    ),
    (
        "Types of events",
        "`read` and `follow` yield events, as named tuples. `at_ms` is the time of the line.",
        (
            *(
                "Event",
                "FormatDetected",
                "RunStarted",
                "RunInfo",
                "TurnStarted",
                "Prompt",
                "Text",
                "TextEnded",
            ),
            *("TextRetracted", "ToolStarted", "ToolProgress", "ToolEnded", "Permission", "Plan", "PlanEntry"),
            *("Usage", "Tokens", "Compaction", "Limits", "LimitWindow", "Retry", "Rewound", "Notice"),
            *("LineTime", "TurnEnded", "Malformed", "Oversize", "Repair", "Unknown"),
        ),
    ),
    (
        "Words",
        "The values that fields of events and calls have. Each is a string.",
        ("Outcome", "ToolKind", "Channel", "PlanStatus", "UsageScope"),
    ),
    (
        "Formats",
        "What [another package](../plugins.md) defines to add a format.",
        ("Agent", "LineRole", "Traits", "testing.check_agent"),
    ),
    ("Errors", "What the functions raise.", ("Fault",)),
)
_INTERNAL = {
    "Session": "copied_calls forgotten_runs has_commands limits notices questions repeats_history rhythm"
    " unended uses",
    "Run": "answer awaits_prompt began_seen_ms named_as turn_starts usage_counts",
    "TurnResult": "is_bare is_last_text length is_streamed",
    "Entry": "content",
}
"""The attributes that are not for programs of others. The methods of these classes are not, either."""
_METHODS = {"Events": "close"}
_SAME = {
    "Call": "ToolStarted ToolEnded",
    "CallSummary": "Call ToolStarted ToolEnded",
    "LineSummary": "LineCounts",
    "OrphanSummary": "Session",
    "Run": "RunStarted",
    "RunInfo": "RunStarted",
    "Summary": "RunStarted Run TurnResult TurnEnded",
    "TokenSummary": "Tokens",
    "ToolEnded": "ToolStarted",
    "TurnResult": "TurnEnded Run",
}
"""Where the fields of a type are explained that have no docstring of their own."""


class _Member(NamedTuple):
    name: str
    type: str
    default: str
    meaning: str


_Attribute = tuple[ast.expr | None, ast.expr | None, str | None]
"""The annotation, the default and the docstring."""


def page() -> str:
    """Return the page."""
    lines = [_HEAD]
    for heading, text, names in _SECTIONS:
        lines += [f"## {heading}\n", f"{text}\n"]
        for name in names:
            lines += [f"### {name}\n", *_described(name)]
    return "\n".join(lines)


def _described(name: str) -> Iterator[str]:
    value = agentwatch
    for part in name.split("."):
        value = getattr(value, part)
    if name == "Event":
        links = ", ".join(f"[{each.__name__}](#{each.__name__.lower()})" for each in get_args(value))
        yield f"Any of these types: {links}.\n"
        return
    text, sections = _parsed(inspect.getdoc(value) or "")
    if isinstance(value, FunctionType):
        yield from _function(name, value, text, sections)
    else:
        yield f"{text}\n"
        found = [f"- `{each.name}: {each.type}{each.default}`{each.meaning}" for each in _members(value)]
        if isinstance(value, type) and issubclass(value, Enum):
            found = [
                f"- `{key} = {each.value!r}`{_meaning(value, key)}" for key, each in value.__members__.items()
            ]
        if found:
            yield "\n".join(found) + "\n"
    if example := sections.get("Example"):
        yield f"```pycon\n{example.replace('  # doctest: +ELLIPSIS', '')}\n```\n"


def _function(name: str, function: FunctionType, text: str, sections: dict[str, str]) -> Iterator[str]:
    tree = _tree(function)
    assert isinstance(tree, ast.FunctionDef)
    types = {each.arg: _type(each.annotation, function) for each in (*tree.args.args, *tree.args.kwonlyargs)}
    for each in (*tree.args.args, *tree.args.kwonlyargs):
        each.annotation = None
    returned = _type(tree.returns, function)
    yield f"```python\nagentwatch.{name}({ast.unparse(tree.args)}) -> {returned}\n```\n"
    yield f"{text}\n"
    given = _arguments(sections)
    assert [*given] == [*types], f"{name} does not describe each argument"
    yield "".join(f"- `{each}: {types[each]}`: {words}\n" for each, words in given.items())
    if words := sections.get("Returns"):
        yield f"Returns: {_joined(words)}\n"
    if words := sections.get("Raises"):
        yield "Raises:\n"
        yield "".join(f"- `{each}`: {words}\n" for each, words in _listed(words).items())


def _parsed(doc: str) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring, and its sections by their headings."""
    text, *parts = re.split(r"^(Args|Returns|Raises|Example):\n", doc, flags=re.MULTILINE)
    sections = {heading: dedent(body).strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}
    return "\n\n".join(map(_joined, text.strip().split("\n\n"))), sections


def _arguments(sections: dict[str, str]) -> dict[str, str]:
    return _listed(sections.get("Args", ""))


def _listed(section: str) -> dict[str, str]:
    """Return the explanations in a section, by their names."""
    names, texts = (re.split(r"^(\w+): ", section, flags=re.MULTILINE)[start::2] for start in (1, 2))
    return dict(zip(names, map(_joined, texts), strict=True))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _members(value: Any) -> Iterator[_Member]:
    """Yield the fields and properties of a class, in the order of its source."""
    hidden = {*_INTERNAL.get(value.__name__, "").split()}
    found = {name: each for name, each in _attributes(value).items() if not name.startswith("_")}
    assert hidden <= found.keys(), f"{value.__name__} has no {hidden - found.keys()}"
    for name, (annotation, default, _) in found.items():
        if name not in hidden:
            words = _type(annotation, value) or _type_of_default(value, default)
            assert words, f"{value.__name__}.{name} has no type"
            shown = f" = {ast.unparse(default)}" if default is not None and issubclass(value, tuple) else ""
            yield _Member(name, words, shown, _meaning(value, name) + _below(value, annotation))


def _meaning(value: type, name: str) -> str:
    """Return a colon and what a member means; nothing without a docstring."""
    for owner in (value, *(getattr(agentwatch, each) for each in _SAME.get(value.__name__, "").split())):
        if doc := _attributes(owner).get(name, (None, None, None))[2]:
            return f": {_joined(_parsed(inspect.cleandoc(doc))[0])}"
    return ""


@cache
def _attributes(value: type) -> dict[str, _Attribute]:
    """Return the annotation, the default and the docstring of each attribute of a class."""
    tree = _tree(value)
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, _Attribute] = {}
    for index, each in enumerate(tree.body):
        if isinstance(each, ast.AnnAssign | ast.Assign):
            found |= _assigned(each, tree.body[index + 1 :])
        elif isinstance(each, ast.FunctionDef) and each.name == "__init__":
            given = {arg.arg: arg.annotation for arg in (*each.args.args, *each.args.kwonlyargs)}
            explained = _arguments(_parsed(ast.get_docstring(each) or "")[1])
            for at, line in enumerate(each.body):
                if isinstance(line, ast.AnnAssign | ast.Assign):
                    for name, (annotation, default, doc) in _assigned(line, each.body[at + 1 :]).items():
                        argument = default.id if isinstance(default, ast.Name) else ""
                        found[name] = (
                            annotation or given.get(argument),
                            default,
                            doc or explained.get(argument),
                        )
        elif isinstance(each, ast.FunctionDef) and (
            "property" in map(ast.unparse, each.decorator_list) or each.name == _METHODS.get(value.__name__)
        ):
            name = each.name if each.decorator_list else f"{each.name}()"
            found[name] = each.returns, None, ast.get_docstring(each)
    return found


def _assigned(each: ast.AnnAssign | ast.Assign, after: list[ast.stmt]) -> dict[str, _Attribute]:
    targets = [each.target] if isinstance(each, ast.AnnAssign) else each.targets
    doc = None
    if after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant):
        doc = str(after[0].value.value)
    annotation = each.annotation if isinstance(each, ast.AnnAssign) else None
    return {ast.unparse(target).removeprefix("self."): (annotation, each.value, doc) for target in targets}


def _tree(value: Any) -> ast.stmt:
    return ast.parse(dedent(inspect.getsource(value))).body[0]


def _type(annotation: ast.expr | None, owner: Any) -> str:
    """Return a type as words, in which an alias that has no name of its own is what it stands for."""
    if annotation is None:
        return ""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    module = sys.modules[owner.__module__]

    def whole(name: re.Match[str]) -> str:
        meant = getattr(module, name[0], None)
        is_alias = meant is not None and not isinstance(meant, type) and name[0] not in agentwatch.__all__
        return _short(meant) if is_alias and get_args(meant) else name[0]

    return re.sub(r"\b[A-Z]\w+", whole, ast.unparse(annotation))


def _short(meant: object) -> str:
    """Return a type without the names of its modules."""
    return re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", str(meant))


def _type_of_default(owner: type, default: ast.expr | None) -> str:
    """Return the type of an attribute that is a constant or a new object; a list of ours is a sequence."""
    if isinstance(default, ast.Constant):
        return type(default.value).__name__
    if isinstance(default, ast.Call):
        made = getattr(sys.modules[owner.__module__], ast.unparse(default.func))
        [base, *_] = getattr(made, "__orig_bases__", ()) or (None,)
        return _short(base) if get_args(base) else made.__name__
    return ""


def _below(owner: type, annotation: ast.expr | None) -> str:
    """Return the words of an enumeration, and the keys of a dictionary, that have no heading of their own."""
    for name in re.findall(r"\w+", "" if annotation is None else ast.unparse(annotation)):
        meant = getattr(sys.modules[owner.__module__], name, None)
        if not isinstance(meant, type) or name in agentwatch.__all__:
            continue
        if issubclass(meant, Enum):
            return f" One of {', '.join(f'`{each.value}`' for each in meant)}."
        if is_typeddict(meant):
            rows = (f"\n- `{each.name}: {each.type}`{each.meaning}" for each in _members(meant))
            return "".join(rows).replace("\n", "\n    ")
    return ""
