"""Status, silence, time, files, verdicts, episodes, integrity, moments and search of a session."""
