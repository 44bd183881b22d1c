"""What is known about a session in a list: a digest of about 2 KB, which its newest lines update."""

from agentwatch.machine.digest.digest import Digest
from agentwatch.machine.digest.parts import LastTests, OpenCall, Turn
from agentwatch.machine.digest.tail import Tail

__all__ = ["Digest", "LastTests", "OpenCall", "Tail", "Turn"]
