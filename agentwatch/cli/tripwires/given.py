"""Adds the rules to the options; the language of rules is loaded only if there are rules."""

from __future__ import annotations

from agentwatch.cli.options import Options
from agentwatch.faults import USAGE, Fault


def with_rules(options: Options, *, is_started: bool) -> Options:
    """Return the options with the rules that watch the session, which are read before anything starts.

    Args:
        options: The options of the command line.
        is_started: Whether agentwatch starts the agent, so that rules can pause and stop it.

    Raises:
        Fault: A rule cannot be read, or its action cannot be done here.
    """
    if not (options.on or options.config.on):
        return options
    from agentwatch.cli.tripwires.watching import tripwires_of

    return options._replace(tripwires=tripwires_of(options, is_started=is_started))


def check_unwatched(address: object, options: Options) -> None:
    """Check that `--on` is not used with an address.

    Raises:
        Fault: It is.
    """
    if options.on:
        hint = "--on works only with run and with stdin; agentwatch check judges recordings"
        raise Fault(f"{address} is a recording; {hint}", USAGE)
