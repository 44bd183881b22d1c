"""A group of entry points. Code of other packages may raise any exception, so all of them are caught."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_METADATA = (".dist-info", ".egg-info")
_MOST_WORDS = 300
_SWITCH = "AGENTWATCH_PLUGINS"


class Group:
    """The plugins of one kind, by the names of their entry points.

    Example:
        >>> Group("agentwatch.agents", "format plugin").words_of("tern", "ImportError: no module named tern")
        'format plugin tern: ImportError: no module named tern'
    """

    def __init__(self, name: str, words: str) -> None:
        """`words` are what one of the plugins is called in messages: `format plugin`. Nothing is searched
        yet."""
        self.name = name
        self._kind = words
        self.problems: list[str] = []
        """One line for each plugin that failed, in the order in which they failed."""

    def names(self) -> list[str]:
        """Return the names without loading the plugins."""
        return list(self.points)

    def load(self, name: str) -> object | None:
        """Return None if the name is unknown, or if the plugin cannot be imported."""
        point = self.points.get(name)
        if point is None:
            return None
        try:
            found: object = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
            self.report(name, error)
            return None
        if found is None:
            self.report(name, f"{point.value} is None")
        return found

    def report(self, name: str, reason: BaseException | str) -> None:
        """Add a line for a plugin that failed, unless it has one."""
        if not any(problem.startswith(self.words_of(name, "")) for problem in self.problems):
            words = reason if isinstance(reason, str) else reason_of(reason)
            self.problems.append(self.words_of(name, words))

    def words_of(self, name: str, reason: str) -> str:
        return f"{self._kind} {name}: {reason}"

    def problem_of(self, name: str) -> str:
        """Return the problem in one line."""
        found = (problem for problem in self.problems if problem.startswith(self.words_of(name, "")))
        return next(found, self.words_of(name, "failed"))

    def value_of(self, name: str) -> str:
        """What the entry point refers to: `tern_format:AGENT`."""
        return self.points[name].value

    @cached_property
    def points(self) -> dict[str, EntryPoint]:
        """The entry points by name, from the metadata of all installed packages."""
        if os.environ.get(_SWITCH) == "0":
            return {}
        try:
            if not _is_named(self.name):
                return {}
            from importlib.metadata import entry_points  # 16 ms

            return {point.name: point for point in entry_points(group=self.name)}
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the metadata is other people's
            self.problems.append(self.words_of("all", reason_of(error)))
            return {}


def _is_named(group: str) -> bool:
    """Whether the metadata of a package may name a group. Packages in a zip file may name any."""
    wanted = f"[{group}]".encode()
    for place in sys.path:
        folder = Path(place or ".")
        if not folder.is_dir():
            if folder.exists():  # a zip file
                return True
            continue
        for name in os.listdir(folder):
            if name.endswith(_METADATA):
                path = folder / name / "entry_points.txt"
                if path.is_file() and wanted in path.read_bytes():
                    return True
    return False


def reason_of(error: BaseException) -> str:
    """Return the reason in one line. The message of an exception is foreign, and making it may fail too."""
    try:
        words = str(error)[:_MOST_WORDS]
    except Exception:  # noqa: BLE001 - other people's code
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
