"""The command line: which source, which front end, which exit code, and every message on stderr.

It may import everything, the screen only where one is drawn; nothing imports it.
"""
