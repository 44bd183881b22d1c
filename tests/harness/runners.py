"""How CI runners find workflow commands in a line, written after their sources."""

import re

_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""The characters that .NET's TrimStart removes."""
_ENDS = re.compile(r"\r\n|\r|\n")


def commands(printed: str) -> list[str]:
    """Return the printed lines in which any of the runners would find a command."""
    return [
        line for line in _ENDS.split(printed) if any(found(line) for found in (_github, _marked, _gitlab))
    ]


def _github(line: str) -> bool:
    """Match GitHub's second syntax: after blanks, `::`, the command's name and properties, and `::` again."""
    trimmed = line.lstrip(_WHITE)
    return trimmed.startswith("::") and trimmed.find("::", 2) >= 0


def _marked(line: str) -> bool:
    """Match GitHub's first syntax, Azure's and TeamCity's: a mark anywhere, and a `]` after it."""
    begins = (line.find(mark) for mark in ("##[", "##vso[", "##teamcity["))
    return any(begin >= 0 and line.find("]", begin) >= 0 for begin in begins)


def _gitlab(line: str) -> bool:
    """Match GitLab's sections, which end by erasing the line."""
    return (
        re.search(r"section_(?:start|end):\d+:[\w.-]+(?:\[[^]]*\])?", line) is not None and "\x1b[0K" in line
    )
