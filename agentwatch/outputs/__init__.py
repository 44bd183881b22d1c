"""The printed formats: text, json, stream-json and summary, and the action log."""
