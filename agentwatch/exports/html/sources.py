"""The stylesheet and the script of the page, and the policy that allows only these two."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "page"
SCRIPTS = (
    "data",
    "nodes",
    "rows",
    "build",
    "colours",
    "transcript",
    "calls",
    "strip",
    "finding",
    "moves",
    "printing",
    "dialog",
    "start",
)
"""The parts of the script, in the order in which they are joined. They share one scope."""
STYLES = ("page", "content")


@cache
def script() -> str:
    """Return the script of the page."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def style() -> str:
    """Return the stylesheet of the page."""
    return "\n".join(map(stylesheet, STYLES))


def stylesheet(name: str) -> str:
    """Return one of the parts of the stylesheet; `page` has the colours and fonts."""
    return _read(f"{name}.css")


def policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded, and only this script and stylesheet are used.

    Args:
        script: The script of the page; empty if it has none.
        style: The stylesheet of the page.
    """
    scripts = (f"script-src '{_hash(script)}'",) if script else ()
    return "; ".join(
        (
            "default-src 'none'",
            *scripts,
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"
