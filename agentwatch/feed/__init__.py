"""The feed, which decodes the lines of a recording and applies them to a session, and its earlier moments.

It joins `recording`, `agents` and `session`.
"""
