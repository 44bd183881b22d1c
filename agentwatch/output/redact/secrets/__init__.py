"""Finds secrets in a text, by the formats that their vendors document and by what stands before them."""

from agentwatch.output.redact.found import Found
from agentwatch.output.redact.secrets.scanner import OPEN_KINDS, find

__all__ = ["OPEN_KINDS", "Found", "find"]
