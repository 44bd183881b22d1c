"""The options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options to a command."""

    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply
