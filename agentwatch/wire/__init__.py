"""Lines of bytes decoded into events, one module or folder per agent. May import events and blocks."""

from agentwatch.wire.agent import LineRole
from agentwatch.wire.decoder import Decoder

__all__ = ["Decoder", "LineRole"]
