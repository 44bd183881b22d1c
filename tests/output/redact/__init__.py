"""Tests of the redaction: of whole recordings, and of what it consists of."""
