"""Codex: the stream of `codex exec --json`, and its rollouts on disk. Both have the same commands, changes
and results."""
