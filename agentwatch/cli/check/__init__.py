"""The command `check`."""
