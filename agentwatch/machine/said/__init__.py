"""What the agents, and hooks in them, say about their sessions.

Files are only read, and only regular files of the own user. Keys beside the records of Claude Code are never
opened.
"""

from agentwatch.machine.said.registries import Registries

__all__ = ["Registries"]
