"""The command line: which source, which front end, which exit code."""
