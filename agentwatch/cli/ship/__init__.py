"""The command `ship`, and the options of `run` that publish its session on an engine."""
