"""Decodes lines of bytes into events. Each agent's format has its own module or folder.

This folder may import `events`, `blocks`, `paths` and `plurals`. No other folder knows an agent.
"""

from agentwatch.wire.agent import LineRole
from agentwatch.wire.decoder import Decoder

__all__ = ["Decoder", "LineRole"]
