"""The decoder of `codex exec --json`.

Its parts that read commands, changes and results also serve `agentwatch.agents.codex.rollout`.
"""
