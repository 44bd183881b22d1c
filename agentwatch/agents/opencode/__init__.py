"""The format of opencode: the lines of `opencode run --format json`, and those made of its stored sessions. A
stored session is a set of rows in `opencode.db`, or of JSON files in the older folder `storage`: sessions,
messages and parts. They become lines of one grammar: `{"type": "session" | "message" | "part", "timestamp",
"sessionID", "info" | "part", …}`. A line of type `part` also has the id and the role of its message, and a
line of a subagent's session has the call_id of the call as `agent`."""
