"""What `agentwatch show` prints: one call in full, or the state of a session at a moment."""
