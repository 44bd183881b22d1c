"""The stage `real`: the agents themselves, run against a scripted model and read by agentwatch."""
