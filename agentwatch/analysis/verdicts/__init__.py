"""Test verdicts: whether the tests, the linters or the build that a command ran succeeded.

No agent reports this. It is read from the line with which each tool closes its output. The package knows
neither the screen nor a feed: it takes the text of a command and what the command printed.
"""

from agentwatch.analysis.verdicts.tally import Counts
from agentwatch.analysis.verdicts.verdict import Source, Verdict, verdict

__all__ = ["Counts", "Source", "Verdict", "verdict"]
