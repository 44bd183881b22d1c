"""The format of opencode: the lines of `opencode run --format json`, and those made of a stored session,
which is rows in `opencode.db` or JSON files in the older folder `storage`. They become lines `{"type":
"session" | "message" | "part", "timestamp", "sessionID", "info" | "part", …}`; a part has the id and the
role of its message too, and a subagent's line the call_id of the call as `agent`."""
