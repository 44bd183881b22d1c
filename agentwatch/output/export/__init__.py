"""Exports: a session as a file for other people and programs. One folder or module per format.

An export reads a session to its end, or to a moment, and is redacted unless the user asks for the raw one.
"""
