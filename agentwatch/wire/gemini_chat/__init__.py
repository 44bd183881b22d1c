"""The decoder of the files in which Gemini keeps its chats: `~/.gemini/tmp/*/chats/session-*.jsonl`.

Older versions wrote one JSON document, which `agentwatch.sources.stores` turns into the same lines. This
folder may import what `wire` may, and from `agentwatch.wire.gemini`. Only `agentwatch.wire.agents` imports
from here.
"""
