"""Finds the secrets of a text."""

from __future__ import annotations

import re

from agentwatch.redaction.found import Found, joined

_TOKEN = re.compile(
    r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{36,255}|(?:AKIA|ASIA)[A-Z2-7]{16}"
    r"|sk-[A-Za-z0-9_-]{20,200}|xox[abeoprs]-[A-Za-z0-9-]{10,200}|eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{0,2000})"
)
_URL = re.compile(r"://[^\s:/@\"']{0,100}:([^\s/@\"']{1,200})@")
_LABEL = re.compile(
    r"(?i)(password|passwd|secret|token|api[_-]?key)[\"']?[ ]{0,4}[=:][ ]{0,4}[\"']?([^\s\"',;]{8,200})"
)


def find(text: str) -> list[Found]:
    """Return where a text has secrets, sorted and without overlaps.

    Args:
        text: Any text, best decoded: inside a JSON string, escapes hide where a secret begins.
    """
    found = [Found(*match.span(), "token") for match in _TOKEN.finditer(text)]
    found += [Found(*match.span(1), "url password") for match in _URL.finditer(text)]
    found += [Found(*match.span(2), match[1].lower()) for match in _LABEL.finditer(text)]
    return joined(found)
