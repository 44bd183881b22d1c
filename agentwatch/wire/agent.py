"""What the decoder of an agent's format provides: the parts that every format needs, and the optional
ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agentwatch.events import Event, Traits
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block


class LineRole(Enum):
    """The role of a line in its session, which is known without the lines before it."""

    START = "start"
    """Starts a run, or belongs to its start: the init and the prompt."""
    CALL = "call"
    """The start or the end of a tool call."""
    OTHER = "other"


class AgentDecoder(Protocol):
    """Decodes the lines of one recording, in order. Decoding is total: no input raises."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""

    def end(self) -> list[Event]:
        """Return the events that the end of the stream causes."""


@runtime_checkable
class DeltaDecoder(Protocol):
    """A decoder that reads many deltas at once: lines that differ only in text and time."""

    def streams(self, fields: Fields) -> bool:
        """Return whether the line is such a delta."""

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return the events of consecutive deltas, or None if they must be decoded one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent whose format is known. Each format has one, listed in `agentwatch.wire.agents`."""

    name: str
    """The name of the format, for `--format` and the summary: `cursor`."""
    recognises: Callable[[Fields], bool]
    """Returns whether only this agent writes such a line."""
    role: Callable[[Fields], LineRole]
    """Returns the role of a line."""
    decoder: Callable[[], AgentDecoder]
    """Returns a decoder for a new recording. It may also be a `DeltaDecoder`."""
    blocks: Callable[[Fields], Iterable[Block]]
    """Returns the blocks of a line of a tool call."""
    traits: Traits
    unknown_fields: Callable[[Fields], Iterator[tuple[str, object]]] | None = None
    """Yields what a line contains that is not known: a description and a sample of each. None: everything
    counts as known."""
    reworded: bytes | None = None
    """Bytes that occur in every line whose blocks contain words that the line's bytes do not."""
