"""The options of the command line."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from agentwatch.cli.terminal import has_terminal
from agentwatch.sources.open import KeepOptions

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.analysis.moments import Asked, MomentSpec
    from agentwatch.base.config import Config
    from agentwatch.rules.alarms.tripwire import Tripwire


class Options(NamedTuple):
    """The options of a command; an option that the command does not have keeps its default."""

    printing: bool = False
    output_format: str | None = None
    format: str | None = None
    """The name of the agent's format; None to detect it."""
    brief: bool = False
    times: bool = False
    with_numbers: bool = False
    strict: bool = False
    tee: bool = False
    log: Path | None = None
    no_log: bool = False
    record: Path | None = None
    no_record: bool = False
    direct: bool = False
    follow: bool = False
    no_color: bool = False
    speed: float = 1.0
    max_idle: float | None = None
    moment: "MomentSpec | None" = None
    """Where the screen opens or a replay starts; None for the newest moment, or for the start of a replay."""
    until: "MomentSpec | None" = None
    """Where a replay ends; None for the end of the recording."""
    loop: bool = False
    pause_on: Literal["failure", "bookmark"] | None = None
    on: tuple[tuple[str, str], ...] = ()
    """Rules that watch the session, each with its action, as the user has written them."""
    tripwires: "tuple[Tripwire, ...]" = ()
    """These rules and those of the settings, read for the session that is watched."""
    settings: "Config | None" = None
    """The user's settings; None until they are read. A command that only prints may not need them."""
    problem: str = ""
    """Why the settings are not used; empty if they are."""

    @property
    def config(self) -> "Config":
        """The settings, or the defaults if the settings are not read."""
        if self.settings is not None:
            return self.settings
        from agentwatch.base.config import Config

        return Config()

    def asked(self) -> "Asked | None":
        if self.moment is None and self.until is None and self.pause_on is None:
            return None
        from agentwatch.analysis.moments import Asked

        return Asked(self.moment, self.until, self.pause_on)

    def prints(self) -> bool:
        """Whether to print. Without an output format, a screen needs a terminal, and stdout or `--tee`."""
        if self.printing or self.output_format is not None or not has_terminal():
            return True
        return not os.isatty(1) and not self.tee

    def printed_format(self) -> str:
        """Return the format; `--tee` without a terminal uses the one that copies the bytes."""
        return self.output_format or ("stream-json" if self.tee else "text")

    def agent(self) -> "Agent | None":
        """Return the agent that `--format` names; None to detect it."""
        if self.format is None:
            return None
        from agentwatch.agents.registry import agent_named

        return agent_named(self.format)

    def keep_options(self, by_default: bool) -> KeepOptions:
        """Return what is kept. `by_default`: a recording and a log are kept if no option mentions them."""
        return KeepOptions(
            recording=self.record,
            record=by_default and not self.no_record,
            log=self.log,
            write_log=(by_default or self.record is not None) and not self.no_log,
        )
