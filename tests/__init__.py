"""The tests mirror the rooms of `agentwatch`; `pty` and `screen` have folders of their own."""
