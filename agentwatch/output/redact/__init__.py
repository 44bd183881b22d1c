"""Redaction: removes secrets and personal data from a recording.

The redacted recording is valid and has the same calls, outcomes and times.
"""

from agentwatch.output.redact.writing import Report

__all__ = ["Report"]
