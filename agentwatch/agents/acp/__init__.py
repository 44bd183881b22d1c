"""Agents that speak the Agent Client Protocol, whose JSON-RPC lines are logged. The facts come from the
protocol's published schema (version 1 with its unstable parts, and the draft of version 2) and from captures
of gemini-cli 0.61 and opencode 1.18."""
