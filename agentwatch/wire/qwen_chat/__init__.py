"""The decoder of Qwen Code's chat files, `~/.qwen/projects/*/chats/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, and `wire.qwen` and
`wire.claude`, whose tools and to-do lists it has. Only `agentwatch.wire.agents` imports from here.
"""
