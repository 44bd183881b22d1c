"""What is known about a session in a list: a digest of about 2 KB, which its newest lines update."""

from typing import TYPE_CHECKING

from agentwatch.catalog.digest.parts import LastTests, OpenCall, Turn

if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import Digest
    from agentwatch.catalog.digest.reading import Tail

__all__ = ["Digest", "LastTests", "OpenCall", "Tail", "Turn"]


def __getattr__(name: str) -> object:
    """Import what is asked for: a list of which no line is read needs no decoder, which takes 15 ms."""
    if name == "Digest":
        from agentwatch.catalog.digest.digest import Digest

        return Digest
    if name == "Tail":
        from agentwatch.catalog.digest.reading import Tail

        return Tail
    raise AttributeError(name)
