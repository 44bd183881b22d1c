"""The target of a call as the table shows it: without what is known already, and cut where rows are alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentwatch.session import Call
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, fitting

_LEAST_SHARED = 8
"""A shorter common beginning is not cut out: the cut would save too little."""
_ADDRESS = re.compile(r"\A[a-z]{1,20}+://\S{1,2000}+$")


def is_path(call: Call, shown: SafeText) -> bool:
    """Return whether a target is a path or an address, whose end matters more than its middle."""
    return call.path is not None or _ADDRESS.match(shown) is not None


def file_names(shown: SafeText) -> SafeText:
    """Return the target of a call that changed several files, without the folders."""
    return SafeText(", ".join(path.rpartition("/")[2] for path in shown.split(", ")))


def cut_apart(text: SafeText, near: Sequence[SafeText], width: int, *, is_path: bool) -> SafeText:
    """Return a target in at most `width` columns, cut so that it differs from the targets near it.

    A path loses folders from its middle, other targets lose their end. If the cut hides what differs, what
    the target shares with a near one is cut out instead: `pytest tests/unit/test_a.py` near
    `pytest tests/unit/test_b.py` is `pytest …test_a.py`.

    Args:
        text: The target.
        near: The targets of the neighbouring rows.
        width: The width, in columns; at least 1.
        is_path: Whether the target is a path or an address.
    """
    if columns(text) <= width:
        return text
    others = [other for other in near if other != text]
    if is_path:
        plain = cut_middle(text, width)
        twins = [other for other in others if cut_middle(other, width) == plain]
        return _cut_folders(text, twins[0], width) if twins else plain
    shared = max((_shared(text, other) for other in others), default=0)
    begin = max(text.rfind(" ", 0, shared), text.rfind("/", 0, shared)) + 1
    end = text.find(" ", shared)
    differing = text if end < 0 else SafeText(text[:end])
    if begin < _LEAST_SHARED or columns(differing) < width or width < _LEAST_SHARED:
        return cut(text, width)
    rest = SafeText(text[begin:])
    room = max(width - 1 - columns(rest), min(text.find(" ") + 1, width // 3))
    head = text[: fitting(text, 0, room)] if room > 0 else ""
    head = head[: max(head.rfind(" "), head.rfind("/")) + 1]
    return SafeText(f"{head}…{cut(rest, max(width - 1 - columns(SafeText(head)), 1))}")


def _shared(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _cut_folders(path: SafeText, other: SafeText, width: int) -> SafeText:
    """Return a path that shows its first folder that is not in another path."""
    parts, others = path.split("/"), other.split("/")
    pairs = zip(parts, others, strict=False)
    first = next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(parts), len(others)) - 1)
    whole = "/".join(parts[first:])
    short = f"{parts[first]}/…/{parts[-1]}" if first < len(parts) - 2 else whole
    lead = "…/" if first else ""
    for shown in (whole, short):
        if columns(SafeText(lead + shown)) <= width:
            return SafeText(lead + shown)
    return cut(SafeText(lead + short), width)
