"""What is remembered from one start to the next: what the user has chosen to show, hide, hear or archive. It
is kept in small files beside the saved sessions. Without a file, or with one that cannot be read, everything
has its default.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from agentwatch.base.files import state_folder
from agentwatch.recording.store import open_regular, replace_file

Choice = TypeVar("Choice", bound=bool | str | int)
_MOST_BYTES = 1 << 18
"""A larger file counts as damaged."""


class Choices(Generic[Choice]):
    """A file of choices by name. It is read again for each change, so no process undoes that of another."""

    def __init__(self, name: str, most: int, *kinds: type[Choice]) -> None:
        """Name the file; it keeps the newest `most` choices of these types, and others in it are ignored."""
        self._name, self._most, self._kinds = name, most, kinds
        self._told: tuple[Path, int | None] | None = None

    @property
    def path(self) -> Path:
        return state_folder() / self._name

    def read(self) -> dict[str, Choice]:
        """Return no choices if the file cannot be read."""
        with suppress(OSError):
            return self._read()
        return {}

    def change(self, change: Callable[[dict[str, Choice]], object]) -> dict[str, Choice]:
        """Change the choices that are in the file now, and return them; after an OSError it is unchanged."""
        chosen: dict[str, Choice] = {}

        def content() -> bytes:
            with suppress(FileNotFoundError):
                chosen.update(self._read())
            change(chosen)
            for name in [*chosen][: -self._most]:
                del chosen[name]
            return json.dumps(chosen).encode()

        path = self.path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, content)
        for left in path.parent.glob(f"{path.name}.*"):  # of killed processes of earlier versions
            if left.suffix[1:].isdecimal():
                with suppress(OSError):
                    left.unlink()
        return chosen

    def keep(self, change: Callable[[dict[str, Choice]], object], tell: Callable[[str], object]) -> None:
        """Remember the choices. If that is not possible, tell the user why, once for each reason."""
        try:
            self.change(change)
        except OSError as error:
            if self._told != (self.path, error.errno):
                tell(f"not remembered: {self._name}: {error.strerror or 'it cannot be written'}")
            self._told = self.path, error.errno

    def _read(self) -> dict[str, Choice]:
        fd = open_regular(self.path, follow_links=True)
        try:
            with open(fd, "rb") as file:
                found = json.loads(file.read(_MOST_BYTES))
        except (ValueError, RecursionError):
            found = None
        known = found.items() if isinstance(found, dict) else ()
        return {name: chosen for name, chosen in known if type(chosen) in self._kinds}


_SCREEN = Choices[bool | str]("screen.json", 100, bool, str)


def remembered(part: str, kind: type[Choice]) -> Choice | None:
    """The choice for a part of the screen, such as `sort` or `theme`; None if the user has not chosen."""
    chosen = _SCREEN.read().get(part)
    return chosen if isinstance(chosen, kind) else None


def remember(part: str, choice: bool | str | None, tell: Callable[[str], object]) -> None:
    """Remember a choice; None forgets it. `tell` is called with the reason if it cannot be remembered."""

    def change(chosen: dict[str, bool | str]) -> None:
        chosen.pop(part, None)
        if choice is not None:
            chosen[part] = choice

    _SCREEN.keep(change, tell)
