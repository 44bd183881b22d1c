"""Where the stylesheet and the bundled recordings are: in the package of a wheel, beside it in a
checkout and in an editable install."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(folder: str) -> Path:
    """Return the place of a bundled folder, `styles` or `recordings`."""
    packaged = _PACKAGE / folder
    return packaged if packaged.is_dir() else _PACKAGE.parent / folder
