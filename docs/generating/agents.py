"""The table of checked versions in the page of agents, from the data of the package."""

from __future__ import annotations

import re
from pathlib import Path

from agentwatch.agents.registry import checked_formats

_TABLE = re.compile(r"(<!-- checked versions -->\n)(?:\|[^\n]*\n)*\n?(?=<!-- end -->)")


def page(folder: Path) -> str:
    """Return the page of agents with the versions that were checked.

    Args:
        folder: The folder of the documentation.
    """
    lines = ["| format | version | day | result |", "|---|---|---|---|"]
    for name, found in sorted(checked_formats().items()):
        result = f"{found.wrong} wrong" if found.wrong else "right"
        lines.append(f"| `{name}` | {found.version} | {found.day} | {result} |")
    text = "\n".join(lines) + "\n"
    return _TABLE.sub(lambda found: found[1] + text, (folder / "agents.md").read_text())
