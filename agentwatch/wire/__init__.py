"""The wire: an agent's lines of bytes, decoded into the events of `agentwatch.events`.

One module per agent, and a line in `detect` for each.
"""

from agentwatch.wire.decoder import Decoder

__all__ = ["Decoder"]
