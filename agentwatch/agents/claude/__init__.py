"""The decoder of Claude Code's `stream-json` format, whose grammar Qwen Code and Amp share.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.agents.registry` and the folders of agents of the same family import from here.
"""
