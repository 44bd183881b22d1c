"""Makes foreign text harmless in a Markdown document.

Sources: the CommonMark specification 0.31.2, and GitHub Flavored Markdown 0.29. GitHub links `@name`, `#12`
and `GH-12` in text, and notifies the people; it does not do so in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.text.safe import SafeText, safe_line

_BREAK = "\u200b"
"""A space of no width, which separates the sign of a mention from its name. Safe text has none."""
_MARKUP = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>|`*_[]~\\\"'!$^" + _BREAK})
_REFERENCE = re.compile(r"@(?=\w)|#(?=\d)|[Gg][Hh]-(?=\d)")
_ACTIVE = re.compile(
    r"(?<![^\s*_~(])https?://[^\s)<>\]\"'`]{1,2000}"  # kept: GFM makes a link of it
    r"|\\?[&<]"
    r"|!\["
    r"|\](?:\((?!https?://)|:(?! ?https?://))"
    r"|@(?=\w)|#(?=\d)|[Gg][Hh]-(?=\d)"
)
_HARMLESS = {
    "&": "&amp;",
    "\\&": "&amp;",
    "<": "&lt;",
    "\\<": "&lt;",
    "![": "!\\[",
    "](": "]\\(",
    "]:": "]\\:",
}
_BACKTICKS = re.compile(r"\\[!-/:-@\[-`{-~]|`+")
_ACTIVE_IN_CODE = re.compile(r"[<&@#]|!\[|\][(:]|[Gg][Hh]-")


def escaped(text: str) -> str:
    """Return foreign text as one line that is only text, in a cell of a table and in a `<summary>`.

    Example:
        >>> escaped("ask @ada about a<b>|c")
        'ask @&#8203;ada about a&#60;b&#62;&#124;c'
    """
    return _REFERENCE.sub(rf"\g<0>{_BREAK}", safe_line(text)).translate(_MARKUP)


def harmless(text: SafeText) -> str:
    """Return a part of a text in Markdown without what could act; the part lies outside of code blocks.

    Example:
        >>> print(harmless(SafeText("Ask @ada: `a<b>` is **not** <b>.")))
        Ask @&#8203;ada: <code>a&#60;b&#62;</code> is **not** &lt;b>.
    """
    return "\n".join("".join(_line(line)) for line in text.split("\n"))


def _line(line: str) -> Iterator[str]:
    """Yield the pieces of a line: text, and code between runs of as many backticks."""
    runs = [found for found in _BACKTICKS.finditer(line) if found[0].startswith("`")]
    closing: dict[int, list[int]] = {}
    for at in range(len(runs) - 1, -1, -1):
        closing.setdefault(len(runs[at][0]), []).append(at)
    end = at = 0
    while at < len(runs):
        later = closing[len(runs[at][0])]
        while later and later[-1] <= at:
            later.pop()
        if not later:
            at += 1
            continue
        last = later[-1]
        yield _text(line[end : runs[at].start()])
        yield _code(line[runs[at].start() : runs[last].end()], line[runs[at].end() : runs[last].start()])
        end, at = runs[last].end(), last + 1
    yield _text(line[end:])


def _text(text: str) -> str:
    return _ACTIVE.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    words = found[0]
    if (harmless := _HARMLESS.get(words)) is not None:
        return harmless
    return words if words.startswith("http") else f"{words}&#8203;"


def _code(span: str, code: str) -> str:
    """Return code within a line. In HTML it is harmless wherever the line stands, even in no paragraph."""
    if not _ACTIVE_IN_CODE.search(code):
        return span
    return f"<code>{code.translate(_MARKUP)}</code>"
