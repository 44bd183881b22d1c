"""Lets ssh ask on the terminal for what a login needs, before there is a screen."""

from __future__ import annotations

import os
from collections.abc import Iterable

from agentwatch.cli.machines.sources import SSH


def log_in(words: Iterable[str]) -> None:
    """Connect to the hosts among addresses; without a terminal nothing is asked, so nothing is done.

    Args:
        words: Addresses of any kind.

    Raises:
        Fault: One of them begins like the address of a host, and is not one.
    """
    hosts = [each.rstrip("/") for each in words if each.startswith(SSH)]
    if hosts and os.isatty(0) and os.isatty(2):
        from agentwatch.remote.ssh.connection import connect

        connect(hosts, asks=True)
