"""Finds secrets in a text, by the formats that their vendors document and by what stands before them."""

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.scanner import find
from agentwatch.redaction.secrets.wrapped import OPEN_KINDS

__all__ = ["OPEN_KINDS", "Found", "find"]
