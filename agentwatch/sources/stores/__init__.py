"""Turns sessions that are not a plain file of lines into the lines of a recording.

A database, a JSON document that is rewritten, a compressed file, or several files of one session.
"""
