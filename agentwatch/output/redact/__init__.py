"""Redaction: removes secrets and personal data from a recording.

The redacted recording is valid and has the same calls, outcomes and times.
"""
