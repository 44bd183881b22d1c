"""The decoder of Cursor's transcripts, `~/.cursor/projects/*/agent-transcripts/*/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, `wire.cursor`, whose
tools and to-do lists it has, and `wire.claude`, whose arguments and results it has. Only
`agentwatch.wire.agents` imports from here.
"""
