"""The tables of fields in the page of rules, from the vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentwatch.catalog.row_filter import ROW_FIELDS
from agentwatch.rules.calls.fields import CALL_FIELDS, RUN_FIELDS
from agentwatch.rules.language.vocabulary import Field, Measure

_TABLES: Mapping[str, Iterable[Field]] = {
    "fields of a call": CALL_FIELDS,
    "fields of the session so far": RUN_FIELDS,
    "fields of a session in the list": ROW_FIELDS,
}
_KINDS = {
    Measure.NAME: "name",
    Measure.TEXT: "text",
    Measure.PATH: "path",
    Measure.COUNT: "number",
    Measure.DURATION: "time",
    Measure.PERCENT: "share",
}
_TABLE = re.compile(r"(<!-- (fields of [a-z ]{1,40}) -->\n)(?:\|[^\n]*\n)*\n?(?=<!-- end -->)")


def page(folder: Path) -> str:
    """Return the page of rules with the tables of this version.

    Args:
        folder: The folder of the documentation.
    """
    text = (folder / "rules.md").read_text()
    return _TABLE.sub(lambda found: found[1] + _table(_TABLES[found[2]]), text)


def _table(fields: Iterable[Field]) -> str:
    lines = ["| field | kind | what it is | example |", "|---|---|---|---|"]
    for field in fields:
        about = field.about
        if field.is_closed:
            about += ": " + ", ".join(f"`{value}`" for value in field.values)
        example = (field.example or f"{field.name}:word").replace("|", "\\|")
        lines.append(f"| `{field.name}` | {_KINDS[field.measure]} | {about} | `{example}` |")
    return "\n".join(lines) + "\n"
