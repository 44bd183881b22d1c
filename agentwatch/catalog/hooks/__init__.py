"""Adds an entry of agentwatch to the hooks of an agent, shows what that changes, and removes it again."""
