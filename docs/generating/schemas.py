"""The page of all JSON that the program prints, from the schemas of the package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentwatch.cli.schema import NAMES, schema

_HEAD = """\
# JSON

This page is generated from the schemas of the package: `python docs/reference.py`.

What agentwatch prints as JSON has a schema (JSON Schema, draft 2020-12). `agentwatch schema` lists the
schemas, `agentwatch schema NAME` prints one.

```sh
agentwatch schema summary > summary.schema.json
```

- **`version`** is the first member of each object, also of each line of `sessions --json`. It changes when a
  member is renamed or removed, or gets another meaning. A new member does not change it: ignore those that
  you do not know.
- **A schema** has all members of this release, and allows no others. Its `$id` is a name that ends in the
  version; nothing is at that address.
- **null** is an unknown value, or one that does not exist. All members are always there, unless the text says
  otherwise.
- **Times** are in milliseconds since the epoch, durations in milliseconds.
- **Texts** of a session are foreign: an agent, or a web page that it has read, may have written them.
"""
_REFERENCE = re.compile(r"(?:\.\./([a-z-]{1,40})/\d{1,9})?#/\$defs/([a-z_]{1,40})")
_INLINE = {"session": "summary", "row": "sessions"}
"""Definitions that are the whole of a schema, by which they are called."""
Node = dict[str, Any]


def page() -> str:
    """Return the page."""
    lines = [_HEAD]
    for name in NAMES:
        found = schema(name)
        lines += [f"## {name}", "", f"{found['title']}. {found['description']}", "", *_table(name, found)]
        for each, node in found.get("$defs", {}).items():
            if "$id" not in node and _INLINE.get(each) != name:
                lines += [f"### {each} of {name}", "", *_table(name, node)]
    return "\n".join(lines)


def _table(name: str, node: Node) -> list[str]:
    rows = [*_rows(name, node, "")]
    if "additionalProperties" in node and not rows:
        return [f"Each fact has a name of its own: {_type(name, node)}.", ""]
    return ["| member | type | meaning |", "|---|---|---|", *rows, ""]


def _rows(name: str, node: Node, path: str) -> Iterator[str]:
    """Yield the rows of an object: `version`, the members that it has from another one, and its own."""
    members = dict(node.get("properties", {}))
    if (version := members.pop("version", None)) is not None and not path:
        yield _row(name, "version", version)
    if "$ref" in node:
        of, each = _target(name, node["$ref"])
        if of == name and _INLINE.get(each) == name:
            yield from _rows(name, schema(name)["$defs"][each], path)
        else:
            yield f"| `{path}…` | | all members of {_link(of, each)} |"
    for member, inner in members.items():
        yield _row(name, path + member, inner)
        for part, end in ((inner, "."), (inner.get("items", {}), "[].")):
            if "properties" in part:
                yield from _rows(name, part, path + member + end)


def _row(name: str, member: str, node: Node) -> str:
    words = node["description"]
    values = [value for value in node.get("enum", node.get("items", {}).get("enum", ())) if value is not None]
    if values:
        words += f" Values: {', '.join(f'`{value}`' for value in values)}."
    return f"| `{member}` | {_type(name, node)} | {words.replace('|', chr(92) + '|')} |"


def _type(name: str, node: Node) -> str:
    """Return the type of a value in words: `integer or null`, `array of string`."""
    if "const" in node:
        return f"{node['const']}"
    if "$ref" in node and "properties" not in node:
        return _link(*_target(name, node["$ref"]))
    if "anyOf" in node:
        return " or ".join(_type(name, each) for each in node["anyOf"])
    types = node.get("type", "object" if "properties" in node else "string" if "enum" in node else "any")
    words = " or ".join([types] if isinstance(types, str) else types)
    if inner := node.get("items"):
        words = words.replace("array", f"array of {_type(name, inner)}")
    if inner := node.get("additionalProperties"):
        words = words.replace("object", f"object of {_type(name, inner)}")
    return words


def _target(name: str, reference: str) -> tuple[str, str]:
    """Return the schema and the definition that a reference names."""
    found = _REFERENCE.fullmatch(reference)
    assert found is not None, reference
    return found[1] or name, found[2]


def _link(name: str, each: str) -> str:
    if _INLINE.get(each) == name:
        return f"[{name}](#{name})"
    return f"[{each}](#{each}-of-{name})"
