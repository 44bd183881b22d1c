"""A tool call: its start and its end, joined by call_id; and the limits of the strings that a session keeps.

A string longer than any that real agents write is cut, so that a few large lines cannot fill the memory. The
recording has all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from agentwatch.session.events import Outcome, ToolEnded, ToolKind, ToolProgress, ToolStarted

_MOST_CHARACTERS = 4096
"""The length of the longest path on Linux. A target is shown with at most 200 columns."""
MOST_COMMAND = 1 << 16
"""The length of the longest command, which rules judge as a whole. One of this length was cut."""
MOST_ID_CHARACTERS = 512
_MOST_MEMBERS = 256


def bounded(text: str | None, most: int = _MOST_CHARACTERS) -> str | None:
    """Return a text of at most `most` characters; a longer one is cut and ends in `…`."""
    if text is None or len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def bounded_id(text: str) -> str:
    """Return an id of at most 512 characters. The end of a longer one is replaced by a digest of all of it:
    two ids that differ only in their ends stay different."""
    if len(text) <= MOST_ID_CHARACTERS:
        return text
    from hashlib import blake2b  # takes 2 ms to import

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    return f"{text[: MOST_ID_CHARACTERS - len(digest) - 1]}…{digest}"


def bounded_members(fields: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return at most 256 members of an object without inner objects, with keys and texts cut."""
    if fields is None:
        return None
    return {
        bounded(key) or "": bounded(value) if isinstance(value, str) else value
        for key, value in islice(fields.items(), _MOST_MEMBERS)
    }


_MOST_SHOWN = 60


class Place(NamedTuple):
    """Where a line is in the recording, and when it arrived.

    Example:
        >>> import agentwatch
        >>> call = agentwatch.load("recordings/plain.ndjson").calls[0]
        >>> with open("recordings/plain.ndjson", "rb") as file:
        ...     _ = file.seek(call.ended.offset)
        ...     line = file.read(call.ended.length)
        >>> line[:20]
        b'{"type":"tool_call",'
    """

    offset: int
    """Bytes from the beginning of the recording."""
    length: int
    """In bytes, without the end of the line."""
    seen_ms: int | None
    """The arrival time, in milliseconds since the epoch; None if unknown."""


class Pieces(NamedTuple):
    """The times of several lines that are applied at once."""

    first_ms: int
    """The time of the first line, in milliseconds since the epoch."""
    longest_gap_ms: int
    """The longest time between two of the lines."""
    offsets: Sequence[int] = ()
    """The offset of each line after the first that has another time than the line before it."""
    times_ms: Sequence[int] = ()
    """The times of those lines."""


CallKey = tuple[int, str | None, str]
"""The number of the run, the session_id and the call_id. The same call_id may occur in another session."""


def call_key(run: int, event: ToolStarted | ToolProgress | ToolEnded) -> CallKey:
    """Return the key of the call that a line of a run starts, continues or ends."""
    session_id, call_id = event.session_id, event.call_id
    if session_id and len(session_id) > MOST_ID_CHARACTERS:  # asked here, as each call asks three times
        session_id = bounded_id(session_id)
    return run, session_id, call_id if len(call_id) <= MOST_ID_CHARACTERS else bounded_id(call_id)


@dataclass(slots=True, weakref_slot=True, repr=False)
class Call:
    """The facts about one tool call; None means unknown.

    Example:
        >>> import agentwatch
        >>> call = agentwatch.load("recordings/plain.ndjson").calls[1]
        >>> call
        <Call #2 edit 'lantern/settings.py': succeeded, 0.2 s>
        >>> call.number, call.phrase, call.target, call.outcome, call.duration_ms
        (2, 'Edited file', 'lantern/settings.py', <Outcome.SUCCEEDED: 'succeeded'>, 179)
    """

    number: int
    """Counted from 1, in the order in which calls first appear in the recording."""
    run: int
    """The number of the run, counted from 1."""
    call_id: str
    """May contain a newline. Use it as a key, never as the id of a widget, and never print it raw."""
    tool: str
    phrase: str
    target: str | None = None
    path: str | None = None
    group: str | None = None
    limit_ms: int | None = None
    error: str | None = None
    note: str | None = None
    exit_code: int | None = None
    is_new_file: bool = False
    lines_added: int | None = None
    lines_removed: int | None = None
    started_ms: int | None = None
    """Agent time."""
    ended_ms: int | None = None
    """Agent time."""
    measured_ms: int | None = None
    """The duration that the agent measured."""
    parent_call: str | None = None
    """The call_id of the call whose subagent made this one; None for the main agent."""
    parent: int | None = None
    """The number of that call; 0 if the recording does not contain it, None for the main agent."""
    more_paths: tuple[str, ...] = ()
    """The other files that the call acts on; at most 100."""
    output: str | None = None
    """The last 4,096 characters that an open call has printed, if the agent reports them."""
    has_result: bool = True
    """Whether the line that ended the call is about it. If not, the recording has no result of the call."""
    kind: ToolKind = ToolKind.OTHER
    outcome: Outcome = Outcome.RUNNING
    started: Place | None = None
    """The line that started the call; None if the recording does not contain it."""
    ended: Place | None = None
    """The line that ended the call; None if it has not arrived."""
    described: Place | None = None
    """The line with the call's arguments, if they came after the line that started it."""

    def __repr__(self) -> str:
        """Return the number, the tool, the target, the outcome and the duration, for a notebook."""
        from agentwatch.text.durations import duration_words  # only a notebook needs it

        shown = [f"<Call #{self.number} {self.tool[:_MOST_SHOWN]}"]
        if self.target:
            shown.append(f" {self.target[:_MOST_SHOWN]!r}{'…' * (len(self.target) > _MOST_SHOWN)}")
        shown.append(f": {self.outcome}")
        if self.error:
            shown.append(f" ({self.error[:_MOST_SHOWN]!r})")
        if self.duration_ms is not None:
            shown.append(f", {duration_words(self.duration_ms)}")
        return "".join([*shown, ">"])

    @property
    def command(self) -> str | None:
        """The whole command of a shell call, at most 65,536 characters; None for another tool."""
        return self.target if self.kind is ToolKind.EXECUTE else None

    @property
    def arguments_place(self) -> Place | None:
        """The line with the call's arguments; None if only the line that ended the call contains them."""
        return self.described or self.started

    @property
    def result_place(self) -> Place | None:
        """The line with the call's result; None if it has not arrived, or the recording has none."""
        return self.ended if self.has_result else None

    @property
    def duration_ms(self) -> int | None:
        """The duration by the agent's clock; None unless the agent gave both times and they are in order."""
        if self.measured_ms is not None:
            return self.measured_ms
        return _between(self.started_ms, self.ended_ms)

    @property
    def seen_duration_ms(self) -> int | None:
        """The duration by the arrival times; None if a line is missing or both arrived in one read."""
        if self.started is None or self.ended is None:
            return None
        return _between(self.started.seen_ms, self.ended.seen_ms) or None


def _between(start_ms: int | None, end_ms: int | None) -> int | None:
    if start_ms is None or end_ms is None or end_ms < start_ms:
        return None
    return end_ms - start_ms
