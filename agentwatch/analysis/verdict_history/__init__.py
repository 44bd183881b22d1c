"""The test runs of a session in order: their verdicts, the ribbon of them, and the files changed between two.

The verdicts themselves are found by `analysis/verdicts`. This package reads the calls of a feed for them.
"""

from agentwatch.analysis.verdict_history.calls import CallVerdict, call_verdict
from agentwatch.analysis.verdict_history.changes import ChangedFiles, changed_files
from agentwatch.analysis.verdict_history.commands import command_key
from agentwatch.analysis.verdict_history.final import CommandVerdict, FinalVerdicts, State, final_verdicts
from agentwatch.analysis.verdict_history.history import VerdictHistory
from agentwatch.analysis.verdict_history.ribbons import RibbonPiece, beside, ribbon, ribbon_pieces

__all__ = [
    "CallVerdict",
    "ChangedFiles",
    "CommandVerdict",
    "FinalVerdicts",
    "RibbonPiece",
    "State",
    "VerdictHistory",
    "beside",
    "call_verdict",
    "changed_files",
    "command_key",
    "final_verdicts",
    "ribbon",
    "ribbon_pieces",
]
