"""The agents' formats: lines of bytes decoded into events, one module or folder per agent.

It may import `events`, `blocks`, `paths` and `plurals`. No other folder knows an agent.
"""

from agentwatch.wire.agent import LineRole
from agentwatch.wire.decoder import Decoder

__all__ = ["Decoder", "LineRole"]
