"""The command `schema`. A schema is a file in `agentwatch/schemas`, in draft 2020-12. It refers to another
schema by `../NAME/VERSION#…`."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import click

from agentwatch.base.files import resource
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.stdout import print_lines

_FOLDER = resource("schemas")
_OTHER = re.compile(r'"\.\./([a-z-]{1,40})/')
NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def schema(name: str) -> dict[str, Any]:
    """Return a schema that has the schemas that it refers to in its `$defs`, by their `$id`."""
    names = [name]
    for each in names:
        names += {*_OTHER.findall(_text(each))}.difference(names)
    found, *others = (json.loads(_text(each)) for each in names)
    if others:
        found["$defs"] = found.get("$defs", {}) | {each["$id"]: each for each in others}
    assert isinstance(found, dict)
    return found


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.json").read_text(encoding="utf-8")


@click.command("schema", cls=HelpfulCommand, epilog=f"NAME: {', '.join(NAMES)}.")
@click.argument("name", type=click.Choice(NAMES), metavar="[NAME]", required=False)
def print_schema(name: str | None) -> int:
    """Print the JSON Schema of what a command prints as JSON.

    Without NAME, print the names and what each describes.
    """
    if name is not None:
        return print_lines(json.dumps(schema(name), indent=2, ensure_ascii=False).split("\n"))
    width = max(map(len, NAMES)) if os.isatty(1) else 0
    return print_lines(f"{each:{width}}  {json.loads(_text(each))['title']}" for each in NAMES)
