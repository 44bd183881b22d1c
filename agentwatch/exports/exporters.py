"""The export formats by name. A format is imported when it is used."""

from __future__ import annotations

from importlib import import_module

from agentwatch.exports.exporter import Exporter, Sender

_MODULES = {
    "html": "agentwatch.exports.html",
    "markdown": "agentwatch.exports.markdown",
    "atif": "agentwatch.exports.atif",
    "asciicast": "agentwatch.exports.asciicast",
    "otlp": "agentwatch.exports.otlp",
}
"""The modules of the built-in formats, each with an `EXPORTER`."""


def exporter_names() -> list[str]:
    """Return the names of the formats, without loading them; those of other packages are the last."""
    from agentwatch.exports.plugins import GROUP  # reads the metadata of all packages

    return [*dict.fromkeys((*_MODULES, *GROUP.names()))]


def exporter_named(name: str) -> Exporter | Sender | None:
    """Return the format with a name; None if the name is unknown, or if a plugin cannot be imported."""
    module = _MODULES.get(name)
    if module is None:
        from agentwatch.exports.plugins import plugin_exporter

        return plugin_exporter(name)
    exporter: Exporter | Sender = import_module(module).EXPORTER
    return exporter
