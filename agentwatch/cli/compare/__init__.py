"""The command `compare`, which shows where two runs differ, or several a side."""
