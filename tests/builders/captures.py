"""The captures: those in the repository, and those of others in a folder that the environment names."""

import os
from pathlib import Path

OWN = Path(__file__).resolve().parent.parent / "captures"
"""Captures of our own runs, and those made by hand; `tests/captures/README.md` lists their sources."""
FOREIGN = os.environ.get("AGENTWATCH_CAPTURES", "")
"""The folder with the captures of others, which are not ours to distribute; empty if it is not named."""


class Captures:
    """One collection of captures: ours, or those of others."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_own = root == OWN

    def find(self, *patterns: str) -> list[Path]:
        """Return the captures that match a glob, each once, in order. It is a failure if none matches."""
        found = {path for pattern in patterns for path in self.root.glob(pattern) if path.is_file()}
        if not self.is_own:
            found = {path for path in found if not (OWN / path.relative_to(self.root)).exists()}
        assert found, f"{self.root} has no {' and no '.join(patterns)}"
        return sorted(found)

    def name(self, path: Path) -> str:
        """Return the path of a capture below its collection, as a test names it in a message."""
        return path.relative_to(self.root).as_posix()


OURS = Captures(OWN)
