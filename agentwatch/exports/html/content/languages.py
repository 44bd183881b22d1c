"""The languages whose words the page colours, by the name of a file or the first word of a fence."""

from __future__ import annotations

_FAMILIES = {
    "python": "py pyi python python3",
    "posix": "sh bash zsh shell console fish",
    "curly": "c h cc cpp hpp cs csharp dart go java kt kotlin php rs rust scala swift "
    "js javascript jsx mjs cjs ts typescript tsx mts",
    "data": "json jsonc json5 ndjson jsonl",
    "settings": "yaml yml toml ini cfg conf properties env dockerfile makefile",
    "query": "sql",
    "ruby": "rb ruby ex exs elixir pl perl r jl julia",
}
_BY_NAME = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_MOST_NAME = 20


def family_of_file(path: str | None) -> str:
    """Return the family of the language of a file; empty if it is unknown.

    Example:
        >>> family_of_file("src/app.py")
        'python'
    """
    name = (path or "").replace("\\", "/").rpartition("/")[2]
    return family_named(name.rpartition(".")[2])


def family_named(name: str) -> str:
    """Return the family of a language; empty if it is unknown."""
    return _BY_NAME.get(name.lower(), "") if len(name) <= _MOST_NAME else ""


def coloured(name: str, family: str) -> str:
    """Return the classes of an element whose text is in a family of languages; `name` is its own class."""
    return f"{name} in-{family}" if family else name
