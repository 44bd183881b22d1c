"""Lines of Codex, and stories that yield a stream, a rollout and the expected facts."""
