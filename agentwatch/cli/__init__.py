"""The command line: it chooses the source, the front end and the exit code, and prints messages on stderr.

It may import everything, the screen only when it is drawn. No other room imports it.
"""
