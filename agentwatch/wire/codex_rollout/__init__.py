"""The decoder of Codex's rollouts, the files in which it keeps its sessions.

They are `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, where `CODEX_HOME` may replace `~/.codex`.
"""
