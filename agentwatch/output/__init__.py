"""The output formats: text, JSON, summary, log, `show`, comparisons, exports and redaction."""
