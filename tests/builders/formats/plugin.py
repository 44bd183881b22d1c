"""A fake distribution with a format, as pip installs it: the example of the documentation."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT

_PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
EXAMPLE, TEST = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)[:2]
"""The format of the documentation, and the test of it."""
STREAM = b"".join(
    json.dumps({"tern": 1, **fields}).encode() + b"\n"
    for fields in (
        {"ev": "hello", "model": "arctic-2", "cwd": "/home/ada"},
        {"ev": "ask", "text": "Run the tests."},
        {"ev": "say", "text": "One "},
        {"ev": "run", "id": "t-1", "cmd": "pytest -q"},
        {"ev": "ran", "id": "t-1", "code": 1},
        {"ev": "say", "text": "failed."},
        {"ev": "bye", "ok": True},
    )
)


def install(
    folder: Path,
    source: str = EXAMPLE,
    *,
    name: str = "tern",
    value: str = "",
    group: str = "agentwatch.agents",
) -> Path:
    """Write a package with a plugin, and the metadata of its distribution; return the folder for sys.path."""
    module = f"{name}_format"
    (folder / f"{module}.py").write_text(source, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    entry = value or f"{module}:AGENT"
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {entry}\n")
    return folder


Installer = Callable[..., None]
"""The type of the fixture `installed`: a function that installs a format for this test."""
