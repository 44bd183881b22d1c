"""The verdict on one call, read from what its command printed."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.analysis.verdicts import Verdict, verdict
from agentwatch.analysis.verdicts.programs import only_reads, parts_of
from agentwatch.events import Outcome, ToolKind
from agentwatch.feed import Feed
from agentwatch.feed.output_tail import output_tail
from agentwatch.session import Call


class CallVerdict(NamedTuple):
    """The verdict on a test run, which is red or green, and the call that ran it."""

    moment: int
    """The moment at which the call had ended: a number of bytes of the recording."""
    number: int
    """The number of the call."""
    ended_index: int
    """The index of the call among those that have ended."""
    verdict: Verdict
    is_stale: bool = False
    """Whether it is the newest of the session, green, and a file changed after it."""

    @property
    def is_red(self) -> bool:
        """Whether a test failed."""
        return self.verdict.is_red

    @property
    def failed(self) -> int:
        """The number of tests that failed; 0 if the tool does not say."""
        return self.verdict.counts.failed + self.verdict.counts.errors


def call_verdict(feed: Feed, call: Call) -> Verdict | None:
    """Return the verdict on a call; None without a verdict.

    The call's output is read from the recording, which takes 0.1 ms, and 4 ms for a line of 1 MiB.
    The verdict on a call that failed for another reason than its exit code is returned only if it is red.
    """
    if call.kind is not ToolKind.EXECUTE or call.ended is None or only_reads(parts_of(call.target or "")):
        return None
    found = verdict(call.target or "", output_tail(feed, call.ended, call.call_id), call.exit_code)
    is_hidden = call.outcome not in (Outcome.SUCCEEDED, Outcome.RETURNED) and not (found and found.is_red)
    return None if is_hidden else found
