"""Finds secrets in a text, by the formats that their vendors document and by what stands before them."""

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.scanner import find

__all__ = ["Found", "find"]
