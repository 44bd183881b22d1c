"""Decodes the lines of a recording (`recording`, `agents`) and applies them to a session (`session`)."""
