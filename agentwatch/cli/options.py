"""What the command line asked for."""

import os
from pathlib import Path
from typing import NamedTuple

from agentwatch.cli.terminal import has_terminal
from agentwatch.config import Config
from agentwatch.sources.open import Keep


class Options(NamedTuple):
    """The options of every command; one that a command does not take stays at its default."""

    printing: bool = False
    output_format: str | None = None
    brief: bool = False
    strict: bool = False
    tee: bool = False
    log: Path | None = None
    no_log: bool = False
    record: Path | None = None
    no_record: bool = False
    follow: bool = False
    no_color: bool = False
    speed: float = 1.0
    max_idle: float | None = None
    config: Config = Config()
    """The user's settings; the defaults where no screen is drawn."""

    def prints(self) -> bool:
        """Return whether to print instead of drawing a screen, as asked or as can be inferred."""
        if self.printing or self.output_format is not None or not has_terminal():
            return True
        return not os.isatty(1) and not self.tee

    def printed_format(self) -> str:
        """Return what is printed; `--tee` without a terminal still passes the bytes on."""
        return self.output_format or ("stream-json" if self.tee else "text")

    def keeps(self, by_default: bool) -> Keep:
        """Return what is kept of a session; `by_default` is said of what no option names."""
        return Keep(
            recording=self.record,
            record=by_default and not self.no_record,
            log=self.log,
            write_log=(by_default or self.record is not None) and not self.no_log,
        )
