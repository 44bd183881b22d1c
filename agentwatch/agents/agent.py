"""The interface of an agent's format: the parts that every format provides, and the optional ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from agentwatch.agents.delta_frames import Burst
from agentwatch.agents.fields import Fields
from agentwatch.session.events import Event, Traits

if TYPE_CHECKING:
    from agentwatch.session.blocks import Block


class LineRole(Enum):
    """The role of a line in its session. It is found without the lines before it.

    Example:
        >>> from agentwatch.agents import LineRole
        >>> from agentwatch.agents.registry import agent_named
        >>> agent_named("cursor").role({"type": "system", "subtype": "init"})
        <LineRole.START: 'start'>
    """

    START = "start"
    """Starts a run, or belongs to its start: the init and the prompt."""
    CALL = "call"
    """The start or the end of a tool call."""
    OTHER = "other"


class AgentDecoder(Protocol):
    """Decodes the lines of one recording, in order. No input makes it raise.

    Fields may be absent, of any type and of any size. `agentwatch.agents.fields` reads them. Another process
    may continue with the state of a decoder, if `pickle` can write it: numbers of `hash` are of no use there.
    """

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none, unless the decoder says so."""
        return []


@runtime_checkable
class DeltaDecoder(Protocol):
    """A decoder that reads many deltas at once. Deltas are lines that differ only in text and time."""

    def streams(self, fields: Fields) -> bool:
        """Return whether the line is a delta."""

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return the events of consecutive deltas, or None if they must be decoded one by one."""


@runtime_checkable
class BatchDecoder(Protocol):
    """A decoder that reads many short lines at once, each of which reports little or nothing."""

    def may_batch(self, line: bytes) -> bool:
        """Return whether a line may be one of them. It is asked for every line, and may be wrong."""

    def batch(self, lines: list[Fields]) -> tuple[list[Event], int]:
        """Return the events of the first lines that can be decoded together, and their number."""


class Agent(NamedTuple):
    """A format that agentwatch can decode, and the agent that writes it.

    The built-in formats are listed in `agentwatch.agents.registry`. Another package provides one by an entry
    point; `docs/plugins.md` contains a complete format.

    Example:
        >>> from agentwatch import Agent, Channel, LineRole, Outcome, Text, Traits, TurnEnded
        >>> class TernDecoder:
        ...     def decode(self, fields):
        ...         return [Text(Channel.ANSWER, str(fields.get("say")))]
        ...
        ...     def end(self):
        ...         return [TurnEnded(Outcome.SUCCEEDED)]
        >>> tern = Agent(
        ...     name="tern",
        ...     recognises=lambda fields: "say" in fields,
        ...     role=lambda fields: LineRole.OTHER,
        ...     decoder=TernDecoder,
        ...     blocks=lambda fields, call_id: [],
        ...     traits=Traits(has_result=False, has_times=False),
        ... )
        >>> tern.decoder().decode({"say": "Done."})[0].text
        'Done.'
    """

    name: str
    """The name of the format, for `--format` and the summary: `cursor`."""
    recognises: Callable[[Fields], bool]
    """Returns whether only this agent can have written a line."""
    role: Callable[[Fields], LineRole]
    """Returns the role of a line."""
    decoder: Callable[[], AgentDecoder]
    """Returns a decoder for a new recording. It may also be a `DeltaDecoder` or a `BatchDecoder`."""
    blocks: "Callable[[Fields, str], Iterable[Block]]"
    """Returns the blocks of a line that starts or ends a tool call. The second argument is the call_id: the
    line may belong to several calls."""
    traits: Traits
    """What the format can express. Whether a recording is whole is judged by it."""
    agent: str | None = None
    """The agent's short name, if it is not the name of the format: `claude` for `claude-transcript`."""
    time_of: Callable[[Fields], int | None] | None = None
    """Returns the time of a line, in milliseconds since the epoch. It replaces the arrival time of a line
    whose arrival was not recorded. None: the lines have no such time."""
    may_write: Callable[[Fields], bool] | None = None
    """Returns whether this agent may have written a line of a type that other agents have too. Such a line
    decides only as the first of a recording. None: the agent shares no type with others."""
    unknown_fields: Callable[[Fields], Iterator[tuple[str, object]]] | None = None
    """Yields the unknown parts of a line, each as a description and a sample. None: nothing counts as
    unknown."""
    reworded: bytes | None = None
    """Bytes that occur in each line whose blocks contain words that its bytes do not. Such a line must be
    decoded to be searched. None: the format has no such lines."""

    def foreign_lines(self, lines: Sequence[Fields]) -> int:
        """Return how many of the first lines another agent wrote, of lines that this one does not recognise.

        A line that starts a run ends them: the agent would recognise its own start line, unless it shares
        that with others. What follows may be the agent's.
        """
        may_write = self.may_write or (lambda _fields: False)
        for number in range(len(lines), 0, -1):
            fields = lines[number - 1]
            if self.role(fields) is LineRole.START and not may_write(fields):
                return number
        return 0
