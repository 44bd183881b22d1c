"""The decoder of Gemini's `stream-json` format, and the parts that the files of Gemini's chats share.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.agents.registry` and `agentwatch.agents.gemini.chat` import from here.
"""
