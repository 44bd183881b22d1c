"""The decoder of Claude Code's transcripts, `~/.claude/projects/*/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, and `wire.claude`. Only
`agentwatch.wire.agents` imports from here.
"""
