"""Stories of Codex: descriptions of sessions that yield a stream, a rollout and the expected facts."""
