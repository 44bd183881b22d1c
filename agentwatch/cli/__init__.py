"""The command line: it chooses the source, the front end and the exit code, and prints messages on stderr.

This folder may import everything, the screen only when it is drawn. No other folder imports it.
"""
