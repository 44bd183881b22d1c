"""The agents' formats: lines of bytes decoded into the events of `agentwatch.events`, one folder per agent.

It may import only `events`, and modules that make words of values; an agent is known nowhere else.
"""

from agentwatch.wire.decoder import Decoder

__all__ = ["Decoder"]
