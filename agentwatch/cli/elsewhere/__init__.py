"""Sessions of other machines on the command line: their addresses, and their copies."""
