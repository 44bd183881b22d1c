"""Other machines on the command line: their settings, and the sources of a list of sessions."""
