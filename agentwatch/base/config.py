"""The user's settings as plain data; `cli.config_file` reads them, `screen` applies them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

HERE = "."
"""This machine, in a list of machines."""
SSH, ENGINE = "ssh://", "nats://"
"""The beginnings of remote addresses."""


class EngineSettings(NamedTuple):
    """An engine in the settings: `[engines.NAME]`."""

    address: str
    """`nats://HOST`."""
    credentials: Path | None = None
    """The file with the credentials; None for those in the environment."""
    ca: Path | None = None
    """The certificates of an authority of your own; None for those of the system."""
    publisher: str = ""
    """The publisher's token of this machine; empty for the user of the login, or else the host's name."""
    plaintext: bool = False
    """Whether a connection to another host may go without TLS."""


class Machines(NamedTuple):
    """The settings about other machines."""

    listed: tuple[str, ...] = ()
    """What `agentwatch` lists: addresses, names of engines, `.` for this machine; empty for this machine."""
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
    """What it runs."""


ACTS = ("continue", "queue", "interrupt", "answer")
"""The kinds of acts, each with a switch in `[act]`."""


class Config(NamedTuple):
    """The settings of the user. Without a configuration file, the defaults apply."""

    keys: Mapping[str, str] = MappingProxyType({})
    """The keys of bindings, by the binding's id: `{"pause": "f,space"}`."""
    theme: str | None = None
    """The name of one of Textual's themes; None for the default theme."""
    thinking: bool = False
    """Whether completed thinking is initially shown; otherwise it is folded."""
    bell: bool = True
    """Whether the terminal bell may ring."""
    note: bool = True
    """Whether desktop notifications may be sent."""
    title: bool = True
    """Whether the terminal's title shows the state of the session."""
    ring: str = "all"
    """Which sessions of the list ring when they begin to need the user, unless the user has chosen for one:
    `all` or `none`."""
    columns: tuple[str, ...] = ()
    """The columns of the list that the user has chosen; empty for those that fit."""
    machines: Machines = Machines()
    on: tuple[OnSetting, ...] = ()
    """The rules that watch every session."""
    on_sessions: tuple[SessionRule, ...] = ()
    """The changes of state that run a command."""
    leave_to: tuple[str, ...] = ()
    """The agents, by their short names, that alert the user themselves when a turn ends or they ask."""
    act: frozenset[str] = frozenset()
    """The kinds of acts that are switched on: `[act]`."""
