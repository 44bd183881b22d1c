"""The printed formats: text, json, stream-json, summary, and the action log."""
