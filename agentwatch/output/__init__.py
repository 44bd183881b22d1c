"""The output formats: text, stream-json, summary, action log, `show`, comparisons, exports and redaction.

Each is a function of a recording.
"""
