"""Reads opencode's stored sessions: the rows of `opencode.db`, or the JSON files of the older `storage`.

Both hold sessions, messages and parts. They become lines of one grammar, which `agentwatch.wire.opencode`
decodes: `{"type": "session" | "message" | "part", "timestamp", "sessionID", "info" | "part", …}`. A line of
type `part` also has the id and the role of its message, and a line of a subagent's session has the call_id of
the call as `agent`.
"""
