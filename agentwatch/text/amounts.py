"""Counts, sizes, costs and long texts in words and in few columns."""

from __future__ import annotations

import re

_MOST_MARKUP = 500
_FENCES = ("```", "~~~")
_LEAD = re.compile(r"[\s>|]*+(?:#{1,6}+\s|[-*+]\s)?+\s*+")
_CODE = re.compile(r"(?<!`)(`++)(.+?)(?<!`)\1(?!`)")
_BOLD = re.compile(r"(\*\*|~~)(?!\s)([^*~]++)\1")
_ITALIC = re.compile(r"(?<![\w*])(\*)(?![\s*])([^*]++)\*(?![\w*])")
_UNDERLINED = re.compile(r"(?<!\w)(__?)(?![\s_])([^_\s]*+\s[^_]*+)\1(?!\w)")  # `__init__` is a name
_LINK = re.compile(r"!?(\[)([^][]*+)\]\([^()\s\0]*+\)")
_LEAST = 0.000_05


def plural(count: int, noun: str) -> str:
    """`1 line`, `2 lines`, `3 matches`, `8,456 calls`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def one_line(text: str, most: int = 4096) -> str:
    """Return at most `most` characters: `ls -la ⏎ +1 line`."""
    line, sign = first_line(text)
    return f"{line if len(line) + len(sign) <= most else f'{line[: most - len(sign) - 1]}…'}{sign}"


def first_line(text: str) -> tuple[str, str]:
    """Return the first line of a text that is not blank, and a sign for the lines after it.

    Example:
        >>> first_line("ls -la\\nrm -rf build\\n"), first_line("ls")
        (('ls -la', ' ⏎ +1 line'), ('ls', ''))
    """
    if "\n" not in text:
        return text, ""
    line, newline, rest = text.strip().partition("\n")
    return line, f" ⏎ +{plural(rest.count(newline) + 1, 'line')}" if newline else ""


def plain_markdown(line: str) -> str:
    """Return a line of Markdown without its markup, at most 500 characters; empty for a rule or a fence.

    Example:
        >>> plain_markdown("## **Done**: `a_b` is in [the docs](x.md)")
        'Done: a_b is in the docs'
    """
    line = line[:_MOST_MARKUP].replace("\0", " ")
    if line.lstrip().startswith(_FENCES) or not any(map(str.isalnum, line)):
        return ""
    codes = [found[2].strip() for found in _CODE.finditer(line)]  # whose signs are not markup
    line = _CODE.sub("\0", _LEAD.sub("", line, count=1))
    for markup in (_BOLD, _ITALIC, _UNDERLINED, _LINK):
        line = markup.sub(r"\2", line)
    for code in codes:
        line = line.replace("\0", code, 1)
    return line.rstrip(" \t\r\n|")


def short_count(count: int | None) -> str:
    """Return a count in at most four digits: `840`, `3.2k`, `124k`, `1.2M`."""
    count = count or 0
    if count < 1000:
        return str(count)
    for divisor, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        value = count / divisor
        if value < 9.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return f"{count:.0e}"


def line_counts(added: int | None, removed: int | None, minus: str = "-") -> str:
    """`+3 -1`; empty if both are unknown. `minus` is `MINUS` on the screen, `-` in the text format."""
    if added is None:
        return "" if removed is None else f"{minus}{removed:,}"
    return f"+{added:,}" if removed is None else f"+{added:,} {minus}{removed:,}"


def byte_size(count: int) -> str:
    """`999 B`, `12.3 kB`, `4.0 GB`."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 1000 or unit == "GB":
            break
    return f"{amount:.1f} {unit}"


def dollars(cost: float) -> str:
    """Return a cost, which is not negative, in dollars; one under a cent with four digits.

    Example:
        >>> dollars(1234.5), dollars(0.0034), dollars(0), dollars(1e-6)
        ('$1,234.50', '$0.0034', '$0.00', '<$0.0001')
    """
    if 0 < cost < 0.01:
        return f"${cost:.4f}" if cost >= _LEAST else "<$0.0001"
    return f"${cost:,.2f}"


def about_dollars(cost: float) -> str:
    """`≈ $12.40`."""
    return f"≈ {dollars(cost)}"
