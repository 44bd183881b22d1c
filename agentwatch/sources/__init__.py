"""Bytes in: the pipe on stdin, the agent that we start, a saved file.

Nothing here knows what the bytes say.
"""
