"""The command `log`."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.base.faults import USAGE
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_lines
from agentwatch.feed.feed import Feed
from agentwatch.output.log import follow_log
from agentwatch.recording.alarms import Alarm


def print_log(feed: Feed, alarms: Sequence[Alarm], *, addresses: bool = False) -> int:
    """Print the action log of a complete recording, and return the exit code. With `addresses`, each line of
    a call has its number: `#12`."""
    code = print_lines(follow_log(feed, alarms=alarms, addresses=addresses))
    if code == 0 and feed.session.outcome is None:
        from agentwatch.analysis.status import unknown_agent

        say(unknown_agent(feed.session))
        return USAGE
    return code
