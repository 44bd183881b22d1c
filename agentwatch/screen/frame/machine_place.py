"""The part of the header about another machine: where the session runs, or where it is published."""

from __future__ import annotations

from agentwatch.sources.source import Elsewhere, Source
from agentwatch.sources.written_files import Publication
from agentwatch.text.safe import SafeText, columns, cut, safe_line

_LEAST = 10
"""Columns. In fewer, no part of the name of a host says where it is."""


def machine_place(source: Source | None, width: int) -> tuple[SafeText, str]:
    """Return where a session runs or is published, and the colour of the words; empty for neither.

    Args:
        source: The source of the session; None for no source.
        width: The width of the header. The words take at most a third of it.
    """
    if source is None:
        return SafeText(""), ""
    if source.elsewhere is not None:
        return SafeText(f"│ {_host(source.elsewhere, max(width // 3 - 3, 1))} "), "$text-accent"
    publication = source.written.publication
    if publication is None:
        return SafeText(""), ""
    colour = "$text-warning" if publication.has_trouble else "$text-accent"
    return SafeText(f"│ {_published(publication, width // 3 - 3)} "), colour


def _host(elsewhere: Elsewhere, most: int) -> SafeText:
    """Return the engine and the machine of a session if both fit, or the machine: `⇣ team · build-7`."""
    place = elsewhere.address.partition("://")[2].partition("/")[0].rpartition("@")[2]
    host = elsewhere.host or place
    if place.partition(":")[0] != host:
        both = safe_line(f"⇣ {place} · {host}")
        if columns(both) <= most:
            return both
    return cut(safe_line(f"⇣ {host}"), most)


def _published(publication: Publication, most: int) -> SafeText:
    """Return the longest form that fits."""
    forms = [*map(safe_line, publication.forms())]
    if most >= _LEAST:
        forms.insert(-1, cut(forms[-2], most))
    return next((form for form in forms if columns(form) <= most), forms[-1])
