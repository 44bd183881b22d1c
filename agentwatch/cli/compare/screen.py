"""The screen of `compare`: when it is drawn, and the app."""

from __future__ import annotations

import gc
import os

from agentwatch.cli.address import Address
from agentwatch.cli.options import Options
from agentwatch.cli.terminal import claimed_terminal
from agentwatch.comparing import Comparison
from agentwatch.faults import Signalled
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.text.safe import safe_line


def draws_screen(options: Options) -> bool:
    """Return whether the comparison is shown on the screen: a terminal reads it, and another gives the keys.

    Args:
        options: The options of the command; an option about the report counts as printing.
    """
    return not options.prints() and os.isatty(0)


def show(comparison: Comparison, a: Address, b: Address, options: Options) -> int:
    """Show a comparison on the screen until the user quits, and return the exit code.

    Raises:
        Signalled: A signal has ended the screen.
    """
    held = HeldSignals()
    held.hold()
    with claimed_terminal():
        from agentwatch.screen.comparing.app import ComparisonApp

        gc.freeze()
        app = ComparisonApp(
            held,
            comparison,
            (a.path, b.path),
            (_address(a), _address(b)),
            options.config,
            no_color=options.no_color,
        )
        app.run()
    held.release()
    if app.fault is not None:
        raise app.fault
    if app.ended_by is not None:
        raise Signalled(app.ended_by)
    return 0


def _address(address: Address) -> str:
    """Return the address of a whole session, which is valid in every folder."""
    return safe_line(address.elsewhere or os.path.abspath(address.path))
