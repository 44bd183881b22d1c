"""Finds the stylesheets, the bundled recordings and the schemas.

The first two are inside the package in a wheel, and beside it in a checkout or an editable install.
"""

from __future__ import annotations

from pathlib import Path, PurePath

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(folder: str) -> Path:
    """Return the path of a bundled folder: `styles`, `recordings` or `schemas`."""
    packaged = _PACKAGE / folder
    return packaged if packaged.is_dir() else _PACKAGE.parent / folder


def stylesheets() -> list[str | PurePath]:
    """Return the stylesheets of the screen, in the order in which they are read."""
    names = ("app", "lines", "calls", "workspace", "overlays", "home", "short")
    return [resource("styles") / f"{name}.tcss" for name in names]
