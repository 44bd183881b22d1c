"""The decoder of Cursor's `stream-json` format.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.agents.registry` imports from here.
"""
