"""The sources of a list of sessions: this machine, engines and hosts, as the user has named them.

Nothing of another machine is imported unless one is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.base.config import ENGINE, HERE, SSH, Machines
from agentwatch.base.faults import USAGE, Fault
from agentwatch.text.safe import cut, safe_line

if TYPE_CHECKING:
    from agentwatch.catalog.watched import Watched
    from agentwatch.remote.lists import Several

_SHOWN_COLUMNS = 60


def is_source(words: str) -> bool:
    """Return whether words name a machine or an engine: `.`, `nats://HOST`, `ssh://HOST`.

    A file with the literal name wins, and what has words behind the host's `/` is a session.
    """
    if words == HERE:
        return True
    scheme = next((scheme for scheme in (ENGINE, SSH) if words.startswith(scheme)), None)
    if scheme is None or os.path.exists(words):
        return False
    return not words.removeprefix(scheme).partition("/")[2]


def check_sources(words: Sequence[str]) -> None:
    """Check that each of several words names a machine or an engine."""
    wrong = next((each for each in words if not is_source(each)), None)
    if wrong is not None:
        shown = cut(safe_line(wrong), _SHOWN_COLUMNS)
        raise Fault(f"{shown}: a list has machines only: ., nats://HOST or ssh://HOST", USAGE)


def machine_list(words: Sequence[str], machines: Machines, environ: Mapping[str, str], home: Path) -> Several:
    """Return the sessions of machines as one list; nothing is connected yet.

    If the extra of engines is not installed, a list with this machine says so in a line. A name of an engine
    in the settings is one of `words` too. What is named twice is listed once.
    """
    from agentwatch.catalog.catalog import Machine
    from agentwatch.recording.store import sessions_folder
    from agentwatch.remote.lists import Several

    elsewhere: dict[str, Watched] = {}
    for each in words:
        if each.startswith(SSH):
            _add_host(elsewhere, each)
        elif each != HERE:
            _add_engine(elsewhere, each, machines, environ, is_alone=HERE not in words)
    here = Machine(environ, home) if HERE in words else None
    return Several(here, elsewhere, sessions_folder())


def _add_host(elsewhere: dict[str, Watched], words: str) -> None:
    from agentwatch.remote.ssh.host_list import SshHost
    from agentwatch.remote.ssh.shared_connection import parse_ssh

    address = str(parse_ssh(words.rstrip("/"))[0])
    if address not in elsewhere:
        elsewhere[address] = SshHost(address)


def _add_engine(
    elsewhere: dict[str, Watched],
    words: str,
    machines: Machines,
    environ: Mapping[str, str],
    *,
    is_alone: bool,
) -> None:
    from agentwatch.remote.lists import EngineFleet
    from agentwatch.remote.login import check_extra, login_of

    if is_alone:
        check_extra()
    login, _ = login_of(words, machines.engines, environ)
    if (address := str(login.address)) not in elsewhere:
        elsewhere[address] = EngineFleet(words.rstrip("/"), login)


def log_in(words: Iterable[str]) -> None:
    """Let ssh ask on the terminal for what a login needs, before there is a screen. Without a terminal
    nothing is asked, so nothing is connected."""
    hosts = [each.rstrip("/") for each in words if each.startswith(SSH)]
    if hosts and os.isatty(0) and os.isatty(2):
        from agentwatch.remote.ssh.shared_connection import connect

        connect(hosts, asks=True)
