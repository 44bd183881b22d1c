"""What a session is doing, and how it ended and why, in words for the status line and for stderr."""

from agentwatch.analysis.status.line import status
from agentwatch.analysis.status.reasons import Reason, ending, reason, unknown_agent

__all__ = ["Reason", "ending", "reason", "status", "unknown_agent"]
