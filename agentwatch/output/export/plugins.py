"""Formats of exports that other packages provide, by the entry point group `agentwatch.exporters`.

They are loaded when `--to` names one.

Example, in the `pyproject.toml` of a package whose module `tern_format` defines the exporter:

    [project.entry-points."agentwatch.exporters"]
    csv = "tern_format:CSV"
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from agentwatch.base.entry_points import Group, reason_of
from agentwatch.base.faults import CANNOT_CREATE, Fault
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter

__all__ = ["GROUP", "plugin_exporter", "problems"]

GROUP = Group("agentwatch.exporters", "export plugin")
"""The name of an entry point is the name of the format."""
problems = GROUP.problems
"""One line for each plugin that could not be loaded, in the order in which they failed."""


@cache
def plugin_exporter(name: str) -> Exporter | None:
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
    return Exporter(name=name, suffix=exporter.suffix, write=partial(_written, exporter))


def _written(exporter: Exporter, exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the pieces of a file that a plugin writes."""
    try:
        for piece in exporter.write(exported, choices):
            yield memoryview(piece).tobytes()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
        raise Fault(GROUP.words_of(exporter.name, reason_of(error)), CANNOT_CREATE) from None
