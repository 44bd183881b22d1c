"""The options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Callback = Callable[[click.Context, click.Parameter, str | None], int | None]


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options to a command."""

    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


forced = click.option("--force", "is_forced", is_flag=True, help="Replace FILE if it exists.")


def number_in(parse: Callable[[str], int | None], complaint: str) -> Callback:
    """Return the callback of an option whose words stand for a number.

    Args:
        parse: Returns the number; None if the words stand for none.
        complaint: What follows the wrong words in the error: `is no age; an age is 30m or 2h`.
    """

    def value(_ctx: click.Context, option: click.Parameter, words: str | None) -> int | None:
        if words is None:
            return None
        found = parse(words)
        if found is None:
            raise click.UsageError(f"{option.opts[0]}: {words!r} {complaint}")
        return found

    return value
