"""The option `--on` as `--help` shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def on(actions: str) -> Callable[[Any], Any]:
    """Return the decorator that adds `--on` to a command.

    Args:
        actions: The actions that the command has, for the help.
    """
    return click.option(
        "--on",
        nargs=2,
        multiple=True,
        metavar="RULE ACTION",
        help=f"When RULE is hit: {actions}. An alarm, not a sandbox: the call may already run.",
    )
