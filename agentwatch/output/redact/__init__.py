"""Redaction: removes secrets and personal data; the result has the same calls, outcomes and times."""
