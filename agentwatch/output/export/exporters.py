"""The interface of an export format, and the formats by name. A format is imported when it is used.

Other packages provide formats by the entry point group `agentwatch.exporters`.

Example, in the `pyproject.toml` of a package whose module `tern_format` defines the exporter:

    [project.entry-points."agentwatch.exporters"]
    csv = "tern_format:CSV"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.entry_points import Group, reason_of
from agentwatch.base.faults import CANNOT_CREATE, Fault

if TYPE_CHECKING:
    from agentwatch.output.export.exported import Exported


class Choices(NamedTuple):
    """What the user has chosen for a format. A format ignores the choices of the others."""

    max_bytes: int | None = None
    """Markdown: the most bytes; the export stops at a call."""
    max_idle: float | None = None
    """asciicast: shorten silences to this number of seconds."""
    content: bool = False
    """OTLP: send the texts, the arguments and the results too."""
    columns: int = 120
    """asciicast: the width of the terminal."""
    rows: int = 40
    """asciicast: the height of the terminal."""
    progress: Callable[[int, int], None] | None = None
    """Is called with the bytes of the recording that are exported, and with their total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """A format in which a session can be written. Another package can provide one by an entry point."""

    name: str
    """The name of the format, for `--to`: `html`."""
    suffix: str
    """The suffix of its files: `.html`."""
    write: Callable[[Exported, Choices], Iterator[bytes]]
    """Yields the pieces of the file."""


class Sent(NamedTuple):
    """The result of sending a session."""

    words: str
    """A line for the user: how much was sent to which address, and what was refused. It is not safe text."""
    is_complete: bool
    """Whether all of it was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A format that is sent to a service instead of written to a file."""

    name: str
    """The name of the format, for `--to`: `otlp`."""
    check: Callable[[], None]
    """Raises a `Fault` if nothing can be sent. It is called before the session is read."""
    send: Callable[[Exported, Choices], Sent]
    """Sends the session. It raises no exception for what the service does."""


class Format(NamedTuple):
    """A built-in format, which is not loaded for its name, its key and its words."""

    module: str
    """The module whose `EXPORTER` it is."""
    key: str = ""
    """The format's key on the screen; empty for a format that is not a file."""
    words: str = ""


FORMATS = {
    "html": Format("html.page", "h", "HTML: one page that loads nothing"),
    "markdown": Format("markdown", "m", "Markdown, for an issue or a review"),
    "atif": Format("atif", "a", "ATIF, a trajectory for other programs"),
    "asciicast": Format("asciicast", "c", "asciicast, for a terminal player"),
    "otlp": Format("otlp"),
}


def exporter_names() -> list[str]:
    """Return the names of the formats, without loading them; those of other packages are the last."""
    return [*dict.fromkeys((*FORMATS, *GROUP.names()))]


def exporter_named(name: str) -> Exporter | Sender | None:
    """Return the format with a name; None if the name is unknown, or if a plugin cannot be imported."""
    built_in = FORMATS.get(name)
    if built_in is None:
        return _of_plugin(name)
    exporter: Exporter | Sender = import_module(f"{__package__}.{built_in.module}").EXPORTER
    return exporter


GROUP = Group("agentwatch.exporters", "export plugin")
"""The name of an entry point is the name of the format."""


@cache
def _of_plugin(name: str) -> Exporter | None:
    """Return the format of a plugin; None if there is no plugin of this name, or if it cannot be loaded."""
    exporter = GROUP.load(name)
    if exporter is None:
        return None
    if not isinstance(exporter, Exporter) or not isinstance(exporter.suffix, str):
        GROUP.report(name, f"{GROUP.value_of(name)} is not an agentwatch.output.export.exporters.Exporter")
        return None
    if exporter.name != name:
        GROUP.report(name, "its exporter has another name than its entry point")
        return None
    return Exporter(name=name, suffix=exporter.suffix, write=partial(_pieces, exporter))


def _pieces(exporter: Exporter, exported: Exported, choices: Choices) -> Iterator[bytes]:
    try:
        for piece in exporter.write(exported, choices):
            yield memoryview(piece).tobytes()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
        raise Fault(GROUP.words_of(exporter.name, reason_of(error)), CANNOT_CREATE) from None
