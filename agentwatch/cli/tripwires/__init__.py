"""The option `--on`: reads its rules, and lets them watch a session."""
