"""agentwatch: a live monitor, in the terminal, for coding-agent sessions."""

__version__ = "0.2.0"
