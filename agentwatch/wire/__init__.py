"""The decoders of the agents' formats, which turn lines into events: one folder per format.

This folder may import `events`, `blocks`, `paths`, `byte_size`, `plurals` and `safe_text`. No other folder
depends on a particular agent.
"""

from agentwatch.wire.agent import Agent, LineRole
from agentwatch.wire.decoder import Decoder

__all__ = ["Agent", "Decoder", "LineRole"]
