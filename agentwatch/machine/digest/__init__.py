"""What is known about a session in a list: a digest of about 2 KB, which its newest lines update."""

from agentwatch.machine.digest.digest import Digest, OpenCall, Turn

__all__ = ["Digest", "OpenCall", "Turn"]
