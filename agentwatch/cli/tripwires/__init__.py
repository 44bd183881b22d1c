"""The option `--on`: reads rules, and attaches them to a session."""
