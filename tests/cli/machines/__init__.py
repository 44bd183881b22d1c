"""Other machines on the command line."""
