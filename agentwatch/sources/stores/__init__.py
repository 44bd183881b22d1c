"""Turns a database, a JSON document that is rewritten, a compressed file, or several files of one session
into the lines of a recording.
"""
