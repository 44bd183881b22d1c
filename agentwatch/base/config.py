"""The user's settings as plain data; `cli.config_file` reads them, `screen` applies them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

HERE = "."
"""This machine, in a list of machines."""
SSH, ENGINE = "ssh://", "nats://"


class EngineSettings(NamedTuple):
    """`[engines.NAME]` in the settings."""

    address: str
    """`nats://HOST`."""
    credentials: Path | None = None
    """It is None for the credentials in the environment."""
    ca: Path | None = None
    """The certificates of an authority of your own; None for those of the system."""
    publisher: str = ""
    """The token of this machine; empty for the user of the login, or else the host's name."""
    plaintext: bool = False
    """Whether a connection to another host may go without TLS."""


class Machines(NamedTuple):
    listed: tuple[str, ...] = ()
    """Addresses, names of engines, `.` for this machine; empty for this machine."""
    publish: str = ""
    """The engine to which `run` publishes each session; empty for none."""
    engines: Mapping[str, EngineSettings] = MappingProxyType({})


class OnSetting(NamedTuple):
    """A rule that watches every session: `[[on]]`."""

    rule: str
    action: str
    """`bell`, `note`, `log`, `run`, `pause` or `stop`."""
    name: str = ""
    command: tuple[str, ...] = ()
    """What `run` runs."""


class SessionRule(NamedTuple):
    """A change of state of every session: `[[sessions.on]]`."""

    event: str
    """`needs-you`, `ended`, `failed` or `limit`."""
    name: str
    command: tuple[str, ...]


ACTS = ("continue", "queue", "interrupt", "answer")
"""The kinds of acts, each with a switch in `[act]`."""


class Config(NamedTuple):
    keys: Mapping[str, str] = MappingProxyType({})
    """The keys by the id of the binding: `{"pause": "f,space"}`."""
    theme: str | None = None
    thinking: bool = False
    """Whether completed thinking is initially shown; otherwise it is folded."""
    bell: bool = True
    note: bool = True
    title: bool = True
    ring: str = "all"
    """Which sessions of the list ring when they begin to need the user, unless chosen otherwise: `all` or
    `none`."""
    columns: tuple[str, ...] = ()
    """It is empty for the columns that fit."""
    machines: Machines = Machines()
    on: tuple[OnSetting, ...] = ()
    on_sessions: tuple[SessionRule, ...] = ()
    leave_to: tuple[str, ...] = ()
    """The agents, by their short names, that alert the user themselves when a turn ends or they ask."""
    act: frozenset[str] = frozenset()
    """The kinds of acts that are switched on: `[act]`."""
