"""The decoder of the Agent Client Protocol: a log of the JSON-RPC lines of any agent that speaks it.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.agents.registry` imports from here. The facts come from the protocol's published schema (version 1
with its unstable parts, and the draft of version 2) and from captures of gemini-cli 0.61 and opencode 1.18.
"""
